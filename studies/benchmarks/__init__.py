"""How fast the engine and the runner are, as ratios measured in one run."""
