"""The report of the contest: every number in it comes from the tables."""

from __future__ import annotations

import math

import numpy as np

import function_zoo as zoo
from ratecheck.display import counted, estimate, fixed, listing, table
from ratecheck.peers import ALGORITHMS
from studies.peers.contest import FIRST, LAST, OTHERS, OURS, REFERENCE, WINDOW, Contest, contestants, duration

COMMON = (2**8, 2**11, 2**14)  # horizons of the tables of ratios
TREES = tuple(
    f"PyXAB {name}" for name in ("T_HOO", "T_HOO, defaults", "HCT", "HCT, c of its theorem", "VHCT", "Zooming")
)
LIBRARIES = ("cma CMA-ES", "nevergrad TBPSA", "nevergrad NGOpt", "optuna TPE")
EXPLORERS = tuple(f"PyXAB {name}" for name, known in ALGORITHMS.items() if known.theorem is None)
REFERENCES = ("uniform bins", REFERENCE, "HOO")
FIGURES = (
    ("regret-minimised", "Algorithms that keep the regret low", "regret", TREES + LIBRARIES, REFERENCES),
    ("regret-exploring", "Algorithms that look for a point to recommend", "regret", EXPLORERS, REFERENCES),
    ("time-minimised", "Time per step of algorithms that keep the regret low", "time", TREES + LIBRARIES, REFERENCES),
    ("time-exploring", "Time per step of algorithms that recommend a point", "time", EXPLORERS, REFERENCES),
)
CAPTIONS = {
    "regret": "Mean cumulative regret with one standard error; ours in black. A line ends where the budget did.",
    "time": "Processor time per step over the last half of a run, adapter included; ours in black.",
}
THEIRS, OUR_HOO = "PyXAB T_HOO", "HOO"
SIGNIFICANT = 3  # standard errors
PAPERS = {
    "T_HOO": "Bubeck, Munos, Stoltz and Szepesvári 2011",
    "HCT": "Azar, Lazaric and Brunskill 2014",
    "VHCT": "Li, Wang, Song and Cheng 2023",
    "Zooming": "Kleinberg, Slivkins and Upfal 2008",
    "POO": "Grill, Valko and Munos 2015",
    "GPO": "Shang, Kaufmann and Valko 2019",
    "PCT": "Shang, Kaufmann and Valko 2019",
    "VPCT": "the same over VHCT",
    "StoSOO": "Valko, Carpentier and Munos 2013",
    "StroquOOL": "Bartlett, Gabillon and Valko 2019",
    "VROOM": "Ammar, Gabillon, Tutunov and Valko 2020",
    "DOO": "Munos 2011",
    "SOO": "Munos 2011",
    "SequOOL": "Bartlett, Gabillon and Valko 2019",
}


def report(contest: Contest, pictures=()) -> str:
    sections = [
        ("Regret at common horizons", _ratios(contest)),
        ("Slopes, and verdicts against each one's own theorem", _slopes(contest)),
        ("Time per step", _times(contest)),
        ("PyXAB's HOO against ours", _hoos(contest)),
        ("How each is run", _settings()),
        ("What to know about the libraries", _remarks(contest)),
        ("Rerun it", _rerun(contest)),
    ]
    shown = [line for name, title, kind in pictures for line in _picture(name, title, kind)]
    lines = ["# Other libraries beside ours", "", *_answer(contest), "", *shown]
    for title, text in sections:
        lines += [f"## {title}", "", *text, ""]
    return "\n".join(lines)


def _picture(name, title, kind):
    return [f"![{title}](figures/{name})", "", f"*{title}.* {CAPTIONS[kind]}", ""]


def _costs(contest):
    return list(dict.fromkeys(zip(contest.runs["family"], contest.runs["dim"], strict=True)))


def _names(contest):
    return list(dict.fromkeys(contest.ends["algorithm"]))


def _at(contest, pair, horizon):
    """The means of a cost at a horizon, by contestant."""
    m = contest.means
    return m[(m["family"] == pair[0]) & (m["dim"] == pair[1]) & (m["horizon"] == horizon)].set_index("algorithm")


