"""Date, CPU, versions and command of a measurement."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path


def date() -> str:
    """Today in UTC, as 2026-01-31."""
    return datetime.now(UTC).date().isoformat()


def cpu() -> str:
    """The CPU's name with family and model, since virtual machines name several generations alike."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return platform.machine()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = fields.get("model name", platform.machine())
    if "cpu family" in fields and "model" in fields:
        name += f" (family {fields['cpu family']} model {fields['model']})"
    return name


def python() -> str:
    """The interpreter and NumPy."""
    import numpy

    return f"{platform.python_version()} numpy {numpy.__version__}"


def command(arguments: Sequence[str]) -> str:
    """The command without details of the machine: only the last component of absolute paths, no options for output
    and scratch paths; with `LINERATE_CPU` if it is set."""
    places = ("--csv", "--generator", "--scratch")
    kept = []
    rest = iter(arguments)
    for argument in rest:
        if argument in places:
            next(rest, None)
        elif not argument.startswith(tuple(f"{place}=" for place in places)):
            kept.append(_without_folders(argument))
    tier = os.environ.get("LINERATE_CPU")
    return shlex.join([*([f"LINERATE_CPU={tier}"] if tier else []), "bench/waveforms", *kept])


def _without_folders(argument: str) -> str:
    option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
    if value.startswith("/"):
        value = Path(value).name
    return option + equals + value
