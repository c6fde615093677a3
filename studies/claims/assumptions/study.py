"""Assumption 1: which exponents costs have, and which statements about them have counter-examples."""

from studies.claims.assumptions.experiment import Assumptions

study = Assumptions(
    name="assumptions",
    title="Assumption 1 and what is said about it",
    question="Which smoothness and which sublevel sets do costs have, and does the paper describe them rightly?",
    dims={"quick": (1, 2), "standard": (1, 2, 3)},
    budget={"quick": 15_000, "standard": 60_000},
    polynomials={"quick": 40, "standard": 150},
    horizons={"quick": tuple(2**k for k in range(8, 17)), "standard": tuple(2**k for k in range(9, 20))},
    uniform_horizons={"quick": (2**8, 2**12, 2**16), "standard": (2**8, 2**12, 2**16, 2**20)},
    replicates={"quick": 32, "standard": 64},
)
