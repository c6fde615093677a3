"""Figure 1 of the paper, under several choices of what it does not state."""

from studies.claims.figure1.experiment import Figure1, Place

study = Figure1(
    name="figure1",
    title="Figure 1",
    question="Do adaptive bins beat uniform bins of the best width at T = 10,000, except on f2 in d = 1?",
    horizon=10_000,
    runs={"quick": 20, "standard": 100},
    foreseen={"quick": 8, "standard": 50},
    bins={
        1: (4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50),
        2: (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25),
        3: (2, 3, 4, 5, 6, 7, 8, 10, 12, 14),
    },
    places=(
        Place("random", "c drawn for each run", "per run"),
        Place("generic", "one generic c", "generic"),
        Place("favourable", "a favourable c", "favourable"),
        Place("c030", "c = 0.3", 0.3),
        Place("c029", "c = 0.29", 0.29),
        Place("c050", "c = 1/2", 0.5),
        Place("shifted", "c = 0.3, partition shifted", 0.3, "random"),
    ),
    mus=("0", "M_b", "mu_min", "smooth", "theorem"),
    lengths=(1.0, 2.0),
    noted={
        ("quadratic", 1): (0.066, 0.069, 0.076, 0.108),
        ("quadratic", 2): (0.193, 0.183, 0.203, 0.617),
        ("quadratic", 3): (0.747, 0.327, 0.397, 2.65),
        ("twin_cone", 1): (0.245, 0.188, 0.227, 0.412),
        ("twin_cone", 2): (0.869, 0.383, 0.631, 2.41),
        ("twin_cone", 3): (1.68, 0.666, 1.35, 7.32),
    },
    noted_for=("random", 1.0),
    shown=("random", "0", 1.0),
)
