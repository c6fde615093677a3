"""How often the runs of a study were judged: a look is a judgement of runs that were not all there at the last one."""

from __future__ import annotations

from collections import Counter

from ..store import Store

KEY = "looks"  # of a store's note: the digest of a series and the number of its regrets, a text for each look


def look(store: Store, series: list[str]):
    """Remember what is about to be judged."""
    seen = store.names(KEY)
    new = [mark for mark in dict.fromkeys(_mark(store, digest) for digest in series) if mark not in seen]
    if new:
        store.note(KEY, seen + new)


def counted(store: Store):
    """A function from a series' digest to the number of its looks, those at its present runs included."""
    seen = store.names(KEY)
    looks = Counter(mark.split(" ")[0] for mark in seen)

    def count(digest: str) -> int:
        return looks[digest] + (_mark(store, digest) not in seen)

    return count


def _mark(store: Store, digest: str) -> str:
    return f"{digest} {store.count(digest)}"
