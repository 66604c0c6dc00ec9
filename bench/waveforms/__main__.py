"""Measures Delta-Rice beside other codecs on detector waveforms, and prints JSON Lines.

Run as `python bench/waveforms`, or by `make bench-waveforms`. docs/reference/bench-waveforms.md says how it measures.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
import codecs_in_memory
import filter_plugin
import lines
import measure
import sets
import through_hdf5
from measure import HDF5, MEMORY, Method


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    words = lambda text: [word for word in text.split(",") if word]
    parser = argparse.ArgumentParser(prog="bench/waveforms", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--corpus", type=Path, help="folder with .npy recordings [default: $LINERATE_CORPORA/waveforms]")
    add("--set", type=words, default=[], help="only sets whose names contain one of these, as a,b,c")
    add("--only", type=words, default=[], help="only methods whose names contain one of these")
    add("--through", type=words, default=[HDF5, MEMORY], help="hdf5, memory or both [default: both]")
    add("--threads", type=int, default=os.cpu_count() or 1, help="threads of the methods with several")
    add("--rounds", type=int, default=5, help="times that each method is measured [default: 5]")
    add("--fraction", type=float, default=1.0, help="take only this part of each set's rows")
    add("--every-m", action="store_true", help="version 1 in memory with every m, not only 8 and the best")
    add("--against", metavar="[NAME=]PLUGIN.so[:SYMBOL]", help="another build of filter 32025 to measure too")
    add("--generator", type=Path, help="the program linerate-bench, for the generated sets")
    add("--scratch", type=Path, default=Path("/dev/shm"), help="folder in memory [default: /dev/shm]")
    parsed = parser.parse_args(arguments)
    if parsed.rounds < 1 or parsed.threads < 1 or not 0 < parsed.fraction <= 1:
        parser.error("rounds and threads are at least 1, the fraction is above 0 and at most 1")
    if unknown := {*parsed.through} - {HDF5, MEMORY}:
        parser.error(f"through hdf5 or memory, not {', '.join(unknown)}")
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
    """Returns the available methods. Lists the others on standard error."""
    against = filter_plugin.Plugin(arguments.against) if arguments.against else None
    rows = []
    if HDF5 in arguments.through:
        rows += through_hdf5.rows(folder, arguments.threads, against)
    if MEMORY in arguments.through:
        rows += codecs_in_memory.rows(arguments.threads, against, arguments.every_m)
    for row in rows:
        if not isinstance(row, Method) and wanted(row[0], arguments.only):
            print(f"not measured: {row[0]}: {row[1]}", file=sys.stderr)
    return [row for row in rows if isinstance(row, Method) and wanted(row.name, arguments.only)]


def shape(arguments: argparse.Namespace) -> str:
    """Returns the shape of the records. Runs with other purposes have shapes of their own."""
    if arguments.against:
        return "waveforms-original"
    return "rice-every-m" if arguments.every_m else "waveforms"


def versions_of(methods: Iterable[Method]) -> dict[str, str]:
    """Returns the versions of packages by their names. Methods whose names begin otherwise than their
    packages', such as "flac 5" of soundfile, also have them under their first word."""
    versions: dict[str, str] = {}
    for method in methods:
        versions |= method.version
        if method.version and not method.name.startswith(("linerate", *method.version)):
            word = method.name.split()[0].rstrip(",")
            versions[word] = " ".join(f"{name} {version}" for name, version in method.version.items())
    return versions


def run(arguments: argparse.Namespace, command: str) -> int:
    """Measures all methods with all sets, and prints. Returns the number of sets."""
    count = 0
    with tempfile.TemporaryDirectory(prefix="linerate-", dir=arguments.scratch) as scratch:
        folder = Path(scratch)
        methods = all_methods(arguments, folder)
        versions = {"python": platform.python_version(), "numpy": np.__version__} | versions_of(methods)
        for count, set in enumerate(all_sets(arguments, folder), 1):
            if count == 1:
                lines.run(command, versions)
            back = np.empty_like(set.array)
            makers = [partial(method.make, set.array, back) for method in methods]
            for method, outcome in zip(methods, measure.run(makers, arguments.rounds), strict=True):
                if outcome.failure:
                    print(f"not measured: {method.name}, {set.name}: {outcome.failure}", file=sys.stderr)
                    continue
                channels = set.array.shape[1] if set.array.shape[1] <= sets.FRAME else None
                params = {
                    "through": method.through,
                    "threads": method.threads,
                    "dtype": set.array.dtype.name,
                    "channels": channels,
                    "tier": os.environ.get("LINERATE_CPU") or None,
                }
                metrics = outcome.metrics(set.array.nbytes)
                lines.measurement(shape(arguments), set.name, method.name, params, metrics)
    return count


def main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    try:
        count = run(arguments, lines.command("bench/waveforms", argv))
    except (OSError, ValueError) as e:
        print(f"bench/waveforms: {e}", file=sys.stderr)
        return 1
    if not count:
        print("bench/waveforms: nothing to measure", file=sys.stderr)
    return int(not count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
