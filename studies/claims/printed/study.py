"""Theorem 1's width as printed, corrected and tuned, and how much faster adaptive bins are."""

from studies.claims.printed.experiment import Printed

study = Printed(
    name="printed",
    title="Theorem 1's width as printed, and uniform bins against adaptive bins",
    question="Does the printed width give Theorem 1's rate, and are tuned uniform bins slower if and only if β > 1?",
    costs={
        "quick": (("quadratic", 1), ("cone", 1), ("cone", 2), ("cone", 3)),
        "standard": (("quadratic", 1), ("quadratic", 2), ("quadratic", 3), ("cone", 1), ("cone", 2), ("cone", 3)),
    },
    also_printed=(("power", 2),),
    fresh=(("cone", 2), ("cone", 3)),
    fresh_horizons=(2**8, 2**10, 2**12),
    first=8,
    window=10,
    last={"quick": 16, "standard": 19},
    replicates={"quick": 24, "standard": 48},
    pilots={"quick": 8, "standard": 16},
    most=2**18,
    far={"quick": 26, "standard": 34},
    far_bins={"quick": 2**14, "standard": 2**16},
    alignments={"quick": 4, "standard": 8},
)
