"""Anybody's table, in memory or in a file, as a pandas table whose columns are numbers wherever they can be."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..arguments import shown

MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "."}
LONGEST_LINE = 1_000_000  # characters
BY_POSITION = ["x", "y", "standard error"]  # columns without names
FOREIGN = {b"PAR1": "a parquet file", b"PK\x03\x04": "a spreadsheet or archive", b"\x1f\x8b": "a compressed file"}


@dataclass(frozen=True)
class Table:
    """A pandas table, the texts that its numbers were read from (None: it came as numbers), and what was noticed."""

    frame: object
    texts: object | None = None
    remarks: tuple[str, ...] = ()

    def rows(self, keep) -> Table:
        def some(frame):
            return None if frame is None else frame.iloc[np.flatnonzero(keep)].reset_index(drop=True)

        return replace(self, frame=some(self.frame), texts=some(self.texts))

    def remarked(self, *words) -> Table:
        return replace(self, remarks=(*self.remarks, *words))


def table_of(source) -> Table:
    """From a pandas table, columns, records, an array, an object with a `frame`, a file, or a study's folder."""
    import pandas as pd

    if isinstance(source, Table):
        return source
    source = getattr(source, "frame", source)
    if isinstance(source, pd.Series):
        source = source.to_frame("y" if source.name is None else source.name)
    if isinstance(source, pd.DataFrame):
        return _of_frame(source)
    if isinstance(source, str | os.PathLike):
        return _of_file(Path(source))
    if hasattr(source, "read"):
        return _of_bytes(source.read(), str(getattr(source, "name", "the file")))
    if isinstance(source, np.ndarray):
        return _of_array(source)
    try:
        if isinstance(source, Mapping):
            return _of_frame(pd.DataFrame(dict(source)))
        if isinstance(source, list | tuple) and source and all(isinstance(row, Mapping) for row in source):
            return _of_frame(pd.DataFrame(list(source)))
        if isinstance(source, list | tuple) and source and not any(isinstance(row, str) for row in source):
            return _of_array(np.array(source, dtype=float))
    except (TypeError, ValueError) as error:
        raise ValueError(f"table = {shown(source)} is no table ({error})") from None
    raise ValueError(
        f"table = {shown(source)} is no table; take a pandas table, a dict of columns, a list of records, "
        "an array of two or three columns, what simulate gives, or a file's path"
    )


def _of_frame(frame) -> Table:
    kept = [name for name in frame.index.names if name is not None and name not in frame.columns]
    frame = frame.reset_index(level=kept).reset_index(drop=True) if kept else frame.reset_index(drop=True)
    frame.columns.name = None
    remarks = []
    for column in frame.columns:
        if frame.columns.is_unique and frame[column].map(type).eq(str).any():
            values, commas = _numbers(frame[column], None)
            if not isinstance(values[0], str):
                frame[column] = values
                remarks += _said_of(commas, column)
    return Table(frame, remarks=tuple(remarks))


def _said_of(commas, column) -> list[str]:
    kind = "decimal commas" if commas == "decimal points" else "commas"
    return [f"{kind} in column {str(column)!r} were read as {commas}"] if commas else []


def _of_array(array) -> Table:
    import pandas as pd

    if array.dtype.names:
        return Table(pd.DataFrame(array))
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ValueError(f"an array of shape {array.shape} is no table; two columns are x and y, a third is the error")
    return Table(pd.DataFrame(array, columns=BY_POSITION[: array.shape[1]]))


def _of_file(path: Path) -> Table:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except IsADirectoryError:
        return _of_study(path)
    return _of_bytes(content, str(path))


def _of_study(folder: Path) -> Table:
    import pandas as pd

    from ..store import Store, holds_runs

    if not holds_runs(folder):
        raise ValueError(f"{str(folder)!r} is a folder, not a table, and holds no runs of a study")
    with Store(folder) as store:
        cases = store.study()[1]
        names = [{"case": c.name, "family": c.family, "dim": c.dim, "algorithm": c.algorithm} for c in cases]
        frames = [
            store.frame(case.series.digest).assign(**name)[lambda frame, known=case.horizons: frame.horizon.isin(known)]
            for case, name in zip(cases, names, strict=True)
        ]
    frame = pd.concat(frames, ignore_index=True)
    return Table(frame[[*names[0], *(column for column in frame if column not in names[0])]])


