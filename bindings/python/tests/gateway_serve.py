"""Runs ``linerate gateway serve``, a gateway on the loopback interface."""

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import REPOSITORY


def program():
    """Path of the program: ``LINERATE_BIN``, or the newest build in the target folder."""
    if "LINERATE_BIN" in os.environ:
        return Path(os.environ["LINERATE_BIN"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    built = [target / profile / "linerate" for profile in ("debug", "release")]
    built = [path for path in built if os.access(path, os.X_OK)]
    if not built:
        pytest.skip("SKIP: no program: run cargo build --package linerate, or set LINERATE_BIN")
    return max(built, key=lambda path: path.stat().st_mtime)


class Server:
    """A running gateway: its address, and its report after it has ended."""

    host: str
    report: dict


@contextmanager
def serve(*options):
    """Serves until the ``with`` block ends, but at most a minute."""
    command = [program(), "gateway", "serve", "--json", "--for", "60", *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    server = Server()
    try:
        listening = json.loads(process.stdout.readline())
        server.host = "127.0.0.1:{}".format(listening["port"])
        yield server
        process.terminate()
        rest, _ = process.communicate(timeout=10)
        server.report = json.loads(rest.splitlines()[-1]) if rest.strip() else {}
    finally:
        process.kill()
        process.wait()
