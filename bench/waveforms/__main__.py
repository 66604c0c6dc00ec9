"""Measures Delta-Rice beside other codecs on detector waveforms. docs/reference/bench-waveforms.md says how.

Run as `python bench/waveforms`, or by `make bench-waveforms`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import codecs_in_memory
import environment
import filter_plugin
import measure
import ours
import record
import sets
import tables
import through_hdf5
from methods import HDF5, MEMORY, Method


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    words = lambda text: [word for word in text.split(",") if word]
    parser = argparse.ArgumentParser(prog="bench/waveforms", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--corpus", type=Path, help="folder with .npy recordings [default: $LINERATE_CORPORA/waveforms]")
    add("--set", type=words, default=[], help="only sets whose names contain one of these, as a,b,c")
    add("--only", type=words, default=[], help="only methods whose names contain one of these")
    add("--shape", type=words, default=[HDF5, MEMORY], help="hdf5, memory or both [default: both]")
    add("--threads", type=int, default=os.cpu_count() or 1, help="threads of the rows with several")
    add("--rounds", type=int, default=5, help="times that each method is measured [default: 5]")
    add("--fraction", type=float, default=1.0, help="take only this part of each set's rows")
    add("--clock", choices=["wall", "cpu"], default="wall", help="what the tables show")
    add("--statistic", choices=["best", "median"], default="best", help="what the tables show")
    add("--every-m", action="store_true", help="version 1 in memory with every m, not only 8 and the best")
    add("--against", metavar="PLUGIN.so[:SYMBOL]", help="another build of filter 32025 to measure too")
    add("--csv", type=Path, help="add the records to this file")
    add("--generator", type=Path, help="the program linerate, for the generated sets")
    add("--scratch", type=Path, default=Path("/dev/shm"), help="folder in memory [default: /dev/shm]")
    parsed = parser.parse_args(arguments)
    if parsed.rounds < 1 or parsed.threads < 1 or not 0 < parsed.fraction <= 1:
        parser.error("rounds and threads are at least 1, the fraction is above 0 and at most 1")
    if unknown := {*parsed.shape} - {HDF5, MEMORY}:
        parser.error(f"no such shape: {', '.join(unknown)}")
    return parsed


def wanted(name: str, parts: Sequence[str]) -> bool:
    return not parts or any(part in name for part in parts)


def all_sets(arguments: argparse.Namespace, folder: Path) -> Iterator[sets.Set]:
    if arguments.generator is not None:
        for name in sets.GENERATED:
            if wanted(name, arguments.set):
                yield sets.generated(name, arguments.generator, folder, arguments.fraction)
    corpora = os.environ.get("LINERATE_CORPORA")
    corpus = arguments.corpus or (Path(corpora) / "waveforms" if corpora else None)
    if corpus is not None:
        if not corpus.is_dir():
            raise ValueError(f"{corpus} is not a folder")
        found = sets.recorded(corpus, arguments.fraction)
        yield from (set for set in found if wanted(set.name, arguments.set))


def all_methods(arguments: argparse.Namespace, folder: Path) -> list[Method]:
    """The available methods; the others are listed on standard error."""
    against = filter_plugin.Plugin(arguments.against) if arguments.against else None
    rows = []
    if HDF5 in arguments.shape:
        rows += through_hdf5.rows(folder, arguments.threads, against)
    if MEMORY in arguments.shape:
        rows += codecs_in_memory.rows(arguments.threads, against, arguments.every_m)
    for row in rows:
        if not isinstance(row, Method) and wanted(row[0], arguments.only):
            print(f"not measured: {row[0]}: {row[1]}", file=sys.stderr)
    return [row for row in rows if isinstance(row, Method) and wanted(row.label, arguments.only)]


def progress(what: str) -> None:
    """One line on a terminal, overwriting the last one."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def run(arguments: argparse.Namespace, about: dict[str, str]) -> list[record.Record]:
    records: list[record.Record] = []
    if arguments.csv:
        record.append(arguments.csv, [])  # before a long run: can it be written?
    with tempfile.TemporaryDirectory(prefix="linerate-", dir=arguments.scratch) as scratch:
        folder = Path(scratch)
        methods = all_methods(arguments, folder)
        for set in all_sets(arguments, folder):
            back = np.empty_like(set.array)
            makers = [partial(method.make, set.array, back) for method in methods]
            say = lambda what, name=set.name: progress(f"{name}: {what}")
            outcomes = measure.run(makers, arguments.rounds, say)
            of_set = [
                record.of(method, set, outcome, arguments.rounds, about)
                for method, outcome in zip(methods, outcomes, strict=True)
            ]
            if arguments.csv:
                record.append(arguments.csv, of_set)
            records += of_set
    progress("")
    return records


def report(records: Sequence[record.Record], arguments: argparse.Namespace) -> str:
    clock = "cpu_" if arguments.clock == "cpu" else ""
    how = f"{arguments.clock} time, {arguments.statistic} of {arguments.rounds} rounds"
    parts = []
    for shape, title in ((HDF5, "Through h5py and HDF5"), (MEMORY, "In memory")):
        if any(r["shape"] == shape for r in records):
            parts.append(f"{title}: size % · write/read MB/s, {how}")
            parts.append(tables.table(records, shape, clock, arguments.statistic))
    if text := tables.goals(records, clock):
        parts += [f"Ratios, {arguments.clock} time, best round", text]
    if text := tables.failures(records):
        parts += ["Failed", text]
    return "\n\n".join(parts)


def main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    about = {
        "date": environment.date(),
        "cpu": environment.cpu(),
        "python": environment.python(),
        "linerate": ours.version(),
        "command": environment.command(argv),
    }
    try:
        records = run(arguments, about)
    except (OSError, ValueError) as e:
        print(f"bench/waveforms: {e}", file=sys.stderr)
        return 1
    if not records:
        print("bench/waveforms: nothing to measure", file=sys.stderr)
        return 1
    print(report(records, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
