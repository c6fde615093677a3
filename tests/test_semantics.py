"""The same names give the same regrets from version to version, or the version of their meaning is raised."""

import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.claims import VERSION

# Regret of replicate 3 with seed 1 after 500 steps in two dimensions: uniform bins, adaptive bins.  Whoever changes one
# of these numbers raises `claims.VERSION`: stores then know that their runs are others.
PINNED_FOR = 3
REGRETS = {
    "ackley": (5379.65058, 10408.8284),
    "branin": (4592.70298, 26097.5768),
    "cone": (1644.59982, 1185.86787),
    "cusp": (2612.06981, 2201.13461),
    "dented": (5830.36757, 13137.7185),
    "double_sine": (439.98733, 392.834014),
    "garland": (473.924871, 546.578873),
    "griewank": (376.675389, 520.190888),
    "himmelblau": (11708.0542, 147222.792),
    "mixed_powers": (1655.32592, 1061.57437),
    "plateau": (365.125113, 468.60957),
    "power": (906.873441, 695.914869),
    "quadratic": (623.169757, 547.844192),
    "quartic": (549.258556, 1095.87786),
    "rastrigin": (10714.3481, 31992.9619),
    "ring": (255.385532, 2818.17147),
    "ring_cone": (738.714386, 845.587538),
    "sine": (632.1949, 584.335845),
    "six_hump_camel": (1962.22782, 24518.3486),
    "twin_cone": (1402.44204, 1536.18848),
    "valley": (972.137539, 791.806693),
    "weierstrass": (1907.90692, 3580.16065),
}


def test_pins_belong_to_this_version():
    assert PINNED_FOR == VERSION
    assert set(REGRETS) == set(zoo.families())


@pytest.mark.parametrize("family", zoo.families())
def test_regrets_are_what_they_were(family):
    cost = zoo.get(family, 2)
    for algorithm, pinned in zip((rc.UniformBins(), rc.AdaptiveBins()), REGRETS[family], strict=True):
        runs = rc.simulate(algorithm, cost, [500], replicates=[3], seed=1, workers=1)
        # Another processor's sine may differ in the last bit; another algorithm differs in the first digits.
        assert runs.frame["regret"].item() == pytest.approx(pinned, rel=1e-7)