def _answer(contest):
    costs, s, fits = _costs(contest), contest.settings, contest.fits
    lines = [
        f"{len(_names(contest))} contestants on {counted(len(costs), 'cost')}, normal noise of standard deviation 1, "
        f"the same seeds, {s['replicates']} replicates, horizons {FIRST}, {2 * FIRST}, {4 * FIRST}, … up to {LAST:,}.  "
        f"Each pair of a cost and a contestant had {s['budget']} s of processor time for all its runs; how far it got "
        "is a matter of its speed alone.",
        "",
    ]
    for horizon in COMMON:
        best = [(pair, _at(contest, pair, horizon)) for pair in costs]
        best = [(pair, found["mean"].idxmin(), len(found)) for pair, found in best if len(found)]
        if best:
            told = listing([f"{name} on {family} d = {dim}" for (family, dim), name, _ in best], most=8)
            got = sorted({n for _, _, n in best})
            few = f"{got[0]}" if len(got) == 1 else f"{got[0]} to {got[-1]}"
            lines.append(f"- At T = {horizon:,}, which {few} contestants reached, the least mean regret has {told}.")
    judged = fits[fits["theorem"] != ""]
    counts = judged["verdict"].value_counts()
    theirs = judged[judged["algorithm"].str.startswith("PyXAB")]
    lines += [
        f"- Of {len(judged)} verdicts against an algorithm's own theorem, Holm's adjustment included, "
        + ", ".join(f"{n} are {name}" for name, n in counts.items())
        + f"; of PyXAB's {len(theirs)}: "
        + ", ".join(f"{n} {name}" for name, n in theirs["verdict"].value_counts().items())
        + ".",
        f"- {_slowness(contest)}",
        f"- {_agreement(contest)}",
    ]
    return lines


def _slowness(contest):
    found = []
    for name in _names(contest):
        ratios = [r for pair in _costs(contest) if (r := _late(contest, pair, name)[2]) is not None]
        if ratios and name not in REFERENCES:
            found.append((float(np.median(ratios)), name))
    (least, fastest), (most, slowest) = min(found), max(found)
    return (
        f"A step of the others takes between {least:,.0f} ({fastest}) and {most:,.0f} ({slowest}) times that of "
        f"{REFERENCE} at the same T, in the median over the costs; theirs are plain Python, ours are compiled."
    )


def _hoo_rows(contest):
    """By cost, at the largest horizon of both: means with errors, their ratio with its error."""
    rows = []
    for pair in _costs(contest):
        m = contest.means
        mine = m[(m["family"] == pair[0]) & (m["dim"] == pair[1])]
        both = set(mine[mine["algorithm"] == THEIRS]["horizon"]) & set(mine[mine["algorithm"] == OUR_HOO]["horizon"])
        for horizon in sorted(both):
            found = _at(contest, pair, horizon)
            a, b = found.loc[THEIRS], found.loc[OUR_HOO]
            ratio = a["mean"] / b["mean"]
            error = ratio * math.hypot(a["error"] / a["mean"], b["error"] / b["mean"])
            rows.append((pair, horizon, a, b, ratio, error))
    return rows


def _agreement(contest):
    rows = _hoo_rows(contest)
    last = {row[0]: row for row in rows}.values()
    if not last:
        return "PyXAB's HOO and ours have no horizon in common."
    apart = [row for row in last if abs(row[4] - 1) > SIGNIFICANT * row[5]]
    told = listing([f"{family} d = {dim} ({ratio:.2f} ± {error:.2f})" for (family, dim), *_, ratio, error in apart])
    but = f"; not so on {told}, as explained below" if apart else ""
    return (
        f"PyXAB's HOO and ours, told the same, have mean regrets within {SIGNIFICANT} standard errors of each other at "
        f"the last common T of {counted(len(last) - len(apart), 'cost')} of {len(last)}{but}."
    )


def _ratios(contest):
    costs = _costs(contest)
    lines = [
        "The mean regret over that of the best contestant at the same T on the same cost.  Nothing stands where the "
        "budget did not reach.",
        "",
    ]
    for horizon in COMMON:
        by_cost = [_at(contest, pair, horizon) for pair in costs]
        rows = []
        for name in _names(contest):
            cells = [
                f"{found.loc[name, 'mean'] / found['mean'].min():.2f}" if name in found.index else None
                for found in by_cost
            ]
            if any(cell is not None for cell in cells):
                rows.append([name, *cells])
        best = ["*least regret*", *(f"{found['mean'].min():.4g}" for found in by_cost if len(found))]
        head = [f"T = {horizon:,}", *(f"{family}, d = {dim}" for family, dim in costs)]
        lines += [table(head, [best, *rows]), ""]
    return lines[:-1]


