"""`python -m studies.tables`: make the tables, fit and judge them, and write the page about it."""

from __future__ import annotations

import platform
import shlex
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import ratecheck as rc
from ratecheck.files import together
from studies.shared.commands import folder, guarded, parser_of
from studies.tables import __doc__ as purpose
from studies.tables import data

DIGITS = 8  # significant, of what a table holds
MADE = {
    "multilevel.csv": data.multilevel,
    "orders.csv": data.orders,
    "heat.csv": data.heat,
    "scaling.csv": data.scaling,
}


@dataclass(frozen=True)
class Example:
    """A claim about a table."""

    table: str
    claim: str
    options: dict = field(default_factory=dict)  # of fit_rate
    holds: bool = True  # by the textbook; a claim that does not hold is a control, and is to be REFUTED
    kind: str = "upper"
    figure: str = ""

    def judged(self, where: Path):
        rate = rc.Rate.parse(self.claim)
        fit = rc.fit_rate(where / self.table, **self.options)
        return fit, rc.tight(fit, rate) if self.kind == "tight" else rc.verdict(fit, rate, self.kind)

    @property
    def command(self) -> str:
        words = ["ratecheck", "fit", self.table]
        for name, value in self.options.items():
            if name == "where":
                words += [part for pair in value.items() for part in ("--where", "=".join(pair))]
            elif value is True:
                words.append(f"--{name}")
            else:
                text = ":".join(f"{end:g}" for end in value) if isinstance(value, tuple) else str(value)
                words += [f"--{name}", text]
        return shlex.join([*words, "--rate", self.claim, *(["--kind", self.kind] if self.kind != "upper" else [])])


def _levels(scheme, y):
    """From eight steps on; chosen after a look at all levels, which stand beside it."""
    return {"y": y, "where": {"scheme": scheme}, "window": (8, 1024)}


RUNGE = {"where": {"scheme": "Runge-Kutta"}, "window": (2**-8, 2**-4)}  # chosen after a look at all steps
NICOLSON = {"where": {"scheme": "Crank-Nicolson"}}
EXAMPLES = (
    Example("multilevel.csv", "steps^-1", _levels("Euler", "correction"), figure="euler-correction"),
    Example("multilevel.csv", "steps^-1", _levels("Milstein", "correction")),
    Example("multilevel.csv", "steps^-1", _levels("Euler", "variance"), figure="euler-variance"),
    Example("multilevel.csv", "steps^-2", _levels("Milstein", "variance")),
    Example("multilevel.csv", "steps^-2", _levels("Euler", "variance"), holds=False),
    *(
        Example("multilevel.csv", claim, {"y": y, "where": {"scheme": scheme}})
        for scheme, y, claim in (
            ("Euler", "correction", "steps^-1"),
            ("Milstein", "correction", "steps^-1"),
            ("Euler", "variance", "steps^-1"),
            ("Milstein", "variance", "steps^-2"),
        )
    ),
    Example("orders.csv", "h^4", RUNGE, figure="runge-kutta"),
    Example("orders.csv", "h^4", {"where": {"scheme": "Runge-Kutta"}}),
    Example("orders.csv", "h^5", RUNGE, holds=False),
    Example("orders.csv", "h^2", NICOLSON, figure="crank-nicolson"),
    Example("orders.csv", "h^2", NICOLSON, kind="tight"),
    Example("orders.csv", "h^1.5", NICOLSON, holds=False, kind="lower"),
    Example("heat.csv", "h^2", {"values": True}),
    Example("scaling.csv", "n^(-2/3)", {"floor": "fit"}, figure="scaling"),
    Example("scaling.csv", "n^(-2/3)", {"floor": (0.0, 0.02)}),
    Example("scaling.csv", "n^(-2/3)", {"floor": 0.01}),
    Example("scaling.csv", "n^-1", {"floor": "fit"}, holds=False),
    Example("scaling.csv", "n^(-2/3)", holds=False),  # the loss itself stays above its floor
)


def main(argv=None) -> int:
    parser = parser_of("tables", purpose)
    parser.add_argument("--out", type=folder, metavar="DIR", default="studies/tables")
    parser.add_argument("--keep", action="store_true", help="fit the tables that DIR holds instead of making them")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    from studies.shared.figures import save

    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    if not arguments.keep:
        with together(out) as drafts:
            for name, make in MADE.items():
                drafts.write(name, make().to_csv(index=False, lineterminator="\n", float_format=f"%.{DIGITS}g"))
    with together(out) as drafts:
        found = [(example, *example.judged(out)) for example in EXAMPLES]
        for example, fit, _ in found:
            if example.figure:
                save(fit.plot(rc.Rate.parse(example.claim)), drafts, example.figure, svg=False)
        drafts.write("report.md", "\n".join(page(found)) + "\n")
    print(out / "report.md")
    return 0


def page(found) -> list[str]:
    lines = ["# Tables with textbook rates", "", purpose.splitlines()[0], ""]
    lines += [
        "A claim that the textbook makes must not be REFUTED; a control, which it contradicts, should be.  Where a "
        "verdict is INCONCLUSIVE its reason says what would settle it.",
        "",
        "Not everything was fixed beforehand.  Over all levels and over all steps the first verdicts were "
        "INCONCLUSIVE; the windows (from 8 steps on, and h from 1/256 to 1/16) were chosen after that, the levels and "
        "the grid of the heat equation were extended, and the sizes of scaling.csv became cubes.  So CONSISTENT in a "
        "window illustrates what a table can show and is no independent test; the whole tables are judged as well.",
        "",
    ]
    for name, make in MADE.items():
        lines += [f"## [{name}]({name})", "", " ".join(make.__doc__.split()), ""]
        mine = [row for row in found if row[0].table == name]
        lines += ["| claim | window | by the textbook | slope, or order in h | verdict |", "|---|---|---|---|---|"]
        for example, fit, verdict in mine:
            truth = "holds" if example.holds else "a control: does not hold"
            what = f"{fit.data.words.y}: {example.claim}" + ("" if example.kind == "upper" else f", {example.kind}")
            interval = f"{fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]"
            seen = ":".join(f"{end:g}" for end in example.options["window"]) if "window" in example.options else "all"
            lines.append(f"| {what} | {seen} | {truth} | {interval} | {verdict.name} |")
        lines.append("")
        for example, fit, verdict in mine:
            lines += ["```", f"$ {example.command}", *_wrapped(str(verdict)), "```", ""]
            if example.figure:
                lines += [f"![{fit.data.words.y} against {fit.data.words.x}](figures/{example.figure}.png)", ""]
    versions = ", ".join(f"{package} {version(package)}" for package in ("numpy", "scipy", "pandas"))
    lines += ["Rerun with", "", "```sh", "python -m studies.tables", "```", ""]
    lines.append(f"This report: Python {platform.python_version()}, {versions}.")
    return lines


def _wrapped(text) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    sys.exit(main())
