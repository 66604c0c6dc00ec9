"""``linerate gateway serve``, the program's gateway on loopback."""

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import REPOSITORY


def program():
    """The program: that of LINERATE_BIN, or what cargo built last."""
    if "LINERATE_BIN" in os.environ:
        return Path(os.environ["LINERATE_BIN"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    built = [target / profile / "linerate" for profile in ("debug", "release")]
    built = [path for path in built if os.access(path, os.X_OK)]
    if not built:
        pytest.skip("SKIP: there is no program to serve: cargo build --package linerate, or LINERATE_BIN")
    return max(built, key=lambda path: path.stat().st_mtime)


class Served:
    """Where it listens, and once it has ended, what it reports."""

    host: str
    report: dict


@contextmanager
def serve(*options):
    """Serves for as long as the block runs, or for a minute."""
    command = [program(), "gateway", "serve", "--json", "--for", "60", *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    served = Served()
    try:
        listening = json.loads(process.stdout.readline())
        served.host = "127.0.0.1:{}".format(listening["port"])
        yield served
        process.terminate()
        rest, _ = process.communicate(timeout=10)
        served.report = json.loads(rest.splitlines()[-1]) if rest.strip() else {}
    finally:
        process.kill()
        process.wait()
