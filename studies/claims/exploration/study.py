"""The error of the point that is recommended after T queries."""

from ratecheck.ledger.experiments.exploration import Exploration

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
        "quick": tuple(2**k for k in range(10, 21)),
        "standard": tuple(2**k for k in range(10, 23)),
    },
    replicates={"quick": 24, "standard": 48},
)
