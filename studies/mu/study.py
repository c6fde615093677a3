"""Algorithm 2 with no bias at all, with the smallest valid one, and with the theorem's."""

from ratecheck import AdaptiveBins
from ratecheck.study import Grid, Study

study = Study(
    name="mu",
    question=(
        "Does adaptive splitting keep its rate whatever its parameter mu is: none (mu=0), the smallest that makes its "
        "confidence bounds valid on average (the default), or the much larger one that Theorem 2 asks for (mu=theorem)?"
    ),
    costs=[("quadratic", 1), ("quadratic", 2), ("cone", 1), ("cone", 2)],
    algorithms=[AdaptiveBins(mu=0.0), AdaptiveBins(), AdaptiveBins(mu="theorem")],
    horizons=Grid(first=2**10, last=2**20, periods=2.5, cap=2**26),
    replicates=64,
    seed=0,
    margin=0.05,
)
