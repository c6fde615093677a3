"""The error of the point that is recommended after T queries."""

from studies.claims.exploration.experiment import Exploration

study = Exploration(
    name="exploration",
    title="Pure exploration",
    question="How good is the point that adaptive bins would recommend, by which rule?",
    costs=(
        ("quadratic", 1, 2.0),
        ("quadratic", 2, 2.0),
        ("cone", 1, 2.0),
        ("cone", 2, 2.0),
        ("quartic", 1, 2.0),
    ),
    horizons={
        "quick": tuple(round(2 ** (k / 2)) for k in range(20, 41)),
        "standard": tuple(round(2 ** (k / 2)) for k in range(20, 43)),
    },
    replicates={"quick": 24, "standard": 40},
)
