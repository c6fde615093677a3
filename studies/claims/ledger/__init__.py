"""A paper's claims, one by one: statements, the experiments that test them, findings, and a ledger of all."""

from studies.claims.ledger.declaration import Ledger
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.ledger.statement import Proof, Statement

__all__ = ["Effort", "Experiment", "Finding", "Judgement", "Ledger", "Picture", "Proof", "Statement", "Verdict"]
