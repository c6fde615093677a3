"""Where units run: threads or processes of this machine (engine/pool), or a Dask cluster, behind one interface.

An executor has
- `slots` (how many units run at once), `where` (a few words), `isolated` (a unit that ends its process takes no other
  with it);
- `submit(function, *arguments, limit=None)`, which returns a future of concurrent.futures.  `function` must come from a
  module, and takes a keyword `stop`: None, or an object whose `is_set()` says that nobody waits for the result any
  more.  Where units run in processes, one that takes more than `limit` seconds fails with UnitTimeout, and its process
  is ended;
- `expect(thing)`, which says so where a thing cannot be sent there, `check()`, which says so where the place is lost;
- `close()`, which ends whatever still runs, within two seconds.
"""

from ..engine.errors import ExecutorError, ExecutorLost, NotLoaded, UnitTimeout
from ..engine.pool import Processes, Threads
from .cluster import Dask
from .names import executor, place

__all__ = [
    "Dask",
    "ExecutorError",
    "ExecutorLost",
    "NotLoaded",
    "Processes",
    "Threads",
    "UnitTimeout",
    "executor",
    "place",
]
