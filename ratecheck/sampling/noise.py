"""The noise laws: each has mean 0 and standard deviation sigma; `sample` is their form in kernels."""

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from ..arguments import shown
from .generator import normal, student, uniform
from .jit import inlined, likely

GAUSSIAN, UNIFORM, RADEMACHER, STUDENT_T = range(4)


@dataclass(frozen=True)
class Noise:
    """W_t in Y_t = f(X_t) + W_t: independent, mean 0, standard deviation sigma."""

    sigma: float = 1.0
    law: ClassVar[int]

    def __post_init__(self):
        if not isinstance(self.sigma, Real) or not 0 <= self.sigma <= 1e100:
            raise ValueError(f"sigma = {shown(self.sigma)} must lie in [0, 1e100]; 1 is the paper's choice")

    @property
    def numbers(self) -> tuple[int, float, float]:
        """What `sample` needs: the law, its scale and its degrees of freedom."""
        return self.law, float(self.sigma), 0.0


@dataclass(frozen=True)
class Gaussian(Noise):
    """Normal noise, the paper's own.

    For example

        rc.simulate(rc.UniformBins(), cost, [100, 1000], replicates=4, noise=rc.Gaussian(sigma=0.5))
    """

    law = GAUSSIAN


@dataclass(frozen=True)
class Uniform(Noise):
    """Uniform on [-sqrt(3) sigma, sqrt(3) sigma]; see `Gaussian`."""

    law = UNIFORM

    @property
    def numbers(self):
        return self.law, math.sqrt(3.0) * self.sigma, 0.0


@dataclass(frozen=True)
class Rademacher(Noise):
    """+sigma or -sigma, each with probability 1/2; see `Gaussian`."""

    law = RADEMACHER


@dataclass(frozen=True)
class StudentT(Noise):
    """Student's t, scaled to sigma: a stress case, not subgaussian, with moments below the order dof only.

    See `Gaussian`.
    """

    dof: float = 5.0
    law = STUDENT_T

    def __post_init__(self):
        super().__post_init__()
        if not (isinstance(self.dof, Real) and 2 < self.dof <= 1e100):
            raise ValueError(f"dof = {shown(self.dof)} must exceed 2, or there is no standard deviation; 5 is usual")

    @property
    def numbers(self):
        return self.law, self.sigma * math.sqrt((self.dof - 2) / self.dof), float(self.dof)


def check_noise(noise) -> None:
    if not isinstance(noise, Noise):
        raise ValueError(f"noise = {shown(noise)} is no noise law; take Gaussian, Uniform, Rademacher or StudentT")


def noise_of(text: str) -> Noise | None:
    """The noise law with this repr, or None."""
    name, _, settings = text.removesuffix(")").partition("(")
    law = next((law for law in (Gaussian, Uniform, Rademacher, StudentT) if law.__name__ == name), None)
    try:
        return law and law(**{key: float(value) for key, value in re.findall(r"(\w+)=([^,]+)", settings)})
    except (TypeError, ValueError):
        return None


def draw(law, scale, dof, rng: np.random.Generator) -> float:
    """One W by NumPy's generator, for algorithms in Python."""
    if law == GAUSSIAN:
        return scale * rng.standard_normal()
    if law == UNIFORM:
        return scale * (2.0 * rng.random() - 1.0)
    if law == RADEMACHER:
        return scale if rng.random() < 0.5 else -scale
    return scale * rng.standard_t(dof)


@inlined
def sample(law, scale, dof, s0, s1, s2, s3):
    """One W and the next state of the stream it was drawn from."""
    if likely(law == GAUSSIAN):
        z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
        return scale * z, s0, s1, s2, s3
    if law == STUDENT_T:
        z, s0, s1, s2, s3 = student(dof, s0, s1, s2, s3)
        return scale * z, s0, s1, s2, s3
    u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
    if law == UNIFORM:
        return scale * (2.0 * u - 1.0), s0, s1, s2, s3
    return scale if u < 0.5 else -scale, s0, s1, s2, s3
