"""A paper's claims, one by one: statements, the experiments that test them, findings, and a ledger of all."""

from .declaration import Ledger
from .experiment import Effort, Experiment, Judgement, Picture
from .finding import Finding, Verdict
from .statement import Proof, Statement

__all__ = ["Effort", "Experiment", "Finding", "Judgement", "Ledger", "Picture", "Proof", "Statement", "Verdict"]