def _slopes(contest):
    ends = contest.ends.set_index(["family", "dim", "algorithm"])["end"]
    lines = [
        f"Slopes of ln R against ln T over T ≥ {WINDOW[0]}, but no more than the last {int(math.log2(WINDOW[1]))} "
        "doublings, with 95 % intervals (jackknife over the runs).  The promised slope is that of the theorem, its "
        "power of ln T beside it; verdicts are against T^slope (ln T)^power.  Where a hypothesis is not met, the "
        "theorem promises nothing, and a verdict can be CONSISTENT but not REFUTED: that is so wherever nu is the "
        "one that follows from mu_min (with the theorem's nu, HOO looks at everything for longer than anybody runs).  "
        "Algorithms whose theorem is about the simple regret, or that have none, get a slope and no verdict: the "
        "cumulative regret is not what they are made for.",
        "",
    ]
    for (family, dim), part in contest.fits.groupby(["family", "dim"], sort=False):
        rows = []
        for r in part.itertuples():
            promised = f"{fixed(r.theory_slope)}, {fixed(r.log_power, 2)}" if r.theorem else None
            window = None if math.isnan(r.slope) else f"{int(r.first):,} … {int(r.last):,}"
            end = ends.get((family, dim, r.algorithm), "")
            broken = "" if not r.violated else " (hypotheses not met)"
            rows.append(
                [
                    r.algorithm,
                    window,
                    estimate(r.slope, r.low, r.high),
                    promised,
                    r.verdict + broken if r.verdict else None,
                    end,
                ]
            )
        head = [f"{family}, d = {dim}", "window", "slope", "promised slope, power", "verdict", "how far it got"]
        lines += [table(head, rows), ""]
    lines += [*_reasons(contest)]
    return lines


def _reasons(contest):
    fits = contest.fits
    decided = fits[fits["verdict"].isin(["CONSISTENT", "REFUTED"])]
    if decided.empty:
        return ["No verdict is CONSISTENT or REFUTED: slopes.csv has the reasons."]
    lines = ["The reasons of those that decide something; slopes.csv has all of them.", ""]
    for r in decided.itertuples():
        lines.append(f"- {r.family} d = {r.dim}, {r.algorithm}: {r.verdict}, {r.reason}.")
    return lines


def _late(contest, pair, name):
    """The last horizon, the time per step there, and its ratio to the reference at the same horizon."""
    m = contest.means
    mine = m[(m["family"] == pair[0]) & (m["dim"] == pair[1])]
    own, reference = (mine[mine["algorithm"] == n].set_index("horizon")["late"] for n in (name, REFERENCE))
    if own.empty:
        return None, None, None
    last = own.index.max()
    return last, own[last], own[last] / reference[last] if last in reference.index and reference[last] > 0 else None


def _times(contest):
    costs, rows = _costs(contest), []
    for name in _names(contest):
        cells = []
        for pair in costs:
            last, late, ratio = _late(contest, pair, name)
            times = "" if ratio is None else f" ({ratio:,.3g})" if ratio < 1000 else f" ({ratio:,.0f})"
            cells.append(None if last is None else f"{duration(late)} at {last:,}{times}")
        rows.append([name, *cells])
    head = ["contestant", *(f"{family}, d = {dim}" for family, dim in costs)]
    return [
        f"Processor time per step over the last half of the longest runs, and in brackets its ratio to {REFERENCE} at "
        "the same T.  Those of one cost were measured one after another by one process; below T = 4,096 a good part of "
        "ours is the call of the kernel.  The adapter's share is a few microseconds.  CMA-ES is quick once it has "
        "stopped and stays where it is.",
        "",
        table(head, rows),
    ]


def _hoos(contest):
    rows = [
        [
            f"{family}, d = {dim}",
            f"{horizon:,}",
            *(f"{x['mean']:.4g} ± {x['error']:.2g}" for x in (a, b)),
            f"{ratio:.3f} ± {error:.3f}",
        ]
        for (family, dim), horizon, a, b, ratio, error in _hoo_rows(contest)
        if horizon >= WINDOW[0]
    ]
    return [
        "The same nu, rho and sigma, the same cells, noise of the same law; the random numbers differ.  PyXAB's T_HOO "
        "differs in three details: it asks for the centre of a cell, where ours draws a point in it; a tie goes to the "
        "later child, where ours throws a coin; and nodes of the greatest depth still get children, which the paper "
        "denies them.  The first one shows where a cost varies within cells by much more than the noise, and bends "
        "upwards, as six_hump_camel does: a centre costs less than the mean over its cell, so that PyXAB pays less "
        "while it still looks at every cell.  With points drawn in its cells it comes to within a few per cent of ours "
        "(tests/test_peers.py).",
        "",
        table(["cost", "T", "PyXAB's T_HOO", "our HOO", "ratio"], rows),
    ]


