"""The report of the lower-bound study: every number in it comes from the tables."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version

from ratecheck.display import fixed, general, table
from ratecheck.lower_bound.hard_family import CERTAIN
from studies.lower_bound.sandwich import ORACLE, Measured

CAPTION = (
    "The certified lower bound (black line), Theorem 3's slope through its first point (dashed), and the mean regret "
    "of each algorithm over members of the hard family of that horizon, with one standard error; the small crosses are "
    "predicted means. No strategy brings the mean below the black line."
)


def report(found: Measured, pictures=()) -> str:
    members, seed = (int(found.every_bound[name].iloc[0]) for name in ("drawn", "seed"))
    factors, slopes = found.factors, found.slopes
    real = factors[factors["algorithm"] != ORACLE]
    return "\n".join(
        [
            "# Lower bounds: no strategy is better than this",
            "",
            *_answer(found, real, slopes, factors, members),
            "",
            *(
                line
                for name, title in pictures
                for line in (f"![{title}](figures/{name})", "", f"*{title}.* {CAPTION}", "")
            ),
            "## The sandwich",
            "",
            *_sandwich(real, found.bounds),
            "",
            "## Slopes, and how the factor grows",
            "",
            *_growth(slopes),
            "",
            "## What the sharper bounds gain",
            "",
            *_gain(real, found.bounds),
            "",
            "## The bounds",
            "",
            *_bounds(found.bounds),
            "",
            "## Rerun it",
            "",
            "```",
            f"python -m studies.lower_bound --members {members} --seed {seed}",
            "```",
            "",
            f"Python {platform.python_version()}, "
            + ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "python-flint"))
            + ".",
            "",
        ]
    )


def _answer(found, real, slopes, factors, members):
    bounds = found.bounds
    below, oracle = real[real["below"]], factors[factors["algorithm"] == ORACLE]
    last = real[real["horizon"] == real["horizon"].max()]
    lines = [
        f"{len(bounds.groupby(['family', 'dim']))} costs, horizons {bounds['horizon'].min():,} to "
        f"{bounds['horizon'].max():,}, {members} members of each hard family, noise of standard deviation 1.  Of "
        f"{len(bounds)} bounds {int(bounds['certified'].sum())} are certified.",
        "",
    ]
    if found.problems:
        lines += [f"{len(found.problems)} families were not used:", "", *(f"- {text}." for text in found.problems), ""]
    if below.empty:
        lines.append(
            f"**No algorithm falls below a bound**: of {len(real)} mean regrets none lies below its bound so clearly "
            f"that chance would do it once in {1 / CERTAIN:,.0f} times."
        )
    else:
        names = ", ".join(f"{r.algorithm} on {r.family} d = {r.dim} at T = {r.horizon:,}" for r in below.itertuples())
        lines.append(
            f"**ENGINE ERROR: {len(below)} mean regrets lie below their bound**, which no strategy can: {names}."
        )
    lines += [
        f"The control: an oracle that knows the member falls below in {int(oracle['below'].sum())} of {len(oracle)} "
        "cases.",
        "",
    ]
    for algorithm, part in last.groupby("algorithm", sort=False):
        factor, powers = part["factor"], slopes.loc[slopes["algorithm"] == algorithm, "log_power"].dropna()
        lines.append(
            f"- {algorithm}: at T = {part['horizon'].iloc[0]:,} between {factor.min():.3g} and {factor.max():.3g} "
            f"times the bound, {factor.median():.3g} in the median; over the last four horizons it grows like (ln T)^p "
            f"with p = {powers.median():.2f} in the median (the middle half: {powers.quantile(0.25):.2f} to "
            f"{powers.quantile(0.75):.2f})."
        )
    counts = slopes["verdict"].value_counts()
    said = ", ".join(f"{n} {name}" for name, n in counts.items())
    lines += ["", f"Slopes of the mean regret against Theorem 3's, which they must not be below: {said}."]
    return lines


def _sandwich(real, bounds):
    horizons = sorted(real["horizon"].unique())
    rows = []
    for (family, dim), part in real.groupby(["family", "dim"], sort=False):
        for algorithm, mine in part.groupby("algorithm", sort=False):
            found = {r.horizon: f"{r.factor:.3g} ± {r.factor_error:.1g}" for r in mine.itertuples()}
            cells, last = [found.get(t) for t in horizons], mine.iloc[-1]
            rows.append([family, dim, algorithm, *cells, general(last["worst"] / last["bound"], 3)])
    head = ["family", "d", "algorithm", *(f"T = {t:,}" for t in horizons), "worst member at the last T"]
    return [
        "Mean regret over the members, divided by the certified bound, with its standard error.",
        "",
        table(head, rows),
    ]


def _growth(slopes):
    rows = [
        [r.family, r.dim, r.algorithm, "≥ " + fixed(r.theory_slope), _interval(r), r.verdict, _power(r)]
        for r in slopes.itertuples()
    ]
    head = ["family", "d", "algorithm", "Theorem 3", "slope of the mean", "verdict", "power of ln T in the factor"]
    return [
        "The verdict is on the mean over the family, which Theorem 3 speaks about.  The power of ln T is that of the "
        "factor over the last four horizons, with the standard error that the scatter of the members gives it; before "
        "the onset of a rate it says how far an algorithm still has to go, not how optimal it is.",
        "",
        table(head, rows),
    ]


def _interval(r):
    return r.verdict and ("–" if math.isnan(r.slope) else f"{r.slope:.3f} [{r.low:.3f}, {r.high:.3f}]")


def _power(r):
    return "–" if math.isnan(r.log_power) else f"{r.log_power:.2f} ± {r.log_power_error:.2f}"


def _gain(real, bounds):
    """The least mean regret over the bound, before and after."""
    last = bounds[bounds["horizon"] == bounds["horizon"].max()]
    rows = []
    for b in last.itertuples():
        part = real[(real["family"] == b.family) & (real["dim"] == b.dim) & (real["horizon"] == b.horizon)]
        best = part.loc[part["mean"].idxmin()]
        before = best["mean"] / b.textbook if b.textbook > 0 else math.inf
        limit = "two functions" if b.functions == "two" else f"{b.N:.3g} places"
        rows.append([b.family, b.dim, best["algorithm"], *(general(v, 3) for v in (before, best["factor"])), limit])
    head = ["family", "d", "best algorithm", "over the textbook bound", "over the certified bound", "attained by"]
    gains = last["bound"] / last["textbook"]
    return [
        f"The textbook's bounds (plain.py) are {gains.min():.3g} to {gains.max():.3g} times smaller, in the median "
        f"{gains.median():.3g} times.  The gain comes from dents that overlap, depths that follow f0, the kl "
        "inequality at every step instead of Pinsker's at the last, and all of M instead of one half.  What remains is "
        "of two kinds.  The proof loses a factor below 2: so much lies between it and the exact minimax regret of two "
        "or three arms (tests/exact_minimax.py).  The rest is the algorithms': their bonus, ln t or sqrt(8 ln t), is "
        "many standard deviations of the noise, and a mu that is valid for sharp dents makes adaptive bins look at "
        "everything for long.",
        "",
        table(head, rows),
    ]


def _bounds(bounds):
    rows = [
        [
            b.family,
            b.dim,
            f"{b.horizon:,}",
            general(b.bound, 4),
            "yes" if b.certified else "no",
            f"{b.members:,}" if b.functions == "many" else "2 functions",
            *(general(v, 3) for v in (b.N, b.r, b.H, b.epsilon, b.M)),
        ]
        for b in bounds.itertuples()
        if b.horizon in (bounds["horizon"].min(), bounds["horizon"].max())
    ]
    head = ["family", "d", "T", "bound", "certified", "members", "N", "r", "H", "ε", "M"]
    return ["N is the number of dents that do not overlap and would be as hard to find.", "", table(head, rows)]
