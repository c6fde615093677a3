"""Costs that are rough or scale differently along their sides."""

from ratecheck.study import Grid, Study

study = Study(
    name="rough",
    question=(
        "On costs that are rough everywhere, oscillate at every scale or mix powers, do the rates of the theorems "
        "survive?"
    ),
    costs=[(family, dim) for family in ["weierstrass", "garland", "double_sine", "mixed_powers"] for dim in (1, 2, 3)],
    horizons=Grid(first=2**10, last=2**20, periods=2.5, cap=2**25),
    replicates=64,
    seed=0,
    margin=0.05,
)
