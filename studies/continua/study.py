"""Minimisers that form a line, a sphere or a ball."""

from ratecheck.study import Grid, Study

study = Study(
    name="continua",
    question=(
        "Where the minimisers form a continuum and beta is small, do both algorithms reach the slower rates that "
        "the theorems then promise?"
    ),
    costs=[
        *((family, dim) for family in ["ring", "ring_cone", "plateau"] for dim in (1, 2, 3)),
        ("valley", 2),
        ("valley", 3),
    ],
    horizons=Grid(first=2**10, last=2**20, periods=2.5, cap=2**25),
    replicates=64,
    seed=0,
    margin=0.05,
)
