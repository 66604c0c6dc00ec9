"""What several tests share."""

import subprocess
import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]


def waves(shape=(6, 1000), dtype="int16", seed=1, noise=5):
    """Decaying pulses over noise, like those of a detector. The last axis is time."""
    rng = np.random.default_rng(seed)
    time = np.arange(shape[-1])
    one_each = (*shape[:-1], 1)
    start = rng.integers(0, max(1, shape[-1] // 2), one_each)
    height = rng.uniform(100, 4000, one_each)
    pulse = height * np.exp(-(time - start).clip(0) / (shape[-1] / 4)) * (time >= start)
    baseline = 20_000 if np.dtype(dtype).kind == "u" else 0
    return (pulse + rng.normal(0, noise, shape) + baseline).astype(dtype)


def run_python(code, timeout=120, **options):
    """Runs ``code`` in another process, which must end by itself and well; returns its output."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
