"""Times `linerate zstd -d` beside `zstd -d` as whole processes in turn, and prints JSON Lines.

    python bench/zstd_command.py --linerate target/dist/linerate --folder DIR FILE...

Every FILE (.zst) is decompressed to each of three outputs: /dev/null, a pipe that `cat` reads, and
a file in DIR, which is deleted before each run, so that it is always new. A figure has the median,
the lowest and the highest of the rounds.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import lines

SHAPE = "zstd-command"


def timed(arguments: list[str], output: str, folder: Path) -> tuple[float, float]:
    """Runs a command with its output to "null", "pipe" or "file", and returns its elapsed and CPU
    seconds."""
    words = [*arguments, "-c"]
    reader = None
    with open(os.devnull, "r+b") as null:
        stdout = null.fileno()
        if output == "file":
            target = folder / "zstd-command.out"
            target.unlink(missing_ok=True)
            words = [*arguments, "-o", str(target)]
        elif output == "pipe":
            reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=null)
            stdout = reader.stdin.fileno()
        actions = [(os.POSIX_SPAWN_DUP2, null.fileno(), 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
        begun = time.perf_counter()
        child = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        elapsed = time.perf_counter() - begun
        if reader:
            reader.stdin.close()
            reader.wait()
    if status != 0:
        sys.exit(f"{' '.join(words)}: status {status}")
    return elapsed, usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--linerate", default="target/dist/linerate", help="the program")
    parser.add_argument("--folder", type=Path, required=True, help="where outputs are written")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()

    version = subprocess.run(["zstd", "--version"], capture_output=True, text=True, check=True).stdout
    lines.run("linerate zstd -d -q beside zstd -d -q", {"zstd": re.search(r"v([0-9.]+)", version)[1]})
    contenders = {"linerate": [args.linerate, "zstd"], "zstd": ["zstd"]}
    for file in args.files:
        for output in ("null", "pipe", "file"):
            found = {name: [] for name in contenders}

            def turn(name: str) -> None:
                found[name].append(timed([*contenders[name], "-d", "-q", str(file)], output, args.folder))

            lines.rounds(args.rounds, [partial(turn, name) for name in contenders])
            for name, rounds in found.items():
                metrics = {"elapsed": [elapsed for elapsed, _ in rounds], "cpu": [cpu for _, cpu in rounds]}
                params = {"options": "-d", "output": output}
                if name == "linerate":
                    params["base"] = "zstd"
                    pairs = list(zip(rounds, found["zstd"]))
                    metrics["elapsed_by_base"] = [ours[0] / theirs[0] for ours, theirs in pairs]
                    metrics["cpu_by_base"] = [ours[1] / max(theirs[1], 1e-6) for ours, theirs in pairs]
                lines.measurement(SHAPE, file.name, name, params, metrics)
    (args.folder / "zstd-command.out").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
