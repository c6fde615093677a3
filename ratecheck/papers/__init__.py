"""One file per paper: what it claims, under which hypotheses, and what finite horizons make of it."""
