"""Prescreening where a cost is not bounded as the theorems want it."""

from studies.claims.prescreening.experiment import Bowl, Prescreening

study = Prescreening(
    name="prescreening",
    title="Prescreening",
    question="Does a first step of random queries find a region where f is bounded, at a regret that does not grow?",
    bowls=(
        Bowl(centre=(2.366025,), scale=0.25, half=10.0, per_axis=10, width=1.0, M=25.0),
        Bowl(centre=(2.366025, -3.162278), scale=0.25, half=10.0, per_axis=10, width=2.0, M=25.0),
    ),
    queries={1: (5, 10, 20, 40, 60, 80, 120, 160, 240), 2: (50, 100, 200, 400, 800, 1600)},
    bands={"quick": 2000, "standard": 20000},
    horizons={"quick": (10**3, 10**4, 10**5), "standard": (10**3, 10**4, 10**5, 10**6)},
    replicates={"quick": 8, "standard": 32},
)
