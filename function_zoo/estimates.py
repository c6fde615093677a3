"""The table of an estimate, which also is the constants of a cost; apart, since pandas takes long to load."""

from __future__ import annotations

import math
from typing import ClassVar

from .cost import Constants
from .table import Table

SUPREMA = ("M_a", "M_b", "mu_min")


class Estimates(Table):
    """A table: constant, estimate, low, high, note; `constants` is what `function_zoo.cost` takes."""

    _metadata: ClassVar = ["title", "margin", "dim"]

    @property
    def constants(self) -> Constants:
        """Exponents as estimated, suprema at the upper ends of their intervals, the margin for A; all as measured.

        beta is d/alpha at most (Proposition 1).  What is unbounded is left out, and so is C0, which no estimate speaks
        of.
        """
        rows = self.set_index("constant")
        known = {name: float(rows["estimate"][name]) for name in ("alpha", "beta")}
        known["beta"] = min(known["beta"], self.dim / known["alpha"]) if known["alpha"] > 0 else math.nan
        known |= {name: float(rows["high"][name]) for name in SUPREMA}
        known = {name: value for name, value in known.items() if math.isfinite(value)}
        return Constants(**known, A=self.margin or None, bounds=tuple(known), measured=tuple(known))
