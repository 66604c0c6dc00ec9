"""Prints measurements as JSON Lines, as records/README.md describes them, and runs interleaved rounds.

`python bench/lines.py COMMAND [NAME=VERSION]...` prints only a run line, for harnesses in other languages.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]


def cpu() -> str:
    """Returns the CPU's name with family and model, because virtual machines give several generations the same name."""
    try:
        fields = dict(re.findall(r"^([^\t:]+)\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M))
    except OSError:
        fields = {}
    name = fields.get("model name", platform.machine())
    if "cpu family" in fields and "model" in fields:
        name += f" (family {fields['cpu family']} model {fields['model']})"
    return name


def linerate() -> str:
    """Returns Linerate's version, and the commit if the sources are a git checkout."""
    version = re.search(r'^version = "(.*)"', (REPOSITORY / "Cargo.toml").read_text(), re.M)[1]
    git = ["git", "-C", REPOSITORY, "describe", "--always", "--dirty", "--tags"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return f"{version} {commit}".strip()


def command(program: str, arguments: Sequence[str]) -> str:
    """Returns the command with only the last component of absolute paths, and with `LINERATE_CPU` if it is set."""
    tier = os.environ.get("LINERATE_CPU")
    words = [re.sub(r"(^|=)/\S*/(?=[^/])", r"\1", word) for word in arguments]
    return shlex.join([*([f"LINERATE_CPU={tier}"] if tier else []), program, *words])


def run(command: str, versions: Mapping[str, str], version: str = "") -> None:
    """Prints the line of a run. `version` is that of Linerate, by default that of this checkout.
    `versions` has the versions of the other contenders. A contender gets the version under the
    longest name with which its own name begins."""
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": cpu(),
        "linerate": version or linerate(),
        "command": command,
        "versions": dict(versions),
    }
    _print({"run": about})


def measurement(
    shape: str, data: str, contender: str, params: Mapping[str, Any], metrics: Mapping[str, Any]
) -> None:
    """Prints the line of a measurement. Parameters and metrics that are None, and empty lists, are
    left out. A metric is a number, or a list with the value of each round."""
    known = {name: figure(value) for name, value in metrics.items() if value not in (None, [])}
    params = {name: value for name, value in params.items() if value is not None}
    line = {"shape": shape, "data": data, "contender": contender, "params": params, "metrics": known}
    _print(line)


def figure(value: float | Sequence[float]) -> Any:
    """Returns a number as it is if it is an integer, else to six digits. For the values of rounds,
    returns median, lowest and highest to six digits, or one number if these are equal."""
    if isinstance(value, (int, float)):
        return value if isinstance(value, int) else _digits(value)
    middle, low, high = map(_digits, (median(value), min(value), max(value)))
    return middle if low == high else {"median": middle, "low": low, "high": high}


def rounds(count: int, turns: Sequence[Callable[[], None]]) -> None:
    """Gives every contender a turn in each round, beginning with a different one each time."""
    for start in range(count):
        for i in range(len(turns)):
            turns[(start + i) % len(turns)]()


def _digits(value: float) -> float:
    value = float(f"{value:.6g}")
    return int(value) if value.is_integer() else value


def _print(line: Mapping[str, Any]) -> None:
    print(json.dumps(line, ensure_ascii=False, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not all("=" in word for word in sys.argv[2:]):
        print("usage: python bench/lines.py COMMAND [NAME=VERSION]...", file=sys.stderr)
        sys.exit(2)
    run(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:]))
