"""From a store to its report; nothing here waits for the compiler."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from ..files import check_way
from ..lower_bound.hard_family import sandwich_of, series_used
from ..report import Info, write_report
from ..store import Store
from ..verdict.analyse import Analysis, analyse
from .looks import counted, counted_on_family


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
    looks = counted_on_family(store)

    def sandwich(case):
        return replace(sandwich_of(case, store), look=looks(case))

    rules = {"resolution": study["resolution"], "look": counted(store), "sandwich": sandwich}
    analysis = analyse(
        planned, runs, margin=study["margin"], comparisons=comparisons, predictions=store.prediction, **rules
    )
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
