"""Verdicts: what a fit, or a comparison with a prediction, says about a rate."""
