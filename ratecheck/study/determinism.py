"""Whether code that is not ours gives the same bits twice: of every such series a short run is made again.

A worker makes it twice in a row, which shows a global random state or a clock.  What a unit brings of the same run,
from whatever process, and what is stored of it must agree too.
"""

from dataclasses import replace
from itertools import accumulate

from ..algorithms.sources import OURS
from ..store import Store, difference

STEPS = 1000  # of what is made again, unless its shortest run is longer
SHARE = 100  # times as many steps the series has at least, likewise


class NotDeterministic(RuntimeError):
    """The same run gave other bits; the message says which."""


class Repeats:
    """What is to be made twice, as units, and what has come of those runs so far."""

    def __init__(self, units, store: Store):
        first = {unit.case.series.digest: unit for unit in units if foreign(unit)}
        self.units = [shortened(unit) for unit in first.values()]
        self.seen = {}  # by series, for every (replicate, horizon): that it is stored and its row, None: nothing yet
        for unit in self.units:
            digest = unit.case.series.digest
            first = next(store.runs(digest), [])  # the runs that we make again are the first of a series
            stored = {row[:2]: (True, row) for row in first}
            self.seen[digest] = {(r, h): stored.get((r, h)) for r, horizons in unit.runs for h in horizons}

    def compare(self, unit, rows):
        """Raise NotDeterministic where a run that was seen comes with other bits."""
        seen = self.seen.get(unit.case.series.digest, {})
        for row in Store.plain(row for row in rows if (row["replicate"], row["horizon"]) in seen):
            stored, old = seen[row[:2]] or (False, row)
            seen[row[:2]] = stored, old
            if found := difference(old, row):
                raise NotDeterministic(_sentence(unit.case, row, stored=stored, found=found))


def foreign(unit) -> bool:
    own = type(unit.algorithm).__module__.partition(".")[0] in OURS and unit.algorithm.fingerprint is None
    return not (own and unit.cost.registered)


def shortened(unit):
    """The first replicate of the unit's series, as far as that is cheap, twice."""
    case = unit.case
    most = max(case.horizons[0], min(STEPS, case.steps // SHARE))
    if case.anytime:
        runs = ((0, tuple(horizon for horizon in case.horizons if horizon <= most)),)
    else:
        together = zip(case.horizons, accumulate(case.horizons), strict=True)
        runs = tuple((0, (horizon,)) for horizon, steps in together if steps <= most)
    short = replace(unit, runs=2 * runs)
    return replace(short, seconds=unit.seconds / unit.steps * short.steps)


def _sentence(case, row, *, stored: bool, found) -> str:
    name, before, after = found
    how = "is stored with" if stored else "came out with"
    anytime = ", depend on the horizon although it is called anytime" if case.anytime else ""
    changed = "; if what it imports has changed since then, --fresh begins anew" if stored else ""
    return (
        f"{case.name} is not deterministic: replicate {row[0]} at T = {row[1]} {how} {name} = {before!r}, and came out "
        f"with {after!r} when it ran again; it may draw from a global random state, look at the clock, depend on the "
        f"order of threads or sets{anytime}; let it draw from the rng that it is given alone{changed}.  Nothing was "
        "judged"
    )
