"""Isolated minima with a kink."""

from ratecheck.study import Grid, Study

study = Study(
    name="cones",
    question=(
        "At a kink or a cusp (alpha of 1 or less, beta = d/alpha), does the regret of adaptive splitting keep "
        "to T^(1/2) in every dimension while uniform bins lose it?"
    ),
    costs=[(family, dim) for family in ["cone", "twin_cone", "cusp"] for dim in (1, 2, 3)],
    horizons=Grid(first=2**10, last=2**20, periods=2.5, cap=2**25),
    replicates=64,
    seed=0,
    margin=0.05,
)
