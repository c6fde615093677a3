"""How close predictions without a free parameter come to runs: over the zoo, with other noise, and where runs lock in."""
