"""Noise of other laws and sizes than the paper's."""

import ratecheck as rc
from studies.claims.noise.experiment import NoiseLaws

study = NoiseLaws(
    name="noise",
    title="Other noise",
    question="Do both algorithms keep their rates under every subgaussian noise, with the constants as printed?",
    costs=(("cone", 1), ("quadratic", 2)),
    laws=(*(rc.Gaussian(sigma) for sigma in (0.25, 0.5, 1.0, 2.0, 4.0)), rc.Uniform(1.0), rc.Rademacher(1.0)),
    stress=(rc.StudentT(1.0, 3.0), rc.StudentT(4.0, 3.0)),
    octaves={"quick": (8, 16), "standard": (8, 20)},
    replicates={"quick": 16, "standard": 64},
    arms={"quick": (6, 14), "standard": (6, 18)},
    arm_replicates={"quick": 200, "standard": 800},
)
