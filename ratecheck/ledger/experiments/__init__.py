"""Experiments that test the claims of a paper; their settings stand in studies/claims."""
