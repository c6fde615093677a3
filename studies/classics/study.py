"""Test functions that everybody knows."""

from ratecheck.study import Grid, Study

study = Study(
    name="classics",
    question=(
        "On the classical test functions, with their many minima and large gaps, do the theorems' rates show at "
        "horizons that one can afford?"
    ),
    costs=[
        *((family, dim) for family in ["ackley", "griewank", "rastrigin"] for dim in (1, 2, 3)),
        ("branin", 2),
        ("himmelblau", 2),
        ("six_hump_camel", 2),
    ],
    horizons=Grid(first=2**10, last=2**20, periods=2.5, cap=2**25),
    replicates=64,
    seed=0,
    margin=0.05,
)
