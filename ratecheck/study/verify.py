"""What `ratecheck verify` says about a store that could be opened: that all is in order, or which run is not."""

from __future__ import annotations

import secrets

from ..display import counted
from ..store import Store

EXIT_DIFFERENT = 1


def verified(store: Store, count: int, *, seed: int | None, study: str | None, seconds: float | None = None) -> int:
    """Print what was checked, run some units again, and return an exit code."""
    units = counted(len(store.units()), "unit")
    print(f"{store.path}: {units}, every record matches its checksum, digest of the runs {store.digest()}")
    if not count:
        return 0
    from .rerun import PATIENCE, rerun

    seed = secrets.randbelow(2**32) if seed is None else seed
    print(f"run again, chosen at random (--seed {seed}):")
    different = 0
    for found in rerun(store, count, seed=seed, study=_declared(study), seconds=seconds or PATIENCE):
        verdict = found.differs or (f"cannot be run again: {found.unable}" if found.unable else "the same bits")
        different += bool(found.differs)
        print(f"  {found.unit}: {verdict}")
    return EXIT_DIFFERENT if different else 0


def _declared(path):
    if path is None:
        return None
    from .declared import declared

    return declared(path)
