"""The command of a study as tests run it."""

import subprocess
import sys

import pandas as pd

from ratecheck.store import Store
from ratecheck.store.schema import RUN, SERIES

SMALL = ["--dims", "1", "--horizons", "2^6:2^15", "--replicates", "8", "--members", "0", "--no-figures"]


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "ratecheck.study", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def digest(folder):
    with Store(folder) as store:
        return store.digest()


def table_of(store):
    """All runs of a store, one row per replicate and horizon with all that determines it."""
    rows = [(*row, *series) for series, found in store.chunks() for row in found]
    frame = pd.DataFrame(rows, columns=[*RUN, *SERIES])
    return frame.assign(anytime=frame["anytime"].astype(bool), period=frame["period"].astype(float))
