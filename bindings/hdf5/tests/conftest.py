"""Shared by the tests: reference files, the plugins under test, and child processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[3] / "testdata" / "rice"
MANIFEST = json.loads((DATA / "manifest.json").read_text())
#: Timeout of child processes in seconds.
TIMEOUT = 100


def pytest_configure():
    if not os.environ.get("HDF5_PLUGIN_PATH"):
        raise pytest.UsageError("HDF5_PLUGIN_PATH is not set: run `make test-hdf5`")


@pytest.fixture(scope="session")
def plugins() -> Path:
    """The folder that holds only the plugins under test."""
    return Path(os.environ["HDF5_PLUGIN_PATH"])


def run(*command, env=None) -> subprocess.CompletedProcess:
    """Runs a program and returns its output and exit status."""
    env = {**os.environ, **(env or {})}
    command = [str(part) for part in command]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT)


def run_tool(*command, env=None) -> str:
    """Runs a program, which must succeed, and returns its standard output."""
    done = run(*command, env=env)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_python(code: str, *arguments, env=None) -> str:
    """Runs Python code in a child process, which must succeed; returns its output."""
    return run_tool(sys.executable, "-c", code, *arguments, env=env)


def words(*values: int) -> bytes:
    """Returns a chunk that consists of these little-endian 32-bit words."""
    return np.array(values, "<u4").tobytes()


def walk(shape, dtype="<i2", seed=1) -> np.ndarray:
    """Returns rows of random walks, which depend only on the arguments."""
    steps = np.random.default_rng(seed).integers(-9, 10, shape)
    return np.cumsum(steps, axis=-1).astype(dtype)


#: The cd_values after m and segment if the filter chose the segment: the number of coefficients,
#: the default coefficients 1 and -1, and a marker.
AUTO_SEGMENT = (2, 1, 2**32 - 1, int.from_bytes(b"auto", "little"))


def options(dataset) -> tuple:
    """Returns the cd_values that are stored for the first filter of a dataset."""
    return dataset.id.get_create_plist().get_filter(0)[2]
