"""Records of measurements: a line of CSV for each method and set."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

from measure import Outcome, speed
from methods import Method
from sets import Set

#: The columns in file order; docs/reference/bench-waveforms.md explains them.
COLUMNS = (
    "shape",
    "date",
    "cpu",
    "python",
    "linerate",
    "corpus",
    "bytes",
    "dtype",
    "rows",
    "row_samples",
    "contender",
    "contender_version",
    "threads",
    "size_percent",
    "encode_best_mb_s",
    "encode_median_mb_s",
    "encode_cpu_best_mb_s",
    "encode_cpu_median_mb_s",
    "decode_best_mb_s",
    "decode_median_mb_s",
    "decode_cpu_best_mb_s",
    "decode_cpu_median_mb_s",
    "rounds",
    "note",
    "command",
)

Record = dict[str, str]


def of(method: Method, set: Set, outcome: Outcome, rounds: int, about: Mapping[str, str]) -> Record:
    """The line of a method; with a failure, only the note. `about` has date, cpu and the like."""
    record = dict.fromkeys(COLUMNS, "")
    record |= about
    record |= {
        "shape": method.shape,
        "corpus": set.name,
        "bytes": str(set.array.nbytes),
        "dtype": set.array.dtype.name,
        "rows": str(set.array.shape[0]),
        "row_samples": str(set.array.shape[1]),
        "contender": method.label,
        "contender_version": method.version,
        "threads": str(method.threads),
        "rounds": str(rounds),
        "note": outcome.failure,
    }
    if not outcome.failure:
        record["size_percent"] = f"{100 * outcome.size / set.array.nbytes:.3f}"
        for what, times in (("encode", outcome.encode), ("decode", outcome.decode)):
            for clock, seconds in (("", times.wall), ("cpu_", times.cpu)):
                record[f"{what}_{clock}best_mb_s"] = f"{speed(set.array.nbytes, seconds):.1f}"
                record[f"{what}_{clock}median_mb_s"] = f"{speed(set.array.nbytes, seconds, median):.1f}"
    return record


def append(path: Path, records: Iterable[Record]) -> None:
    """Adds lines to a file, and the header to one that is new or empty.

    Raises ValueError if the file has other columns; it is then left alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", newline="", encoding="utf-8") as file:
        file.seek(0)
        header = next(csv.reader(file), None)
        if header not in (None, list(COLUMNS)):
            raise ValueError(f"{path} has other columns")
        file.seek(0, 2)
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if header is None:
            writer.writeheader()
        writer.writerows(records)


def read(path: Path) -> list[Record]:
    """All lines of a file. Raises ValueError if it has other columns."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != list(COLUMNS):
            raise ValueError(f"{path} has other columns")
        return list(reader)
