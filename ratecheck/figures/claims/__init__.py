"""Figures of the experiments that test a paper's claims."""
