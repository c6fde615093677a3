"""Theorems 1 to 3 on several costs: exponents, log powers, certified lower bounds, and what must be known."""

from studies.claims.theorems.experiment import Theorems

study = Theorems(
    name="theorems",
    title="Theorems 1, 2 and 3",
    question="Do exponents and log powers hold, as printed or as corrected, and does nothing beat the lower bound?",
    uniform=(("quartic", 1), ("quadratic", 1), ("quadratic", 2), ("cone", 1), ("quadratic", 3), ("cone", 2)),
    adaptive={
        "quick": (("quadratic", 1), ("cone", 1), ("cone", 2)),
        "standard": (("quadratic", 1), ("cone", 1), ("quartic", 1), ("quadratic", 2), ("cone", 2)),
    },
    first=8,
    window={"quick": 10, "standard": 12},
    last={"quick": 18, "standard": 21},
    replicates={"quick": 32, "standard": 64},
    uniform_cells={"quick": 2**14, "standard": 2**16},
    adaptive_cells={"quick": 2**12, "standard": 2**15},
    bounded={
        "quick": (("quadratic", 1), ("cone", 1), ("plateau", 1)),
        "standard": (("quadratic", 1), ("quadratic", 2), ("cone", 1), ("cone", 2), ("quartic", 1), ("plateau", 1)),
    },
    bound_horizons={"quick": (1e3, 1e6, 1e9, 1e12), "standard": tuple(10.0**k for k in range(3, 13))},
    families={
        "quick": (("plateau", 1), ("cone", 1)),
        "standard": (("plateau", 1), ("plateau", 2), ("cone", 1), ("quadratic", 1), ("quartic", 1)),
    },
    family_horizons={
        "quick": (2**10, 2**12, 2**14, 2**16),
        "standard": (2**10, 2**12, 2**14, 2**16, 2**18),
    },
    members={"quick": 5, "standard": 8},
    unknown=(("quadratic", 1), ("cone", 2), ("quartic", 1)),
    unknown_horizon=2**12,
)
