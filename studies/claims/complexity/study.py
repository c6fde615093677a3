"""The number of cells against T, and what a heap does to the algorithm."""

from studies.claims.complexity.experiment import Complexity

study = Complexity(
    name="complexity",
    title="Cells and heaps",
    question="How does the number of cells grow, and does a heap keep the argmin?",
    costs=(
        ("quadratic", 1),
        ("quadratic", 2),
        ("cone", 1),
        ("cone", 2),
        ("quartic", 1),
        ("quartic", 2),
        ("valley", 2),
        ("plateau", 1),
    ),
    horizons={
        "quick": tuple(2**k for k in range(8, 19)),
        "standard": tuple(2**k for k in range(8, 21)),
    },
    replicates={"quick": 8, "standard": 32},
    most_cells={"quick": 2**14, "standard": 2**17},
    alignments={"quick": 4, "standard": 8},
    heaped=(("quadratic", 1), ("quadratic", 2), ("cone", 1), ("cone", 2), ("quartic", 1), ("valley", 2)),
    heap_horizons=(2**10, 2**12, 2**14, 2**16),
    heap_replicates={"quick": 16, "standard": 64},
    timed={"quick": 2**20, "standard": 2**22},
)
