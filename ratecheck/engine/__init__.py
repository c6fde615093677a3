"""Runs of an algorithm on a cost, and the table that they make."""
