"""From a store to its report; nothing here waits for the compiler."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from ..claims import Case
from ..files import check_way
from ..lower_bound.hard_family import sandwich_of, series_used
from ..report import Info, write_report
from ..store import Store
from ..verdict.analyse import Analysis, analyse

LOOKS = "looks"  # a store's note: what is judged and the number of its regrets, a text for each look


def render(store: Store, folder, figures=True, **how) -> tuple[Analysis, Path]:
    """Fits, verdicts and the report, from the store alone; `how` is that of `write_report`."""
    check_way(folder, store.path.parent)
    study, planned = store.study()
    comparisons = [tuple(pair) for pair in study["comparisons"]]
    used = Counter(case.series.digest for case in planned)

    def runs(series):
        # two cases share random streams only where their algorithms come to the same, and with it their runs
        return store.frame(series, streams=used[series] > 1)

    used.update({series: 1 for case in planned for series in series_used(case, store)})
    looks = _counter(store, lambda case: _on_family(store, case))

    def sandwich(case):
        return replace(sandwich_of(case, store), look=looks(case))

    look_at = _counter(store, lambda digest: _own(store, digest))
    rules = {"resolution": study["resolution"], "look": look_at, "sandwich": sandwich}
    rules |= {"margin": study["margin"], "predictions": store.prediction}
    analysis = analyse(planned, runs, comparisons=comparisons, **rules)
    info = Info(
        name=study["name"],
        question=study["question"],
        settings=study["settings"],
        command=study["command"],
        sessions=tuple(store.sessions()),
        digest=store.digest(),
        missing=tuple(store.names("failed")),
        complaints=tuple(store.complaints()),
        audits=store.audits(),
        plans=len(store.names("plans") or [1]),
        unused=store.strangers(used),
    )
    page = write_report(Path(folder), analysis, info, figures=figures, **how)
    store.in_place()  # or the report stands in a folder that was made for it alone
    return analysis, page


# How often the runs of a study were judged: a look is a judgement of runs that were not all there at the last one


def look(store: Store, cases: list[Case]):
    """Remember what is about to be judged: the runs of every case, and those on its hard family."""
    seen = store.names(LOOKS)
    marks = [mark for case in cases for mark in (_own(store, case.series.digest), _on_family(store, case)) if mark]
    new = [mark for mark in dict.fromkeys(marks) if mark not in seen]
    if new:
        store.note(LOOKS, seen + new)


def _counter(store, mark_of):
    """A function from what `mark_of` marks to the number of its looks, that at its present runs included."""
    seen = store.names(LOOKS)
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
