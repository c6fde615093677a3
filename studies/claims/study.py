"""The paper's claims, one by one: what each says, what became of it, and on what evidence."""

from ratecheck.ledger import Ledger
from ratecheck.ledger.zhao_lai import ERRATA, STATEMENTS

study = Ledger(
    name="claims",
    title="The paper's claims, one by one",
    question="Which statements of the paper hold, which do not, and how do we know?",
    paper="P. Zhao and L. Lai, Optimal Stochastic Nonconvex Optimization with Bandit Feedback.",
    statements=STATEMENTS,
    errata=ERRATA,
    experiments=(
        *("assumptions", "complexity", "dimension", "exploration", "figure1", "lemmas", "levels", "misspecified"),
        *("mu", "noise", "prescreening", "printed", "theorems"),
    ),
)