def _of_bytes(content, name) -> Table:
    if isinstance(content, bytes):
        kind = next((kind for start, kind in FOREIGN.items() if content.startswith(start)), None)
        if kind is not None:
            raise ValueError(f"{name} is {kind}; save the table as CSV, or read it by pandas")
        try:
            content = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{name} is no text in UTF-8; save the table as CSV first") from None
    if "\0" in content:
        raise ValueError(f"{name} holds zero bytes and is no text; save the table as CSV first")
    if content.lstrip()[:1] in ("{", "["):
        raise ValueError(f"{name} looks like JSON; save the table as CSV, or read it by pandas")
    return _of_text(content, name)


def _of_text(content, name) -> Table:
    import pandas as pd

    lines = _unframed([(i, line) for i, line in enumerate(content.splitlines(), 1) if line.strip()])
    data = [(i, line) for i, line in lines if not line.lstrip().startswith("#")]
    if not data:
        raise ValueError(f"{name} is empty" if not lines else f"{name} holds nothing but comments")
    if (longest := max(data, key=lambda numbered: len(numbered[1])))[1][LONGEST_LINE:]:
        raise ValueError(f"line {longest[0]} of {name} has {len(longest[1])} characters; no line of a table is so long")
    try:
        delimiter = _delimiter([line for _, line in data])
        rows = [_fields(line, delimiter) for _, line in data]
    except csv.Error as error:
        raise ValueError(f"{name} cannot be read as lines of columns ({error})") from None
    remarks = []
    # a first line with numbers names the horizons of a wide table where a text stands before them
    wide = number(rows[0][0]) is None and len(rows) > 1 and number(rows[1][0]) is not None
    if any(number(field) is not None for field in rows[0]) and not wide:
        header = _commented(lines, delimiter, len(rows[0]))
        names = header or [f"column {i + 1}" for i in range(len(rows[0]))]
        numbered = data
    else:
        names, rows, numbered = rows[0], rows[1:], data[1:]
        header = names
    width = len(names)
    for (i, _), row in zip(numbered, rows, strict=True):
        if len(row) != width:
            hint = "; a decimal comma? then put ; or a tab between columns" if delimiter == "," else ""
            raise ValueError(f"line {i} of {name} has {len(row)} fields where {width} are expected{hint}")
    if len(set(names)) < width:
        twice = next(n for n in names if names.count(n) > 1)
        raise ValueError(f"{name} has two columns {twice!r}; give each a name of its own")
    texts = pd.DataFrame(rows, columns=names, dtype=object)
    columns = {}
    for column in names:
        columns[column], commas = _numbers(texts[column], delimiter)
        remarks += _said_of(commas, column)
    if header is None and width > 3:
        raise ValueError(f"{name} has {width} columns and no line that names them; add one")
    found = Table(pd.DataFrame(columns), texts, tuple(remarks))
    if header is None:
        position = dict(zip(names, BY_POSITION, strict=False))
        return replace(found, frame=found.frame.rename(columns=position), texts=texts.rename(columns=position))
    return found


def _unframed(lines) -> list:
    """A table of markdown or LaTeX without its frame, its cells apart by tabs; other lines as they are."""
    if not any("|" in line or "\\\\" in line for _, line in lines):
        return lines
    markdown = [(i, line) for i, line in lines if line.strip().startswith("|")]
    if len(markdown) > 2 and any(re.fullmatch(r"[\s|:+-]+", line) for _, line in markdown[1:2]):
        rows = [(i, line.strip().strip("|").split("|")) for i, line in markdown if not re.fullmatch(r"[\s|:+-]+", line)]
    elif sum(line.rstrip().endswith("\\\\") for _, line in lines) > 2:
        rows = [(i, re.split(r"\\\\|%", line)[0].split("&")) for i, line in lines if "&" in line]
    else:
        return lines
    return [(i, "\t".join(_unadorned(cell) for cell in row)) for i, row in rows]


def _unadorned(cell) -> str:
    cell = re.sub(r"\\(?:textbf|mathbf|textit|emph|text|num)\s*\{([^{}]*)\}", r"\1", cell)
    cell = re.sub(r"\\(?:top|mid|bottom)rule|\\hline|\\[,;!]", "", cell)
    cell = re.sub(r"\s*\\times\s*10\s*\^\s*\{?\s*(-?\d+)\s*\}?", r"e\1", cell)
    cell = cell.replace("$", "").replace("**", "").replace("`", "").replace("{,}", "").strip()
    return cell.replace("\\pm", "\N{PLUS-MINUS SIGN}").replace("\\%", "%").replace("\\_", "_").replace("\t", " ")


