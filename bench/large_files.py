"""Times `linerate gzip -d` or `linerate zstd -d` on one large file with several threads, in turn with other programs that are
installed, and prints JSON Lines.

    python bench/large_files.py --linerate target/dist/linerate --threads 1,2,4 FILE...

Every FILE (.gz or .zst) is decompressed to /dev/null by a whole process. If FILE.gzidx exists, FILE
is also decompressed with that index. `cores` in the output is the number of CPUs of the machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import lines
from zstd_command import timed

SHAPE = "large-files"

SUBCOMMANDS = {".gz": "gzip", ".zst": "zstd"}
# The commands that are measured for each number of threads, by the suffix of the file. `{}` is the
# number.
THREADED = {
    ".gz": {"linerate": "LINERATE gzip -d -p{}", "rapidgzip": "rapidgzip -P {} -d"},
    ".zst": {"linerate": "LINERATE zstd -d -q -T{}"},
}
# The commands that are also measured for each number of threads if the file has an index. `INDEX`
# is its path.
INDEXED = {
    "linerate, index": "LINERATE gzip -d -p{} --index-file INDEX",
    "rapidgzip, index": "rapidgzip -P {} --import-index INDEX -d",
}
# The commands that have one thread, whatever the option --threads says.
SINGLE = {
    ".gz": {"gzip": "gzip -d", "igzip": "igzip -d", "libdeflate": "libdeflate-gunzip"},
    ".zst": {"zstd": "zstd -d -q"},
}


def version(program: str, option: str = "-V") -> str | None:
    """Returns the version that a program prints with this option, "" if it prints none, and None if
    it is not installed."""
    if not shutil.which(program):
        return None
    said = subprocess.run([program, option], capture_output=True, text=True, check=False)
    found = re.search(r"[0-9]+\.[0-9.]*[0-9]", said.stdout + said.stderr)
    return found[0] if found else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--linerate", default="target/dist/linerate", help="the program")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()

    programs = {name: name for name in ("rapidgzip", "gzip", "igzip", "zstd")} | {"libdeflate": "libdeflate-gunzip"}
    versions = {name: version(program) for name, program in programs.items()}
    missing = [name for name, said in versions.items() if said is None]
    if missing:
        print(f"not installed, and left out: {', '.join(missing)}", file=sys.stderr)
    command = lines.command("large_files.py", sys.argv[1:])
    lines.run(command, {name: said for name, said in versions.items() if said is not None})
    for file in args.files:
        threaded = dict(THREADED[file.suffix])
        if index_of(file).exists():
            threaded |= INDEXED
        threaded = {name: line for name, line in threaded.items() if name.split(",")[0] not in missing}
        contenders = {(name, 1): line for name, line in SINGLE[file.suffix].items() if name not in missing}
        for threads in map(int, args.threads.split(",")):
            contenders |= {(name, threads): line.format(threads) for name, line in threaded.items()}
        measure(file, contenders, args)


def index_of(file: Path) -> Path:
    """Returns the path where `linerate gzip --index` puts the index of a file."""
    return file.with_name(file.name + ".gzidx")


def measure(file: Path, contenders: dict[tuple[str, int], str], args: argparse.Namespace) -> None:
    """Measures all contenders, named with their number of threads, on a file, and prints a line for
    each."""
    decode = [args.linerate, SUBCOMMANDS[file.suffix], "-dc", file]
    content = len(subprocess.run(decode, stdout=subprocess.PIPE, check=True).stdout) / 1e6
    found: dict[tuple[str, int], list[tuple[float, float]]] = {key: [] for key in contenders}

    paths = {"LINERATE": args.linerate, "INDEX": str(index_of(file))}

    def turn(key: tuple[str, int]) -> None:
        words = [paths.get(word, word) for word in contenders[key].split()]
        found[key].append(timed([*words, str(file)], "null", Path()))

    lines.rounds(args.rounds, [partial(turn, key) for key in contenders])
    for (name, threads), rounds in found.items():
        metrics = {
            "decode": [content / elapsed for elapsed, _ in rounds],
            "decode_cpu": [content / cpu for _, cpu in rounds],
        }
        lines.measurement(SHAPE, file.name, name, {"threads": threads, "cores": os.cpu_count()}, metrics)


if __name__ == "__main__":
    main()
