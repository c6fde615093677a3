"""Summaries against the fit they show, influence against its formulas, both against statsmodels."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.iolib.summary import Summary
from statsmodels.regression.linear_model import OLS

from ratecheck.fit.fit import fit_rate
from studies.calibration.scenarios import CLAIM, HORIZONS, named
from tests.synthetic import exact, runs, table

WAVES = {
    None: [],
    16.0: ["cos(w ln T)", "sin(w ln T)", "alternating"],
    64.0: ["cos(w ln T)", "sin(w ln T)", "cos(2w ln T)", "sin(2w ln T)"],
}


def cells(block):
    return [[str(cell.data).strip() for cell in row] for row in block]


def fields(summary):
    """The blocks above and below the coefficients: a dictionary of their texts."""
    rows = cells(summary.tables[0]) + cells(summary.tables[2])
    return {name.rstrip(":"): text for row in rows for name, text in (row[:2], row[2:])}


def coefficients(summary):
    header, *rows = cells(summary.tables[1])
    return header, {name: np.array(numbers, float) for name, *numbers in rows}


def design(fit):
    return np.column_stack([np.ones(len(fit.x)), fit.x, fit.harmonics])


@pytest.mark.parametrize("period", WAVES)
@pytest.mark.parametrize("name", ["S1", "I1"])
def test_coefficients_are_those_of_the_fit_and_of_statsmodels(name, period, any_seed):
    fit = fit_rate(runs(named(name), seed=any_seed), log_power=1.0, period=period)
    header, rows = coefficients(fit.summary())
    assert header == ["", "coef", "std err", "t", "P>|t|", "[0.025", "0.975]"]
    assert list(rows) == ["const", "ln T", *WAVES[period]]
    slope = fit.whole
    p_value = 2 * stats.t.sf(abs(slope.value / slope.se), slope.df)
    assert rows["ln T"][0] == pytest.approx(slope.value, abs=5.1e-5)
    assert rows["ln T"][1:] == pytest.approx(
        [slope.se, slope.value / slope.se, p_value, slope.low, slope.high], abs=5.1e-4
    )
    assert [row[0] for row in rows.values()] == pytest.approx(OLS(fit.corrected, design(fit)).fit().params, abs=5.1e-5)


@pytest.mark.parametrize("period", WAVES)
def test_errors_against_the_covariance_of_statsmodels_where_both_agree(period, any_seed):
    # equal independent errors, known: the jackknife's covariance is then what least squares assumes
    fit = fit_rate(runs(named("S1"), n=12, seed=any_seed), log_power=1.0, period=period)
    fit = replace(fit, data=replace(fit.data, covariance=0.01 * np.eye(len(fit.x))))
    _, rows = coefficients(fit.summary())
    textbook = 0.1 * np.sqrt(np.diag(OLS(fit.corrected, design(fit)).fit().normalized_cov_params))
    reach = stats.t.ppf(0.975, 11) * textbook
    assert [row[1] for row in rows.values()] == pytest.approx(textbook, abs=5.1e-4)
    assert [(row[5] - row[4]) / 2 for row in rows.values()] == pytest.approx(reach, abs=5.1e-4)


@pytest.mark.parametrize("period", WAVES)
def test_other_numbers_are_those_of_the_fit(period, any_seed):
    fit = fit_rate(runs(named("S4"), seed=any_seed), log_power=1.0, period=period)
    said, regression, of = fields(fit.summary()), OLS(fit.corrected, design(fit)).fit(), fit.influence()
    observed, expected, p_value = fit.chi_square()
    assert said == {
        "Dep. Variable": "log mean regret",
        "Method": "least squares",
        "Covariance Type": "jackknife over runs",
        "No. Runs": "40",
        "Df of t": "39",
        "R-squared": f"{regression.rsquared:.4f}",
        "No. Horizons": "12",
        "Window": "256 ... 524288",
        "Horizons share runs": "yes",
        "Log power removed": "1",
        "Period": "none" if period is None else f"{period:g}",
        "Harmonic terms": str(len(WAVES[period])),
        "Last-half slope": f"{fit.last_half.value:.4f}",
        "Its std err": f"{fit.last_half.se:.4f}",
        "Curvature": f"{fit.curvature().value:.4f}",
        "Prob(curvature)": f"{fit.curvature_p():.3f}",
        "Scatter std err": f"{regression.bse[1]:.4f}",
        "Durbin-Watson": f"{np.sum(np.diff(regression.resid) ** 2) / regression.ssr:.3f}",
        "Chi-square": f"{observed:.2f}",
        "Expected chi-square": f"{expected:.2f}",
        "Prob(chi-square)": f"{p_value:.3f}",
        "Largest run's share": f"{fit.largest_share:.3f}",
        "Most influential T": f"{HORIZONS[np.argmax(of.cooks_distance)]:.7g}",
        "Cook's distance": f"{of.cooks_distance.max():.3f}",
    }


def test_runs_apart_and_another_level(any_seed):
    fit = fit_rate(runs(named("I1"), seed=any_seed), level=0.9)
    header, rows = coefficients(fit.summary())
    assert fields(fit.summary())["Horizons share runs"] == "no"
    assert header[-2:] == ["[0.05", "0.95]"]
    assert rows["ln T"][-2:] == pytest.approx([fit.low, fit.high], abs=5.1e-4)


@pytest.mark.parametrize("period", WAVES)
def test_influence_against_its_formulas(period, any_seed):
    fit = fit_rate(runs(named("S1"), seed=any_seed), log_power=1.0, period=period)
    X, y, of = design(fit), fit.corrected, fit.influence()
    n, k = X.shape
    coefficient = np.linalg.lstsq(X, y)[0]
    variance = np.sum((y - X @ coefficient) ** 2) / (n - k)
    assert of.index.name == "horizon"
    assert list(of.index) == list(HORIZONS)
    assert of.leverage.to_numpy() == pytest.approx(np.diag(X @ np.linalg.inv(X.T @ X) @ X.T))
    for j in range(n):
        rest = np.arange(n) != j
        without = np.linalg.lstsq(X[rest], y[rest])[0]
        scatter = np.sum((y[rest] - X[rest] @ without) ** 2) / (n - 1 - k)
        error = y[j] - X[j] @ without  # of predicting it from the others
        spread = np.sqrt(scatter * (1 + X[j] @ np.linalg.inv(X[rest].T @ X[rest]) @ X[j]))
        moved = X @ (coefficient - without)
        assert of.studentised.iloc[j] == pytest.approx(error / spread, rel=1e-6)
        assert of.cooks_distance.iloc[j] == pytest.approx(moved @ moved / (k * variance), rel=1e-6)


def test_a_horizon_that_is_off_is_named():
    means = CLAIM.regret(HORIZONS) * np.where(np.arange(len(HORIZONS)) == 10, 2.0, 1.0)
    fit = fit_rate(table(np.linspace(0.5, 1.5, 5)[:, None] * means), log_power=CLAIM.log_power)
    assert fit.influence().studentised.idxmax() == HORIZONS[10]
    assert fields(fit.summary())["Most influential T"] == f"{HORIZONS[10]:.7g}"


def test_three_horizons_leave_no_scatter_to_compare_with():
    fit = fit_rate(runs(named("S1")), window=(2**10, 2**12))
    of = fit.influence()
    assert of.studentised.isna().all()
    assert of.leverage.sum() == pytest.approx(2)
    assert fields(fit.summary())["No. Horizons"] == "3"


@pytest.mark.parametrize("anytime", [True, False])
def test_runs_without_noise(anytime):
    fit = fit_rate(exact(CLAIM, anytime=anytime), log_power=CLAIM.log_power)
    assert coefficients(fit.summary())[1]["ln T"][0] == pytest.approx(CLAIM.slope, abs=1e-4)


def test_constant_regret_without_any_error():
    """Nothing to divide by: no spread, no residual, no error."""
    summary = fit_rate(table(np.ones((5, len(HORIZONS))))).summary()
    assert fields(summary)["Cook's distance"] == "nan"
    assert fields(summary)["Most influential T"] == "none"
    assert "Rate regression results" in str(summary)


def test_notes_are_numbered_and_hold_what_the_fit_warns_of():
    plain = fit_rate(exact(CLAIM, n=60))
    said = str(plain.summary())
    assert "[4]" not in said
    assert "[3] Up to 4.9 % of runs could lock in unseen (about 3/N), and the slope be larger by 0.0" in said
    R = np.ones((60, 1)) * CLAIM.regret(HORIZONS)
    R[0] *= 30
    rare = fit_rate(table(R), period=300.0)
    assert rare.caution
    assert rare.problem
    said = str(rare.summary()).splitlines()
    assert said[-2:] == [
        f"[4] Caution: {rare.caution}.",
        f"[5] Without harmonics, and no verdict: {rare.problem}.",
    ]
    assert list(coefficients(rare.summary())[1]) == ["const", "ln T"]
    assert fields(rare.summary())["Harmonic terms"] == "0"
    waves = str(fit_rate(exact(CLAIM, n=60), period=16.0).summary())
    assert "[3] Harmonics: w = 2 pi / ln 16.\n[4] Alternating signs are all" in waves


@pytest.mark.parametrize("period", WAVES)
def test_it_looks_like_a_table_of_statsmodels(period, any_seed):
    summary = fit_rate(runs(named("S1"), seed=any_seed), period=period).summary()
    assert isinstance(summary, Summary)
    lines = str(summary).splitlines()
    assert lines[0].strip() == "Rate regression results"
    assert len({len(line) for line in lines if line.startswith(("==", "--"))}) == 1
    assert str(summary) in repr(summary)


def test_html_latex_and_csv():
    summary = fit_rate(runs(named("S1")), period=300.0).summary()
    slope = cells(summary.tables[1])[2][1]
    html, latex, csv = summary.as_html(), summary.as_latex(), summary.as_csv()
    assert html.count("<table") == html.count("</table>") == 3
    assert html == summary._repr_html_()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3
    assert r"T\_max" in latex
    assert "T_max" not in latex
    for text in (html, latex, csv):
        assert slope in text
        assert "where two are needed" in text
    rows = [line.split(",") for line in csv.split("\n\n")[0].splitlines()[1:]]
    assert [len(row) for row in rows] == [4] * 6 + [7] * 3 + [4] * 6


def test_statsmodels_is_loaded_when_a_summary_is_asked_for():
    code = (
        "import sys, ratecheck\n"
        "print('statsmodels' in sys.modules, 'pandas' in sys.modules)\n"
        "from tests.synthetic import exact\n"
        "fit = ratecheck.fit_rate(exact(ratecheck.Rate(0.5)))\n"
        "fit.slope, fit.curvature(), fit.chi_square()\n"
        "print('statsmodels' in sys.modules)\n"
        "fit.summary()\n"
        "print('statsmodels' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False", "False", "True"]