def _delimiter(lines) -> str | None:
    """The first of tab, semicolon and comma that every line has equally often; None: spaces."""
    for delimiter in (d for d in ("\t", ";", ",") if d in lines[0]):
        counts = {len(_fields(line, delimiter)) for line in lines}
        if len(counts) == 1 and counts != {1}:
            return delimiter
    if len({len(line.split()) for line in lines} | {1}) == 2:
        return None
    present = [d for d in ("\t", ";", ",") if d in lines[0]]
    return present[0] if present else None


def _fields(line, delimiter) -> list[str]:
    if delimiter is None:
        return line.split()
    if '"' not in line:  # most lines; several times as quick
        return [field.strip() for field in line.split(delimiter)]
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]


def _commented(lines, delimiter, width) -> list[str] | None:
    comments = []
    for _, line in lines:
        if not line.lstrip().startswith("#"):
            break
        comments.append(line.lstrip().lstrip("#").strip())
    fields = _fields(comments[-1], delimiter) if comments else []
    if len(fields) != width and comments:
        fields = comments[-1].split()
    return fields if len(fields) == width and not any(number(f) is not None for f in fields) else None


def number(text) -> float | None:
    """What a text says: 0.5, 1e-3, 1/64, 2^10, 2**10, 10k, 1.3B; None where it is no number."""
    text = str(text).strip().replace("\N{MINUS SIGN}", "-")
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        pass
    try:
        if match := re.fullmatch(r"(-?[\d.]+)\s*(?:\^|\*\*)\s*\(?(-?[\d.]+)\)?", text):
            return float(match[1]) ** float(match[2])
        if match := re.fullmatch(r"([\d.]+)\s*([kKMB])", text):
            return float(match[1]) * {"k": 1e3, "M": 1e6, "B": 1e9}[match[2].replace("K", "k")]
        if re.fullmatch(r"-?\d+\s*/\s*\d+", text):
            return float(Fraction(text.replace(" ", "")))
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    return None


def _numbers(texts, delimiter):
    """A column as numbers where all of it are, and what was said of its commas; missing entries are nan."""
    stripped = [str(t).strip() for t in texts]
    absent = [t.lower() in MISSING for t in stripped]
    readings = [(stripped, "")]
    if _has_thousands(stripped, delimiter):
        readings.append(([t.replace(",", "") for t in stripped], "separators of thousands"))
    if delimiter != "," and not any("." in t for t in stripped):
        readings.append(([t.replace(",", ".", 1) for t in stripped], "decimal points"))
    for reading, commas in readings:
        found = [np.nan if gone else number(t) for t, gone in zip(reading, absent, strict=True)]
        if not all(absent) and None not in found:
            return found, commas
    return stripped, ""


def _has_thousands(texts, delimiter) -> bool:
    """Groups of three digits, and something that says that their commas are not decimal ones."""
    grouped = [t for t in texts if "," in t]
    if not grouped or not all(re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", t) for t in grouped):
        return False
    return delimiter == "," or len(grouped) < len(texts) or any(t.count(",") > 1 or "." in t for t in grouped)


def half_units(texts, values) -> np.ndarray:
    """Half a unit of the last digit of each value: all of a column have as many decimals, or significant digits."""
    values = np.abs(np.asarray(values, dtype=float))
    exact = np.finfo(float).eps * values
    if texts is None:
        return exact
    parts = [re.fullmatch(r"[+-]?(\d*)[.,]?(\d*)(?:[eE]([+-]?\d+))?", str(t).strip()) for t in texts]
    if not parts or any(part is None for part in parts):
        return exact
    last = [int(p[3] or 0) - len(p[2]) for p in parts]  # power of ten of the last digit
    digits = max(len((p[1] + p[2]).lstrip("0")) for p in parts)
    if len(set(last)) == 1 and not any(p[3] for p in parts) and last[0] < 0:
        return np.maximum(np.full(len(values), 0.5 * 10.0 ** last[0]), exact)
    with np.errstate(divide="ignore"):
        leading = np.floor(np.log10(values))
    return np.maximum(np.where(values > 0, 0.5 * 10.0 ** (leading - digits + 1), 0.0), exact)
