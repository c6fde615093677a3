"""Isolated minima that are smooth and round."""

from ratecheck.study import Grid, Study

study = Study(
    name="bowls",
    question=(
        "Where the minimum is isolated and smooth (alpha from 1.5 to 2), do both algorithms reach their rates, and "
        "do uniform bins fall behind only where beta exceeds 1?"
    ),
    costs=[(family, dim) for family in ["quadratic", "quartic", "power", "sine"] for dim in (1, 2, 3)],
    horizons=Grid(first=2**10, last=2**20, periods=2.5, cap=2**25),
    replicates=64,
    seed=0,
    margin=0.05,
)
