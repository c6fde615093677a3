"""Checksums of records, exact to the last bit, and the digest over all of them."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

SIZE = 16  # bytes
PACKED = np.dtype(
    [("replicate", "<i8"), ("horizon", "<i8"), ("regret", "<f8"), ("cells", "<i8"), ("side", "<f8"), ("anytime", "<i8")]
)


def packed(columns: Sequence) -> np.ndarray:
    rows = np.empty(len(columns[0]), PACKED)
    for name, column in zip(PACKED.names, columns, strict=True):
        rows[name] = np.array(column, PACKED[name])
    return rows


class Rows:
    """The hash of a unit's rows, in the order of replicates and horizons, fed in as many pieces as one likes."""

    def __init__(self):
        self.numbers = hashlib.blake2b(digest_size=SIZE)
        self.streams = hashlib.blake2b(digest_size=SIZE)

    def add(self, rows: Sequence[tuple]):
        *numbers, streams = zip(*rows, strict=True)
        self.add_columns(packed(numbers), streams)

    def add_columns(self, numbers: np.ndarray, streams: Iterable[str]):
        self.numbers.update(numbers.tobytes())
        self.streams.update(("\n".join(streams) + "\n").encode())

    def digest(self) -> bytes:
        return self.numbers.digest() + self.streams.digest()


def of_unit(fields: Sequence, series: Sequence, rows: Rows) -> str:
    return _hashed(ascii((*fields, *series)).encode() + rows.digest())


def of_text(table: str, fields: Sequence) -> str:
    return _hashed(ascii((table, *fields)).encode())


def _hashed(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=SIZE).hexdigest()


def added(total: str, new: str | None = None, old: str | None = None) -> str:
    """The digest over all checksums after one is added, replaced or taken away: a sum, whatever their order."""
    number = int(total, 16) + int(new or "0", 16) - int(old or "0", 16)
    return f"{number % 2 ** (8 * SIZE):0{2 * SIZE}x}"


EMPTY = added("0")
