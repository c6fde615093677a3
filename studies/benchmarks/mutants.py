"""Which mistakes in an algorithm are caught: `python -m studies.benchmarks.mutants` makes them, one at a time.

The runs of a mutant (mutated.py) are compared with the predicted curve (`agreement`) and, as before there was one,
fitted and judged by the slope alone.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import function_zoo as zoo
import ratecheck as rc
from studies.benchmarks.mutated import MUTANTS, simulate
from studies.shared.commands import guarded, parser_of, whole

HORIZONS = tuple(2**k for k in range(10, 19))
COUNTS = (4, 8, 16, 32, 64)  # runs, of which the fewest that refute are looked for
FEWEST = 8  # of half of them, if the others lock in, an interval is still to be had


class Case(NamedTuple):
    """A cost and an algorithm, of which all mutants are tried."""

    name: str
    cost: zoo.Cost
    algorithm: rc.AdaptiveBins | rc.UniformBins


class Trial(NamedTuple):
    """What became of a mutant on a cost."""

    kind: str
    mutant: str
    cost: str
    found: rc.Agreement  # of all runs
    needed: int | None  # the first of COUNTS that refutes
    slope: rc.Verdict  # on the promised rate, from a fit to the raw regrets of all runs

    def line(self, unmutated: Trial) -> str:
        last, tilt, name = self.found.table.iloc[-1], self.found.slope, str(self.found.name)
        ratio = f"{last['ratio']:.3f} [{last['low']:.3f}, {last['high']:.3f}]"
        slope = f"{tilt.value:+.4f} [{tilt.low:+.4f}, {tilt.high:+.4f}]"
        names = f"{self.kind:<9}{self.mutant:<26}{self.cost:<21}"
        numbers = f"{self.found.replicates:>5}{len(self.found.locked):>7}  {ratio:<23}{slope:<28}"
        return f"{names}{numbers}{name:<13}{self.needed or '-':>6}  {self.noticed(unmutated)}"

    def noticed(self, unmutated: Trial) -> str:
        """Whether the slope alone tells it from the algorithm."""
        if unmutated.slope.name == rc.Outcome.REFUTED:
            return "refutes all"
        return "yes" if self.slope.name == rc.Outcome.REFUTED else "no"


HEADER = (
    f"{'':<9}{'mutant':<26}{'cost':<21}{'runs':>5}{'locked':>7}  {'ratio at the last T':<23}{'its slope':<28}"
    f"{'verdict':<13}{'needed':>6}  slope alone"
)


def judge(case: Case, mutant: str, prediction: rc.Prediction, horizons=HORIZONS, most=COUNTS[-1], seed=0) -> Trial:
    """Run a mutant and compare it with the prediction for the algorithm."""
    kind, cost, algorithm = case.algorithm.kind, case.cost, case.algorithm.settle(case.cost)
    runs = simulate(algorithm, cost, horizons, most, seed, MUTANTS[kind][mutant])
    table = runs.frame
    needed = next((count for count in COUNTS if count <= most and refuted(table, count, prediction)), None)
    slope = slope_alone(table, algorithm, cost, horizons)
    return Trial(kind, mutant, case.name, rc.agreement(table, prediction), needed, slope)


def slope_alone(table, algorithm, cost, horizons) -> rc.Verdict:
    """What a fit says from the onset on, or over the last half if that is earlier; no period is asked for."""
    start = min(algorithm.onset(cost, horizons[-1]), horizons[len(horizons) // 2])
    fit = rc.fit_rate(table, window=(start, horizons[-1]), period=None)
    return rc.verdict(fit, algorithm.claims(cost)[0].rate)


def refuted(table, count, prediction) -> bool:
    """Whether the first runs are enough; not where too few are left of them that are not locked in."""
    try:
        return rc.agreement(table[table["replicate"] < count], prediction).name == rc.Outcome.REFUTED
    except rc.FitError:
        return False


def cases() -> list[Case]:
    """Where the predicted curve is sharp.  With the theorem's mu the bias hides the bonus; with mu_min it does not."""
    return [
        Case("quadratic 1, theorem", zoo.get("quadratic", 1), rc.AdaptiveBins(mu="theorem")),
        Case("quadratic 2, theorem", zoo.get("quadratic", 2), rc.AdaptiveBins(mu="theorem")),
        Case("cone 2, mu_min", zoo.get("cone", 2), rc.AdaptiveBins()),
        Case("garland 1, mu_min", zoo.get("garland", 1), rc.AdaptiveBins()),
        Case("ring_cone 2, mu_min", zoo.get("ring_cone", 2), rc.AdaptiveBins()),
        Case("quadratic 2", zoo.get("quadratic", 2), rc.UniformBins()),
        Case("cone 2", zoo.get("cone", 2), rc.UniformBins()),
    ]


def main(argv=None) -> int:
    parser = parser_of("benchmarks.mutants", __doc__)
    parser.add_argument("--replicates", type=whole(FEWEST), default=COUNTS[-1])
    parser.add_argument("--seed", type=whole(), default=0)
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    print(HEADER)
    for case in cases():
        prediction = rc.predict(
            case.algorithm, case.cost, HORIZONS, alignments=arguments.replicates, seed=arguments.seed
        )
        settings = prediction, HORIZONS, arguments.replicates, arguments.seed
        unmutated = judge(case, "none", *settings)
        for mutant in MUTANTS[case.algorithm.kind]:
            print(judge(case, mutant, *settings).line(unmutated), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
