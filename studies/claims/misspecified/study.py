"""Adaptive bins that are told a wrong alpha."""

from studies.claims.misspecified.experiment import Misspecified

study = Misspecified(
    name="misspecified",
    title="A wrong α",
    question="Does an α0 < α give the rate of α0, neither slower nor faster?  And what does an α0 > α do?",
    costs=(
        ("quadratic", 1, (1.5, 1.0, 0.5)),
        ("quadratic", 2, (1.5, 1.0)),
        ("quartic", 1, (1.5, 1.0)),
        ("sine", 1, (1.0,)),
        ("cone", 1, (0.5, 1.5, 2.0)),
        ("cusp", 1, (1.0, 2.0)),
    ),
    octaves={"quick": (10, 18), "standard": (10, 22)},
    replicates={"quick": 16, "standard": 32},
    cells={"quick": 2**12, "standard": 2**15},
)
