"""lower_bound: a regret that no strategy stays below on a whole family of functions near a cost."""

import json
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from function_zoo.cost import Cost

from ..display import Speaking
from .certificate import certificate
from .family import HardFamily
from .inequalities import verify
from .many import MOST_BLOCKS


@dataclass(frozen=True)
class LowerBound(Speaking):
    """A lower bound on the worst regret over a hard family, and what attains it.

    See `lower_bound`.
    """

    regret: float
    certified: bool  # whether ball arithmetic has proved it
    family: HardFamily = field(repr=False)
    certificate: dict = field(repr=False)

    @property
    def r(self) -> float:
        """The length of a dent."""
        return self.family.found.length

    @property
    def H(self) -> float:
        """The depth of the deepest dent: all members lie within it of f0."""
        return self.family.found.depth

    @property
    def epsilon(self) -> float:
        """Dents lie where f0 is at most this far above its minimum."""
        return self.H - self.family.found.eta if self.family.found.kind == "many" else self.family.found.gap

    @property
    def N(self) -> float:
        """How many places have to be looked at: the effective number of dents that do not overlap, or 2 functions."""
        return self.family.found.effective / self.certificate["overlap_2"] if self.family.found.kind == "many" else 2.0

    def save(self, path) -> None:
        """Write the certificate, for `python -m ratecheck.lower_bound.verify` and studies/lower_bound/second.py."""
        Path(path).write_text(json.dumps(self.certificate) + "\n", encoding="utf-8")

    def _facts(self):
        return {
            "cost": self.family.cost,
            "horizon": f"T = {self.family.horizon:.6g}, sigma = {self.family.sigma:g}",
            "regret": f">= {self.regret:.6g} in the worst case, for every strategy",
            "certified": self.certified,
        }

    def __str__(self):
        f = self.family
        kind = f"{self.N:.3g} places" if self.family.found.kind == "many" else "two functions"
        said = "certified" if self.certified else "NOT certified (python-flint is not installed: the extra `certify`)"
        return (
            f"{f.cost}, T = {f.horizon:.6g}, sigma = {f.sigma:g}: regret >= {self.regret:.6g} in the worst case over "
            f"{kind} (r = {self.r:.3g}, H = {self.H:.3g}, epsilon = {self.epsilon:.3g}, M = {f.M:.4g}); {said}"
        )


def lower_bound(
    cost: Cost, horizon: float, *, sigma: float = 1.0, M: float | None = None, blocks: int = MOST_BLOCKS
) -> LowerBound:
    """A number that no strategy's expected cumulative regret stays below on a whole family of functions near `cost`.

    The family satisfies Assumption 1 with the alpha and beta of the cost and the constant M, by default twice the
    cost's, as in Theorem 3.  The noise is Gaussian with standard deviation sigma.  With python-flint (the extra
    `certify`) the number is proved in ball arithmetic before it is returned, and `.certificate` can be checked again.
    More `blocks` make it larger where sublevel sets are thin and the horizon long, and take longer.

    For example

        print(rc.lower_bound(cost, horizon=1e3))     # in units of R, the cumulative regret
    """
    family = HardFamily(cost, horizon, sigma=sigma, M=M, blocks=blocks)
    if family.problem:
        raise ValueError(family.problem)
    known = {"horizon": family.horizon, "sigma": family.sigma, "M": family.M}
    content = certificate(cost, family.summands, found=family.found, **known)
    certified = find_spec("flint") is not None
    if certified:
        content["inequalities"] = verify(content)
    return LowerBound(content["regret"], certified, family, content)