def _settings():
    rows = [
        [c.name, "no" if c.algorithm.anytime else "yes", c.settings, "its theorem is judged"]
        for c in contestants(zoo.get("cone", 2))
        if c.group == OURS
    ]
    for name, known in ALGORITHMS.items():
        told = [{"numax": "numax = nu"}.get(p, p) for p in known.smoothness]
        told += [f"{k} = {v}" for k, v in known.settings.items()] + ["f_max"] * (name == "VROOM")
        proved = "cumulative regret: judged" if known.theorem else known.instead
        rows.append([f"PyXAB {name}", "no" if known.anytime else "yes", ", ".join(told), f"{PAPERS[name]}; {proved}"])
    rows += [
        [c.name, "no" if c.algorithm.anytime else "yes", c.settings, c.instead or "its theorem is judged"]
        for c in contestants(zoo.get("cone", 2))
        if c.group == OTHERS or "," in c.name
    ]
    return [
        "PyXAB maximises: a cost y becomes the reward 1 - (y - f*) / (2 sigma), so that the noise is 1/2-subgaussian, "
        "as rewards in [0, 1] are, and mean rewards lie between 1 - M_a / (2 sigma) and 1.  nu and rho are those of "
        "our HOO: rho = 2^(-α/d), nu from mu_min, divided by 2 sigma; cells are halved along one axis after the other, "
        "from the box itself, as ours are here (alignment `fixed`).  All other settings are the library's defaults, "
        "but for those that it has no default for and for VROOM's h_max (30 in place of 100, which asks for the same "
        'points).  "T_HOO, defaults" takes all of them: nu = 1, rho = 0.5, axes drawn at random.  The settings with '
        "numbers are those for the cone in two dimensions.",
        "",
        table(["contestant", "knows T", "told", "what is proved"], rows),
    ]


def _remarks(contest):
    s = contest.settings
    return [
        f"With PyXAB {s['PyXAB']}, cma {s['cma']}, nevergrad {s['nevergrad']} and optuna {s['optuna']}:",
        "",
        "- PyXAB's trees update every node at every step, and nodes keep lists of their rewards: a step of T_HOO takes "
        "time in proportion to T.",
        "- PyXAB's DimensionBinaryPartition, not used here, hands the first parent of a layer the list that the layer "
        "goes on growing in, so that it ends up with all nodes of the layer as children.  Its default, "
        "BinaryPartition, does not.",
        "- PyXAB's SequOOL asks for the centre of the box once its budget is used up, and its DOO and SOO believe a "
        "single noisy value for ever: they are for functions without noise.",
        "- PyXAB draws from numpy's global generator, and so does part of nevergrad; the adapters give each instance "
        "one of its own.",
        "- cma in one dimension fails where its limit on the standard deviation takes hold; the adapter lifts the "
        "limit there.  It runs without any handling of noise, and stays with its favourite point once it stops.",
        "- nevergrad's NGOpt asks in one dimension for fcmaes, which does not come with it; once asked, its CMA does "
        "so in every dimension until the process ends.  So it takes part in two dimensions only.",
        "- optuna's GPSampler and CmaEsSampler need packages that do not come with it (torch, cmaes); TPE, its "
        "default, takes part.",
    ]


def _rerun(contest):
    s = contest.settings
    versions = ", ".join(f"{name} {s[name]}" for name in s if name not in ("replicates", "budget", "seed", "Python"))
    return [
        "```",
        "pip install 'ratecheck[peers]'",
        f"python -m studies.peers --replicates {s['replicates']} --budget {s['budget']} --seed {s['seed']}",
        "```",
        "",
        "The runs are kept in runs.csv: the same command renders this page from them, and `--fresh` runs them again.  "
        "The same seed gives the same regrets; how far each gets depends on the machine.",
        "",
        f"Python {s['Python']}, {versions}; {counted(len(contest.runs), 'row')} of runs.",
    ]
