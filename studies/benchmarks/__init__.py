"""How fast the engine and the store are, and which mistakes are caught."""
