"""What each worker of a local Dask cluster does first."""

from __future__ import annotations

import os

from ..engine.orphans import die_with_parent
from .quiet import Quiet


def dask_setup(worker):
    die_with_parent(os.getppid())
    Quiet()
    worker.loop.add_callback(stop_pages, worker)


def stop_pages(worker):
    """Nobody needs them, and any user of this machine could read them."""
    if getattr(worker, "http_server", None) is not None:
        worker.http_server.stop()
