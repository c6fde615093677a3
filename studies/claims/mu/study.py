"""The bias constant of adaptive bins, from 0 to the one that Theorem 2 asks for."""

from studies.claims.mu.experiment import Mu

study = Mu(
    name="mu",
    title="The bias constant mu",
    question="Does a mu beyond what is needed cost a constant only, and what does one below it cost?",
    costs=(("quadratic", 1), ("quadratic", 2), ("cone", 1), ("cone", 2)),
    factors=(0.0, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0, 16.0),
    needed=2.0,
    first=2**6,
    last={"quick": 2**17, "standard": 2**22},
    runs={"quick": 8, "standard": 20},
    onset_factors=(8.0, 16.0, 32.0, 64.0, 128.0),
    onset_last={"quick": 2**17, "standard": 2**20},
    onset_runs=8,
    bound_horizon=2**14,
    bound_runs={"quick": 50, "standard": 400},
    short_factors=(0.0, 1 / 4, 1 / 2, 1.0, 2.0),
    short_horizon=2**16,
    short_runs={"quick": {"random": 200, "fixed": 50}, "standard": {"random": 2500, "fixed": 500}},
    far_factors=(0.0, 1.0, 2.0, 4.0, 16.0),
    far_cells={"quick": 2**14, "standard": 2**20},
    foretold_locked=1 / 250,
)
