"""The worked examples: what the page says follows from the tables beside it, and the tables from their code."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ratecheck.cli.main import main
from studies.tables import data
from studies.tables.__main__ import EXAMPLES, MADE

FOLDER = Path("studies/tables")


@pytest.fixture(scope="module")
def judged():
    return [(example, *example.judged(FOLDER)) for example in EXAMPLES]


def test_the_textbook_is_not_refuted_and_controls_are(judged):
    for example, _, v in judged:
        assert (v.name == "REFUTED") == (not example.holds), example
    assert sum(v.name == "CONSISTENT" for _, _, v in judged) >= 5


def test_the_page_says_what_the_tables_give(judged):
    page = (FOLDER / "report.md").read_text(encoding="utf-8")
    for example, fit, v in judged:
        assert f"| {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}] | {v.name} |" in page
        assert f"$ {example.command}" in page


def test_the_commands_of_the_page_work(judged, capsys, monkeypatch):
    import shlex

    monkeypatch.chdir(FOLDER)
    for example, _, v in judged[::4]:
        assert main(shlex.split(example.command)[1:]) == 0
        assert f"{v.name}: " in capsys.readouterr().out


def test_the_tables_are_made_by_their_code():
    for name in ("orders.csv", "heat.csv", "scaling.csv"):
        made, kept = MADE[name](), pd.read_csv(FOLDER / name)
        value = made.columns[-1]
        # below 1e-13 rounding differs from machine to machine
        assert made[value].to_numpy() == pytest.approx(kept[value].to_numpy(), rel=1e-5, abs=1e-13)
    kept = pd.read_csv(FOLDER / "multilevel.csv")
    assert len(kept) == 2 * data.RUNS * len(data.LEVELS)


def test_coarse_and_fine_paths_are_coupled():
    """Milstein's corrections vary less than Euler's, level by level; both have the mean of a telescoping sum."""
    spread = pd.read_csv(FOLDER / "multilevel.csv").groupby(["scheme", "steps"])["variance"].mean()
    assert np.all(spread["Milstein"].to_numpy() < spread["Euler"].to_numpy())
