"""The command of a study as tests run it."""

import subprocess
import sys

from ratecheck.store import Store

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
