"""Fits of regrets against horizons, and the tables that they are made of."""
