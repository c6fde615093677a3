"""How close predictions without a free parameter come to runs: the zoo, other noise, and runs that lock in."""
