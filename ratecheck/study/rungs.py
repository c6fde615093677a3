"""What the store holds of the runs on hard families: the sandwich of a case; nothing here waits for the compiler."""

from __future__ import annotations

from ..claims import Case
from ..display import listing
from ..lower_bound.hard_family import Sandwich, rung
from ..store import Store
from ..verdict.analyse import FEWEST


def sandwich_of(case: Case, store: Store) -> Sandwich:
    """The bounds of a case and its runs on their families, from the store alone."""
    hard = case.hard
    bounds = {horizon: store.bound(hard.key, horizon) for horizon in hard.bounds}
    curve = tuple((h, r["regret"]) for h, r in bounds.items() if r is not None and r["certified"])
    rungs, problems = [], {}
    for horizon in hard.horizons:
        found = _rung(hard, horizon, bounds[horizon], store)
        if isinstance(found, str):
            problems.setdefault(found, []).append(horizon)
        else:
            rungs.append(found)
    said = [hard.reason] if hard.reason else []
    said += [_said(text, missing, hard.horizons) for text, missing in problems.items()]
    return Sandwich(tuple(rungs), curve, tuple(said), hard.members)


def _said(text, missing, horizons) -> str:
    """A problem, with the horizons at which it is one, unless it is at all of them."""
    return text if len(missing) == len(horizons) else f"at T = {listing([f'{h:,}' for h in missing], most=9)}: {text}"


def _rung(hard, horizon, record, store):
    """One horizon of the sandwich, or what keeps it from being one."""
    if record is None:
        return "its lower bound has not been computed"
    if record["problem"]:
        return record["problem"]
    known = store.members(hard.runs, horizon)
    if known is None:
        return "no run on its hard family has been made"
    if known["problem"]:
        return known["problem"]
    functions = {False: [], True: []}
    for series, replicate, dented in known["series"]:
        regret = store.regret(series, replicate, horizon)
        functions[dented] += [] if regret is None else [regret]
    needed = (False, True) if record["functions"] == "two" else (True,)
    if min(len(functions[which]) for which in needed) < FEWEST:
        return f"fewer than {FEWEST} runs on its hard family have finished"
    return rung(horizon, record["regret"], [functions[which] for which in needed])


def series_used(case: Case, store: Store) -> set[str]:
    """Digests of the series to which runs of a case on members belong."""
    found = [store.members(case.hard.runs, horizon) for horizon in case.hard.horizons]
    return {series for known in found if known is not None for series, _, _ in known["series"]}
