"""runs.sqlite: finished runs, one transaction per unit of work, and what a report needs to know about them.

A run is named by its series (all that determines it apart from replicate and horizon, see `engine.simulate.Job`), its
replicate and its horizon, so the same run is never stored twice, and runs of other settings are never mixed up.
Durability is SQLite's: a write-ahead log that is synchronised at every commit.  Every record carries a checksum, and
the store a digest over them, which are checked whenever it is opened; whatever a store holds is taken for a stranger's.
runs.jsonl.xz holds the same in a compact file that travels.
"""

from .errors import Altered, StoreError, StoreFull, Unreadable
from .folder import holds_runs, pack_beside, set_aside, sole_writer
from .runs import Store, difference
from .schema import FILE, PACKED

__all__ = ["FILE", "PACKED", "Altered", "Store", "StoreError", "StoreFull", "Unreadable"]
__all__ += ["difference", "holds_runs", "pack_beside", "set_aside", "sole_writer"]
