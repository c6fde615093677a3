"""The tables of an experiment in its folder: measured once, kept as CSV, measured again where settings differ."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from ratecheck.claims import VERSION
from ratecheck.files import read_below, together
from studies.claims.ledger.experiment import Effort, Experiment, Tables

FILE = "settings.json"
LIBRARIES = ("numpy", "scipy", "pandas", "numba")


class OtherSettings(ValueError):
    """A folder holds tables of another preset, seed or declaration."""


def measured(
    experiment: Experiment, effort: Effort, *, folder: Path, parts, fresh: bool = False, say: Callable = print
) -> Tables:
    """The tables of these parts: kept ones as they are, the others measured now."""
    measures = experiment.parts(effort)
    noted = _noted(experiment, effort, folder, fresh)
    tables = {}
    for name in parts:
        kept = _kept(folder, name, noted)
        if kept is None:
            say(f"{experiment.name}: {name}")
            begun = time.perf_counter()
            text = measures[name]().to_csv(index=False, lineterminator="\n")
            seconds = round(time.perf_counter() - begun, 1)
            noted["parts"][name] = {"seconds": seconds, "sha256": hashlib.sha256(text.encode()).hexdigest()}
            noted["versions"] = versions()
            with together(folder) as drafts:
                drafts.write(f"{name}.csv", text)
                drafts.write(FILE, json.dumps(noted, indent=2) + "\n")
            kept = text
        tables[name] = read(kept)
    return tables


def settings(experiment: Experiment, effort: Effort) -> dict:
    """What tables depend on."""
    return {
        "declaration": repr(experiment),
        "edition": experiment.edition,
        "semantics": VERSION,
        "preset": effort.preset,
        "seed": effort.seed,
    }


def notes(folder) -> dict:
    """What stands beside the tables: settings, seconds of each part, versions."""
    return json.loads(read_below(folder, FILE))


def complete(experiment: Experiment, effort: Effort, folder: Path) -> bool:
    """Whether nothing is left to measure."""
    try:
        noted = _noted(experiment, effort, folder, fresh=False)
    except OtherSettings:
        return False
    return all(_kept(folder, name, noted) is not None for name in experiment.parts(effort))


def read(text: str):
    """As it was written, to the last bit: every table that is judged has been through its file."""
    import pandas as pd

    head, *rows = csv.reader(io.StringIO(text))
    return pd.DataFrame({name: _typed(column) for name, column in zip(head, _columns(rows, head), strict=True)})


def _columns(rows, head):
    return zip(*rows, strict=True) if rows else [()] * len(head)


def _typed(texts):
    """Whole numbers, numbers, truths or texts; an empty cell is a missing number, or an empty text."""
    if texts and set(texts) <= {"True", "False"}:
        return [text == "True" for text in texts]
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(text) if text or kind is int else math.nan for text in texts]
    return list(texts)


def versions() -> dict:
    return {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def _noted(experiment, effort, folder, fresh) -> dict:
    now = settings(experiment, effort)
    if fresh:
        return now | {"parts": {}}
    try:
        known = notes(folder)
        parts = known.get("parts") if isinstance(known, dict) else None
        if not isinstance(parts, dict):
            raise ValueError("no parts")
    except FileNotFoundError:
        return now | {"parts": {}}
    except ValueError:
        raise OtherSettings(f"{folder / FILE} cannot be read; take --fresh, or another --out") from None
    other = [name for name, value in now.items() if known.get(name) != value]
    if other:
        name = other[0]
        shown = f"{name} = {known.get(name)}" if name != "declaration" else "another declaration"
        raise OtherSettings(f"{folder} keeps tables with {shown}; take the same, --fresh, or another --out")
    return known


def _kept(folder, name, noted) -> str | None:
    """The text of a table whose file is the one that was written."""
    if name not in noted["parts"]:
        return None
    try:
        text = read_below(folder, f"{name}.csv")
    except FileNotFoundError:
        return None
    if hashlib.sha256(text).hexdigest() != noted["parts"][name].get("sha256"):
        raise OtherSettings(f"{folder / name}.csv is not what was written there; take --fresh, or restore it")
    return text.decode()
