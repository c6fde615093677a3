"""The table of runs as a file: CSV or Parquet, streamed, whole or not at all, and never in the place of a database."""

import csv
import os
from pathlib import Path

from ..files import check_way, no_formula, replacing
from .errors import StoreError
from .runs import Store
from .schema import FILE, PACKED, RUN, SERIES

GROUP = 50_000  # rows that Parquet compresses together
DATABASE = b"SQLite format 3\0"


def export(store: Store, path: Path, form: str) -> int:
    """Write a row per replicate and horizon with all that determines it; how many there are."""
    if path.is_dir() and not path.is_symlink():
        raise StoreError(f"{path} is a folder; give a file in it")
    named = any(os.path.basename(name).startswith((FILE, PACKED)) for name in (path, os.path.realpath(path)))
    if named or (path.is_file() and _is_database(path)):
        raise StoreError(f"{path} belongs to a store, which an export would destroy; give another file")
    check_way(path, store.path.parent)
    with replacing(path, "w" if form == "csv" else "wb") as file:
        return (_to_csv if form == "csv" else _to_parquet)(store, file)


def _is_database(path) -> bool:
    with path.open("rb") as file:
        return file.read(len(DATABASE)) == DATABASE


def columns_of(rows, series) -> list:
    *numbers, anytime, streams = zip(*rows, strict=True)
    shared = [[value] * len(rows) for value in series]
    return [*numbers, [bool(value) for value in anytime], streams, *shared]


def _to_csv(store, file) -> int:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*RUN, *SERIES])
    count, place = 0, RUN.index("stream")
    for series, rows in store.chunks():
        columns = columns_of(rows, [no_formula(value) if isinstance(value, str) else value for value in series])
        columns[place] = map(no_formula, columns[place])
        writer.writerows(zip(*columns, strict=True))
        count += len(rows)
    return count


def _to_parquet(store, file) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'ratecheck[parquet]', or take --csv") from None
    words = {"stream", "series", "cost", "algorithm", "noise", "alignment"}
    kinds = {"regret": pa.float64(), "side": pa.float64(), "period": pa.float64(), "anytime": pa.bool_()}
    kinds |= dict.fromkeys(words, pa.string())
    schema = pa.schema([(name, kinds.get(name, pa.int64())) for name in (*RUN, *SERIES)])
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for series, rows in store.chunks(GROUP):
            writer.write_table(pa.table(columns_of(rows, series), schema=schema))
            count += len(rows)
    return count
