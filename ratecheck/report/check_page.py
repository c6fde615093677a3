"""The page of a check: its answer, a figure, the means, and how to get the same runs again."""

from importlib.metadata import version
from pathlib import Path

from ..display import escaped, fenced, fixed, general, table
from ..files import no_formula, together

PACKAGES = ("ratecheck", "numpy", "scipy", "numba")
AGAIN = "## To get the same runs again"
FIGURES = {"fit": "Mean regret, the fitted line and the promised shape", "runs": "Single runs and their mean"}


def check_folder(folder):
    """Refuse a folder in which something else is called report.md."""
    page = Path(folder) / "report.md"
    if page.exists() and AGAIN not in page.read_text(encoding="utf-8", errors="replace"):
        raise ValueError(f"{page} is there, and no report of a check: nothing is written over it; take another folder")


def write_check(check, folder) -> Path:
    """report.md, figures/ and runs.csv, all of them or none."""
    from matplotlib import rc_context

    from ..figures.base import STYLE, save

    folder = Path(folder)
    check_folder(folder)
    drawn = {"runs": check.runs.plot()} if check.runs is not None else {}
    if check.fit is not None:
        drawn = {"fit": check.plot(), **drawn}
    folder.mkdir(parents=True, exist_ok=True)
    with together(folder) as drafts:
        with rc_context(STYLE):
            for name, figure in drawn.items():
                save(figure, drafts, name, svg=False)
        drafts.write("report.md", "\n\n".join(_page(check, drawn)) + "\n")
        if check.runs is not None:
            drafts.write("runs.csv", _cells(check.runs.frame).to_csv(index=False, lineterminator="\n"))
    return folder / "report.md"


def _cells(frame):
    words = [name for name in frame.columns if frame[name].map(type).eq(str).any()]
    return frame.assign(**{name: frame[name].map(no_formula) for name in words})


def _page(check, drawn):
    yield f"# {escaped(check.algorithm.label)} on {escaped(str(check.cost))}"
    facts = check._facts()
    yield f"**{escaped(facts.pop('verdict'))}**"
    yield table(["", ""], [[name, escaped(str(value))] for name, value in facts.items()])
    for name in drawn:
        yield f"![{FIGURES[name]}](figures/{name}.png)"
    if check.runs is not None:
        yield "## Mean regret"
        yield _means(check)
    yield AGAIN
    yield fenced(_again(check), "python")
    yield f"Versions: {', '.join(f'{name} {version(name)}' for name in PACKAGES)}.  All runs: [runs.csv](runs.csv)."


def _means(check) -> str:
    found = check.runs.frame.groupby("horizon")["regret"].agg(["mean", "sem", "size"])
    rows = [
        [str(T), general(mean), general(error), str(size), fixed(mean / float(check.rate.regret(T)), 4)]
        for T, mean, error, size in found.itertuples()
    ]
    return table(["T", "mean regret", "standard error", "runs", "over the promised shape"], rows)


def _again(check) -> str:
    horizons = ", ".join(map(str, check.plan.horizons))
    shared, number = check.runs.shared, check.runs.frame["replicate"].nunique()
    return (
        f"rc.check(algorithm, cost, rate, horizons=[{horizons}],\n"
        f"         replicates={number}, seed={shared['seed']}, noise=rc.{shared['noise']})"
    )
