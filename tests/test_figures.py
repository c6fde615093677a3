"""Figures take the names of algorithms from what they draw, and nobody pays for a plotting library before that."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import Line2D

from ratecheck import figures
from ratecheck.algorithms.registry import ENTRIES
from ratecheck.figures.base import legend_columns, spared_keys, without_locked
from ratecheck.figures.gap import GAP
from ratecheck.fit.fit import Estimate
from ratecheck.verdict.agreement import compare
from ratecheck.verdict.compare import Gap

RATIOS = tuple((2.0**i, Estimate(0.1 * i, 0.02, 20)) for i in range(8, 15))
PLAIN = Gap("cone", 1, "cone(d=1)", "One", "Two", 0.1, 0.0, RATIOS[0][1], "", (2.0**9, 2.0**14), RATIOS)


def drawn(*gaps):
    return GAP.draw("cone", SimpleNamespace(gaps=gaps))


def test_one_pair_is_named():
    title, figure = drawn(PLAIN, replace(PLAIN, dim=2))
    assert title == "Regret of One over that of Two"
    assert figure.axes[0].get_ylabel().split() == ["R", "One", "/", "R", "Two"]
    assert figure.legends[0].get_texts()[0].get_text() == "One / Two"


def test_several_pairs_get_a_colour_each():
    title, figure = drawn(PLAIN, replace(PLAIN, second="Three"), replace(PLAIN, first="Four", dim=2))
    assert title == "Ratios of regrets"
    assert figure.axes[0].get_ylabel() == "ratio of regrets"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:3] == ["One / Two", "One / Three", "Four / Two"]
    colours = {handle.get_color() for handle in figure.legends[0].legend_handles[:3]}
    assert len(colours) == 3


def test_gaps_without_common_horizons_have_no_figure():
    assert drawn(replace(PLAIN, ratios=())) is None
    assert drawn(replace(PLAIN, family="quadratic")) is None


@pytest.mark.parametrize(("letters", "columns"), [(10, 2), (30, 2), (45, 1)])
def test_long_names_take_fewer_columns(letters, columns):
    assert legend_columns([Line2D([], [], label="x" * letters) for _ in range(4)], 5.75) == columns


@pytest.mark.parametrize("locked", [0, 1])
def test_means_without_runs_that_lock_in_are_shown_where_there_are_any(locked):
    T = 2.0 ** np.arange(8, 15)
    regret = np.outer(1 + 0.02 * np.arange(8), T**0.5)
    regret[:locked] *= 5
    places = [(i, t) for i in range(8) for t in T]
    table = pd.DataFrame(places, columns=["replicate", "horizon"]).assign(regret=regret.ravel(), anytime=True)
    found = compare(table, np.outer(np.ones(8), T**0.5).ravel(), left_open=np.zeros(len(T)))
    result = SimpleNamespace(agreement=found, data=SimpleNamespace(horizons=T))
    at, means = without_locked(result, T[2:])
    assert len(found.locked) == locked
    assert len(spared_keys([result])) == locked
    assert at.tolist() == (T[2:].tolist() if locked else [])
    assert means == pytest.approx(regret[1:, 2:].mean(axis=0) if locked else [])


def test_no_figure_knows_an_algorithm():
    names = [entry.cls for entry in ENTRIES]
    spoken = [re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower() for name in names]  # adaptive bins
    words = re.compile(rf"\b({'|'.join([*names, *spoken])})\b")
    for path in Path(figures.__file__).parent.glob("*.py"):
        assert not words.search(path.read_text("utf-8")), path.name


def test_plotting_libraries_wait_for_a_figure():
    code = "import sys, ratecheck, ratecheck.report, ratecheck.report.overview;"
    code += "print([m for m in ('seaborn', 'matplotlib', 'PIL') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
