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

import re

from ..arguments import MOST_WORKERS, check_workers
from ..engine.errors import ExecutorError
from ..engine.pool import Processes, Threads
from .cluster import Dask

ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s:/@\[\]]+):([0-9]{1,5})")
LOCAL = re.compile("local(:(?P<workers>.*))?", re.DOTALL)


def place(scheduler: str | None, workers: int | None, *, kernels=True, limited=False):
    """The class of an executor and its arguments; a name that means nothing is refused before anything is written.

    "threads", "processes", "local:4" (a Dask cluster of this machine) or an address; None takes threads for kernels and
    processes for algorithms in plain Python.  `limited`: the user limits the time of a unit, which no thread keeps to.
    """
    if scheduler is None:
        scheduler = "threads" if kernels and not limited else "processes"
    if scheduler == "threads" and limited:
        raise ExecutorError("--unit-timeout has no effect on threads: none can be ended; take --scheduler processes")
    count = check_workers(workers)
    if scheduler in ("threads", "processes"):
        return (Threads if scheduler == "threads" else Processes), (count,)
    if found := LOCAL.fullmatch(scheduler):
        number = str(count) if found["workers"] is None else found["workers"]
        if not re.fullmatch("[0-9]{1,9}", number) or not 1 <= int(number) <= MOST_WORKERS:
            raise ExecutorError(
                f"--scheduler {scheduler}: write local:N with N workers, 1 or more, {MOST_WORKERS} at most"
            )
        return Dask, (None, int(number))
    found = ADDRESS.fullmatch(scheduler)
    if found is None or not 0 < int(found[3]) < 2**16:
        raise ExecutorError(
            f"--scheduler {scheduler!r} is none of threads, processes, local:N or an address such as tcp://host:8786 "
            "or tls://host:8786"
        )
    return Dask, (scheduler,)
