"""A fit as a table that users of statsmodels know, and what each horizon does to it, both by statsmodels."""

import numpy as np
import pandas as pd
from scipy import special
from statsmodels.iolib.summary import Summary, summary_params
from statsmodels.iolib.table import default_latex_fmt
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.outliers_influence import OLSInfluence
from statsmodels.stats.stattools import durbin_watson

TITLE = "Rate regression results"
COVARIANCES = {"runs": "jackknife over runs", "means": "as given", "series": "residuals"}
HALVES, COEFFICIENTS = [19, 19, 23, 18], [14, *6 * [10]]  # widths of columns, so that the rules end together


class RateSummary(Summary):
    """Its notes hold characters that LaTeX takes for its own; statsmodels escapes them in tables only."""

    def as_latex(self):
        escaped = Summary()
        escaped.tables = self.tables
        escaped.add_extra_txt([self.extra_txt.translate(str.maketrans(default_latex_fmt["replacements"]))])
        return escaped.as_latex()


def summary(fit) -> RateSummary:
    regression = _regression(fit)
    table = RateSummary()
    _add_halves(table, regression, TITLE, _settings(fit, regression))
    coefficients = summary_params((regression, *_coefficients(fit)), xname=_names(fit), alpha=round(1 - fit.level, 12))
    coefficients.output_formats["txt"]["colwidths"] = COEFFICIENTS
    table.tables.append(coefficients)
    _add_halves(table, regression, "", _diagnostics(fit, regression))
    table.add_extra_txt(["Notes:", *(f"[{i}] {note}" for i, note in enumerate(_notes(fit), 1))])
    return table


def influence(fit) -> pd.DataFrame:
    """What each horizon does to the regression, were all errors independent and equally large; NaN without scatter."""
    regression = _regression(fit)
    of = OLSInfluence(regression)
    with np.errstate(all="ignore"):
        table = {
            "leverage": of.hat_matrix_diag,
            "studentised": of.resid_studentized_external if regression.df_resid > 1 else np.nan,
            "cooks_distance": of.cooks_distance[0],
        }
    return pd.DataFrame(table, index=pd.Index(fit.data.horizons, name="horizon"))


def _regression(fit):
    return OLS(fit.corrected, fit._design(fit.x)).fit()


def _names(fit):
    if fit.data.extra is not None:
        return ["const", "ln T", "1/T"]
    waves = ["cos(w ln T)", "sin(w ln T)", "cos(2w ln T)", "sin(2w ln T)"]
    count = fit.harmonics.shape[1]
    return ["const", "ln T", *(waves[:count] if count % 2 == 0 else [*waves[: count - 1], "alternating"])]


def _coefficients(fit):
    estimates = [fit._estimate(weights) for weights in fit._weights(fit.x)]
    value, se = np.array([(e.value, e.se) for e in estimates]).T
    with np.errstate(all="ignore"):
        t = value / se
    return value, se, t, 2 * special.stdtr(estimates[0].df, -np.abs(t)), np.array([(e.low, e.high) for e in estimates])


def _settings(fit, regression):
    data = fit.data
    with np.errstate(all="ignore"):
        explained = regression.rsquared
    left = {
        "Dep. Variable": "log mean regret",
        "Method": "least squares",
        "Covariance Type": COVARIANCES[data.source],
        "No. Runs": data.replicates or "not known",
        "Df of t": "normal" if data.freedom >= 1e6 else f"{data.freedom:g}",
        "R-squared": f"{explained:.4f}",
    }
    right = {
        "No. Horizons": len(data.horizons),
        "Window": f"{data.horizons[0]:.7g} ... {data.horizons[-1]:.7g}",
        "Horizons share runs": "yes" if data.anytime else "no",
        "Log power removed": f"{fit.log_power:g}",
        "Period": "none" if fit.period is None else f"{fit.period:.4g}",
        "Harmonic terms": fit.harmonics.shape[1],
    }
    return left, right


def _diagnostics(fit, regression):
    observed, expected, p_value = fit.chi_square()
    with np.errstate(all="ignore"):
        correlation = durbin_watson(regression.resid)
    distance = influence(fit)["cooks_distance"].dropna()
    left = {
        "Last-half slope": f"{fit.last_half.value:.4f}",
        "Its std err": f"{fit.last_half.se:.4f}",
        "Curvature": f"{fit.curvature().value:.4f}",
        "Prob(curvature)": f"{fit.curvature_p():.3f}",
        "Scatter std err": f"{fit.scattered().se:.4f}",
        "Durbin-Watson": f"{correlation:.3f}",
    }
    right = {
        "Chi-square": f"{observed:.2f}",
        "Expected chi-square": f"{expected:.2f}",
        "Prob(chi-square)": f"{p_value:.3f}",
        "Largest run's share": f"{fit.largest_share:.3f}",
        "Most influential T": "none" if distance.empty else f"{distance.idxmax():.7g}",
        "Cook's distance": f"{distance.max():.3f}",
    }
    return left, right


def _notes(fit):
    errors = "Standard errors, t and intervals: a jackknife over runs, which sees what chance does to the mean regrets."
    if fit.data.source == "runs":
        yield errors
    yield "Scatter std err (of the slope), Durbin-Watson and Cook's distance: as if the points were independent."
    if fit.harmonics.size and fit.period is not None:
        yield f"Harmonics: w = 2 pi / ln {fit.period:.4g}."
        if "alternating" in _names(fit):
            yield "Alternating signs are all that four horizons per period show of cos(2w ln T) and sin(2w ln T)."
    yield from fit.remarks
    if fit.data.samples:
        share, slope = fit.unseen()
        seen = f"Up to {100 * share:.2g} % of runs could lock in unseen (about 3/N)"
        yield f"{seen}, and the slope be larger by {slope:.3f}."
    if fit.caution:
        yield f"Caution: {fit.caution}."
    if fit.problem:
        yield f"Without harmonics, and no verdict: {fit.problem}."


def _add_halves(table, regression, title, halves):
    left, right = ([(f"{name}:", [str(value)]) for name, value in half.items()] for half in halves)
    table.add_table_2cols(regression, title=title, gleft=left, gright=right, yname="", xname=[])
    table.tables[-1].output_formats["txt"]["colwidths"] = HALVES
