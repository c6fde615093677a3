"""Figure 1 of the paper: adaptive bins against uniform bins of many widths, under settings that it does not state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, listing, table
from studies.claims.figure1 import rules
from studies.claims.figure1.rules import (
    ADAPTIVE,
    CONTRADICTS,
    EXCEPTION,
    FAVOURABLE,
    FAVOURED,
    GENERIC,
    LETTERS,
    MU_WORDS,
    NOTED_MUS,
    OPEN,
    PER_RUN,
    REPRODUCES,
    UNIFORM,
)
from studies.claims.figure1.tables import ERROR, PANELS, adaptive_bins, contrast, cost_of_run, uniform_bins
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.ledger.finding import Finding, Verdict


class Place(NamedTuple):
    """Where the minimiser lies: c "per run" (uniform in the box), "generic" (the zoo's), "favourable" (of those drawn
    per run the one whose predicted regret comes nearest to the printed figure) or a number for all axes."""

    table: str
    label: str
    centre: str | float
    alignment: str = "fixed"


@dataclass(frozen=True)
class Figure1(Experiment):
    """`runs` of `horizon` steps in each panel, with `bins` along an axis, for each place, mu and a0.

    The regret is predicted for the first `foreseen` centres or partitions.  `noted` are numbers of an earlier
    measurement with few runs, R/T by panel: best uniform, then adaptive by mu, at a place and an a0.
    """

    horizon: int
    runs: Mapping[str, int]
    foreseen: Mapping[str, int]
    bins: Mapping[int, tuple[int, ...]]
    places: tuple[Place, ...]
    mus: tuple[str, ...]
    lengths: tuple[float, ...]
    noted: Mapping[tuple[str, int], tuple[float, ...]]
    noted_for: tuple[str, float]
    shown: tuple[str, str, float]  # the setting of the figure that is like the paper's

    def parts(self, effort: Effort) -> dict[str, Callable[[], DataFrame]]:
        foretold = cache(partial(self._foretold_per_run, effort))
        found = {p.table: partial(self._compared, p, effort, foretold) for p in self.places}
        return found | {"centres": partial(self._one_centre_for_all, foretold)}

    def judgements(self) -> dict[str, Judgement]:
        return {"30": Judgement((*(p.table for p in self.places), "centres"), self._judge)}

    # Measured

    def _compared(self, place, effort, foretold) -> DataFrame:
        """Every adaptive setting against every width: R/T, and the difference run by run."""
        import pandas as pd

        rows = []
        for family, dim in PANELS:
            costs = self._costs(place, family, dim, effort, foretold)
            measured = {
                key: self._regrets(algorithm, costs, place, effort) for key, algorithm in self._algorithms(dim).items()
            }
            ahead = self._ahead(place, family, dim, costs, effort, foretold)
            for mu, a0 in self._settings():
                for m in self.bins[dim]:
                    rows.append(
                        {"family": family, "dim": dim, "mu": mu, "a0": a0, "bins": m, "width": 2 / m}
                        | contrast(measured[m], measured[mu, a0])
                        | {"uniform_foretold": ahead[m], "adaptive_foretold": ahead[mu, a0]}
                    )
        return pd.DataFrame(rows)

    def _settings(self):
        return [(mu, a0) for mu in self.mus for a0 in self.lengths]

    def _algorithms(self, dim) -> dict:
        """Functions from a cost to an algorithm, by the number of bins, or by mu and a0."""
        adaptive = {(mu, a0): partial(adaptive_bins, mu, a0) for mu, a0 in self._settings()}
        return {m: partial(uniform_bins, 2 / m) for m in self.bins[dim]} | adaptive

    def _costs(self, place, family, dim, effort, foretold) -> list:
        """Pairs of a cost and its replicates; f1 has its minimum at -c."""
        runs = effort.of(self.runs)
        if place.centre == PER_RUN:
            return [(cost_of_run(family, dim, run, effort.seed), [0]) for run in range(runs)]
        if place.centre == FAVOURABLE:
            return [(cost_of_run(family, dim, self._favourable(dim, foretold()), effort.seed), range(runs))]
        sign = -1.0 if family == "quadratic" else 1.0
        where = {} if place.centre == GENERIC else {"centre": (sign * place.centre,) * dim}
        return [(zoo.get(family, dim, **where), range(runs))]

    def _favourable(self, dim, foretold) -> int:
        """The run whose c, shared by all runs, is predicted to give the panels of this dimension most clearly as
        printed; no run is looked at."""
        clear = []
        for panel in ((family, dim) for family in LETTERS):
            ahead = foretold[panel]
            lead = np.log(np.min([ahead[m] for m in self.bins[dim]], axis=0) / np.array(ahead[FAVOURED]))
            clear.append(-lead if panel == EXCEPTION else lead)
        return int(np.argmax(np.min(clear, axis=0)))

    def _regrets(self, algorithm, costs, place, effort) -> np.ndarray:
        """R/T of every run."""
        how = {"seed": effort.seed, "alignment": place.alignment, "workers": effort.workers}
        found = [rc.simulate(algorithm(cost), cost, [self.horizon], runs, **how).rows for cost, runs in costs]
        return np.array([row["regret"] for rows in found for row in rows]) / self.horizon

    # Foretold

    def _ahead(self, place, family, dim, costs, effort, foretold) -> dict:
        if place.centre == PER_RUN:
            return {key: float(np.mean(values)) for key, values in foretold()[family, dim].items()}
        partitions = "fixed" if place.alignment == "fixed" else effort.of(self.foreseen)
        (cost, _), *_ = costs
        return {
            key: float(
                rc.predict(algorithm(cost), cost, [self.horizon], alignments=partitions, seed=effort.seed).regret[0]
            )
            / self.horizon
            for key, algorithm in self._algorithms(dim).items()
        }

    def _foretold_per_run(self, effort) -> dict:
        """R/T by panel and algorithm, for the centre of each run."""
        found = {}
        for family, dim in PANELS:
            costs = [cost_of_run(family, dim, run, effort.seed) for run in range(effort.of(self.foreseen))]
            found[family, dim] = {
                key: [
                    float(rc.predict(algorithm(cost), cost, [self.horizon], alignments="fixed").regret[0])
                    / self.horizon
                    for cost in costs
                ]
                for key, algorithm in self._algorithms(dim).items()
            }
        return found

    def _one_centre_for_all(self, foretold) -> DataFrame:
        """Had all runs shared one c, and the width been tuned to it: predicted R/T for each of the centres."""
        import pandas as pd

        rows = []
        for (family, dim), ahead in foretold().items():
            uniform = np.array([ahead[m] for m in self.bins[dim]])
            best = np.argmin(uniform, axis=0)
            for mu, a0 in self._settings():
                for run, value in enumerate(ahead[mu, a0]):
                    known = {"family": family, "dim": dim, "mu": mu, "a0": a0, "run": run, "adaptive": value}
                    rows.append(known | {"uniform": uniform[best[run], run], "bins": self.bins[dim][best[run]]})
        return pd.DataFrame(rows)

    # Judged

    def joined(self, tables: Tables) -> DataFrame:
        """The tables of all places, with the place's name."""
        import pandas as pd

        return pd.concat([tables[p.table].assign(place=p.table) for p in self.places], ignore_index=True)

    def _judge(self, tables) -> Finding:
        who = rules.outcomes(self.joined(tables))
        what = rules.settings_of(who)
        counts = what["said"].value_counts()
        total, same, other = len(what), int(counts.get(REPRODUCES, 0)), int(counts.get(CONTRADICTS, 0))
        if same == total:
            verdict = Verdict.CONSISTENT
        elif other == total:
            verdict = Verdict.REFUTED
        else:
            verdict = Verdict.INCONCLUSIVE
        most = 100 * max(rules.as_printed(tables["centres"]).values())
        return Finding(
            verdict,
            f"of {total} settings of c, mu and a0 the figure comes out as printed in {same}{rules.place_words(what)}, "
            f"otherwise in {other}; adaptive bins beat every width in {rules.shares_of(who)}; of random c that all "
            f"runs share at most {most:.1f} % are predicted to give it as printed",
            tolerates="other values of c, mu and a0 than those listed" if verdict is Verdict.CONSISTENT else "",
            caveat="the paper gives neither c nor mu nor a0 nor the widths; a setting comes out otherwise if uniform "
            "bins of some width win a panel that the paper gives to adaptive bins, or if these win f2 in d = 1 "
            f"({ERROR:.0%} for the panels and widths of a setting together)",
            foretold=self._disagreement(tables),
        )

    def _disagreement(self, tables) -> str:
        """Where an earlier measurement with few runs said otherwise about who wins."""
        now = {(r.family, r.dim, r.mu): r.who for r in rules.outcomes(self._as_noted(tables)).itertuples()}
        wrong = []
        for (family, dim), (uniform, *adaptive) in self.noted.items():
            for mu, value in zip(NOTED_MUS, adaptive, strict=True):
                said = ADAPTIVE if value < uniform else UNIFORM
                if now[family, dim, mu] not in (said, OPEN):
                    wrong.append(f"{LETTERS[family]} d = {dim} at {MU_WORDS[mu]} to {said} bins")
        given = [f"ten runs had given {listing(wrong)}"] if wrong else []
        worse, smooth = (self._near_last_noted(tables, mu) for mu in ("theorem", "smooth"))
        if smooth > worse:
            given.append(f"what they gave for Theorem 2's mu is found at (1 + 2^(d+α)) M_b, in {smooth} of 6 panels")
        return "; ".join(given)

    def _as_noted(self, tables) -> DataFrame:
        """The rows of the place and a0 to which the noted numbers belong."""
        data = self.joined(tables)
        return data[(data["place"] == self.noted_for[0]) & (data["a0"] == self.noted_for[1])]

    def _near_last_noted(self, tables, mu) -> int:
        """In how many panels what was noted for Theorem 2's mu is near what is measured at this one."""
        mine = self._as_noted(tables)
        now = mine[mine["mu"] == mu].groupby(["family", "dim"])["adaptive"].first()
        return sum(rules.is_near(noted[-1], float(now[panel])) for panel, noted in self.noted.items())

    def pictures(self, tables: Tables) -> Iterable[Picture]:
        from studies.claims.figure1.draw import compared, dependence

        place, mu, a0 = self.shown
        label = {p.table: p.label for p in self.places}
        yield Picture(
            "figure1",
            f"Figure 1 of the paper at T = {self.horizon:,}: {label[place]}, {MU_WORDS[mu]}, a0 = {a0:g}",
            "R/T of uniform bins against their width, and that of adaptive bins as a dashed line, with 95 % intervals "
            "(a band for the line); red: what theory predicts for both, without a free parameter.",
            partial(compared, tables[place].query("mu == @mu and a0 == @a0")),
        )
        yield Picture(
            "dependence",
            "How the comparison depends on what the paper does not state",
            "R/T of adaptive bins divided by that of uniform bins of the best width, with 95 % intervals; left of the "
            "line adaptive bins are better. The width is the one that theory predicts to be best: no run has been "
            "looked at for it. Red: the predicted ratio.",
            partial(dependence, rules.ratios(self.joined(tables)), label, self.mus, self.lengths),
        )

    # Said

    def words(self, tables: Tables) -> Iterable[str]:
        data = self.joined(tables)
        who = rules.outcomes(data)
        runs = int(data["runs"].max())
        yield "## What was measured"
        yield (
            f"f1(x) = 10 |x + c|² and f2(x) = 10 min(|x - c|, |x + c|) on [-1, 1]^d, T = {self.horizon:,}, {runs} runs "
            "with standard Gaussian noise. Uniform bins: "
            + "; ".join(f"d = {d}: {', '.join(map(str, m))} along an axis" for d, m in self.bins.items())
            + ". Adaptive bins: mu = 0, M_b (the constant of Assumption 1 (b)), mu_min (the least one that makes the "
            "lower confidence bound valid), (1 + 2^(d+α)) M_b (called smooth) and Theorem 2's (1 + 2^(d+α)) M with "
            "M = max(M_a, M_b). Where the minimiser lies:"
        )
        yield "\n".join(f"- {p.table}: {rules.explained(p)}" for p in self.places)
        yield (
            "Adaptive bins win a panel if they beat every width, each with an interval of the differences run by run; "
            "uniform bins win if some width does, the level divided by the number of widths, since the best of many "
            "was looked for. Both levels are divided by the six panels."
        )
        yield "## Who wins"
        yield table(["place", "mu", "a0", *map(rules.panel_name, PANELS), "as printed"], list(rules.win_rows(who)))
        yield "A: adaptive bins; U: uniform bins; ·: neither. The paper has A, A, A, not A, A, A."
        yield from self._why(tables, who)
        yield "## How good the prediction is"
        yield (
            "Measured R/T divided by the predicted one, over all places and panels (with c drawn for each run the "
            "prediction is for some of the c only). At small mu it is less good: noise decides which cells are left."
        )
        yield table(["", "cases", "5 %", "median", "95 %"], list(rules.foretold_rows(data, self.mus)))
        yield "## Against the numbers of ten runs"
        yield from self._noted_words(tables)

    def _why(self, tables, who):
        yield "## Why"
        what = rules.settings_of(who)
        same = what.query("said == @REPRODUCES")
        yield (
            f"As printed: {listing([f'{r.place} with {MU_WORDS[r.mu]}, a0 = {r.a0:g}' for r in same.itertuples()])}."
            if len(same)
            else "No setting gives all six panels as printed."
        )
        exception = who[(who["family"] == EXCEPTION[0]) & (who["dim"] == EXCEPTION[1])]
        small = exception[exception["place"].isin([p.table for p in self.places if p.centre == PER_RUN])]
        won = small.query("who == @ADAPTIVE")
        yield (
            f"The exception, f2 in d = 1: with c drawn for each run adaptive bins win it in {len(won)} of {len(small)} "
            f"settings of mu and a0, over all places in {sum(exception['who'] == ADAPTIVE)} of {len(exception)}."
        )
        yield (
            "Uniform bins have no bias where the centre of a bin falls on x*. With one c for all runs the best of many "
            "widths is the one that comes nearest to that, so that it is tuned to c; with c drawn for each run no "
            "width is. mu a0^α is added to the bonus of every cell: the larger it is, the later cells are given up."
        )
        yield (
            "Had all runs shared one c, and the width been tuned to it, the predicted curve says for how many of the "
            "random c adaptive bins would have been better, and for what share of all choices of a c in each dimension "
            "all six panels would be as printed:"
        )
        header = ["mu", "a0", *map(rules.panel_name, PANELS), "as printed"]
        yield table(header, list(rules.tuned_rows(tables["centres"])))

    def _noted_words(self, tables):
        chosen = self._as_noted(tables)
        rows, near, total = [], 0, 0
        for (family, dim), (uniform, *adaptive) in self.noted.items():
            mine = chosen[(chosen["family"] == family) & (chosen["dim"] == dim)]
            best = mine.loc[mine["uniform"].idxmin()]
            cells = [(uniform, best["uniform"], best["uniform_se"])]
            for mu, value in zip(NOTED_MUS, adaptive, strict=True):
                row = mine[mine["mu"] == mu].iloc[0]
                cells.append((value, row["adaptive"], row["adaptive_se"]))
            near += sum(rules.is_near(then, now) for then, now, _ in cells)
            total += len(cells)
            rows.append(
                [rules.panel_name((family, dim)), *(f"{then:g}: {fixed(now)} ± {fixed(se)}" for then, now, se in cells)]
            )
        yield (
            f"R/T with c drawn for each run and a0 = {self.noted_for[1]:g}: noted before from ten runs, and measured "
            f"here with its standard error. {near} of {total} agree within a tenth. The last column agrees in "
            f"{self._near_last_noted(tables, 'theorem')} of {len(self.noted)} panels with Theorem 2's mu, and in "
            f"{self._near_last_noted(tables, 'smooth')} with (1 + 2^(d+α)) M_b."
        )
        yield table(["panel", "best uniform", *(MU_WORDS[mu] for mu in NOTED_MUS)], rows)
