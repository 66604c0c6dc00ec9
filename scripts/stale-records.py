#!/usr/bin/env python3
"""Lists the runs in records whose measured code has changed since: stale-records.py [RECORD...]

Without arguments it reads all records/*.jsonl. Each line names a record, the date, commit and CPU
of its runs, how many measurements they have, and the changed files. The Rust code of the measured
crates is compared without comments, literals and unit tests, so that new words do not make a run
stale. The exit status is 1 if a run is stale.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

# The crates that a record measures, by the start of its file name. The first match counts.
MEASURED = {
    "bytes": "deflate",
    "threads": "deflate",
    "servers": "deflate",
    "http": "deflate http",
    "websocket": "deflate inflate websocket",
    "inflate": "inflate",
    "frames": "zstd",
    "zstd-": "zstd",
    "large-files": "deflate inflate zstd",
    "archives": "nx zstd",
    "nx-": "nx zstd",
    "large-folders": "nx zstd",
    "messages": "deflate gateway inflate zstd",
    "gateway-": "gateway inflate zstd",
    "cold": "dict zstd",
    "dictionary-sizes": "dict zstd",
    "packs": "dict",
    "sst": "dict zstd",
    "rocksdb": "dict zstd",
    "waveforms": "rice",
    "rice-": "rice",
    "gpu": "rice",
    "plan-": "candidates plan",
}
# Matches comments, and literals, which may contain what looks like a comment. Block comments of
# Rust may nest, but those of this project do not.
WORDS = re.compile(r'b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], capture_output=True, text=True)


@cache
def code(commit: str, file: str) -> str:
    """Returns a Rust file of a commit without comments, literals, spaces, commas and unit tests,
    and "" if there is no such file."""
    text = git("show", f"{commit}:{file}").stdout.split("#[cfg(test)]\nmod ")[0]
    return re.sub(r"[\s,]+", "", WORDS.sub("", text))


@cache
def changed(commit: str, crate: str) -> list[str]:
    names = git("diff", "--name-only", "--no-renames", commit, "HEAD", "--", f"crates/{crate}/src")
    rust = [file for file in names.stdout.split() if file.endswith(".rs") and "/tests" not in file]
    return [file for file in rust if code(commit, file) != code("HEAD", file)]


def crates(record: Path) -> list[str]:
    for start, measured in MEASURED.items():
        if record.name.startswith(start):
            return measured.split()
    sys.exit(f"{record}: add it to MEASURED in {__file__}")


def runs(record: Path) -> Counter[tuple[str, str, str]]:
    """Returns date, version and CPU of the runs that measured Linerate, with their number of
    measurements."""
    found: Counter[tuple[str, str, str]] = Counter()
    run = None
    for line in record.read_text().splitlines():
        value = json.loads(line)
        if "run" in value:
            fields = value["run"]
            run = "linerate" in fields and (fields["date"], fields["linerate"], fields["cpu"])
        elif run:
            found[run] += 1
    return found


def reason(version: str, record: Path) -> str:
    """Returns why a run of this version, which ends with its commit, is stale; "" if it is not."""
    commit = next(iter(re.findall(r"\b[0-9a-f]{7,40}\b", version)), "")
    if git("cat-file", "-e", f"{commit}^{{commit}}").returncode:
        return "its commit is unknown"
    if version.split()[-1] != commit:
        return "not of a clean commit"
    files = [file for crate in crates(record) for file in changed(commit, crate)]
    return f"{len(files)} files changed: " + ", ".join(files[:3]) if files else ""


def main() -> int:
    records = [Path(name) for name in sys.argv[1:]] or sorted(Path("records").glob("*.jsonl"))
    total = stale = 0
    for record in records:
        for (date, version, cpu), count in runs(record).items():
            total += count
            if why := reason(version, record):
                stale += count
                print(f"{record.name}: {date} {version}, {cpu}, {count} measurements: {why}")
    print(f"{stale} of {total} measurements are of other code")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
