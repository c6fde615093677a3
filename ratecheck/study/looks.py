"""How often the runs of a study were judged: a look is a judgement of runs that were not all there at the last one."""

from __future__ import annotations

from collections import Counter

from ..claims import Case
from ..store import Store

KEY = "looks"  # of a store's note: what is judged and the number of its regrets, a text for each look


def look(store: Store, cases: list[Case]):
    """Remember what is about to be judged: the runs of every case, and those on its hard family."""
    seen = store.names(KEY)
    marks = [mark for case in cases for mark in (_own(store, case.series.digest), _on_family(store, case)) if mark]
    new = [mark for mark in dict.fromkeys(marks) if mark not in seen]
    if new:
        store.note(KEY, seen + new)


def counted(store: Store):
    """A function from a series' digest to the number of its looks, those at its present runs included."""
    return _counter(store, lambda digest: _own(store, digest))


def counted_on_family(store: Store):
    """The same from a case, for its runs on the hard family."""
    return _counter(store, lambda case: _on_family(store, case))


def _counter(store, mark_of):
    seen = store.names(KEY)
    looks = Counter(mark.split(" ")[0] for mark in seen)

    def count(what) -> int:
        mark = mark_of(what)
        return looks[mark.split(" ")[0]] + (mark not in seen) if mark else 1

    return count


def _own(store: Store, digest: str) -> str:
    return f"{digest} {store.count(digest)}"


def _on_family(store: Store, case: Case) -> str:
    """Empty where there is none."""
    if not case.hard.horizons:
        return ""
    listed = [(horizon, store.members(case.hard.runs, horizon)) for horizon in case.hard.horizons]
    runs = [(series, i, horizon) for horizon, known in listed if known for series, i, _ in known["series"]]
    return f"{case.hard.runs} {sum(store.regret(*run) is not None for run in runs)}"
