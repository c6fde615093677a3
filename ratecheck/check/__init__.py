"""One algorithm, one cost, one rate: run, fit, judge; in a call or in a test."""
