"""Helpers of several tests: samples, processes, crafted chunks."""

import ctypes
import random
import re
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]


def waves(shape=(6, 1000), dtype="int16", seed=1, noise=5):
    """Makes decaying pulses over noise, like those of a detector. The last axis is time."""
    rng = np.random.default_rng(seed)
    time = np.arange(shape[-1])
    one_each = (*shape[:-1], 1)
    start = rng.integers(0, max(1, shape[-1] // 2), one_each)
    height = rng.uniform(100, 4000, one_each)
    pulse = height * np.exp(-(time - start).clip(0) / (shape[-1] / 4)) * (time >= start)
    baseline = 20_000 if np.dtype(dtype).kind == "u" else 0
    return (pulse + rng.normal(0, noise, shape) + baseline).astype(dtype)


def python_blocks(text):
    """The Python blocks in the text of a page."""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.S | re.M)


def section(path, heading):
    """The text of a Markdown file below a heading, up to the next one of the same level."""
    text = (REPOSITORY / path).read_text()
    level = heading.split(" ")[0]
    return re.split(rf"^{level} ", text.split(f"\n{heading}\n")[1], flags=re.M)[0]


def run_python(code, timeout=120, options=(), **process):
    """Runs ``code`` in another process and returns its output. Fails unless it exits with 0 in
    time."""
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **process)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def releases_the_interpreter_lock(work):
    """Whether this thread can run while another one is in ``work``.

    If ``work`` holds the interpreter's lock, this thread waits for the whole call, however fast
    that is. A busy machine can stop this thread too, so the call is repeated until the wait is
    short, at most 200 times.
    """

    def longest_wait():
        """The longest time in which this thread did not run, as a share of the duration of the
        call."""
        started = threading.Event()
        times = []

        def run():
            times.append(time.perf_counter())
            started.set()
            work()
            times.append(time.perf_counter())

        worker = threading.Thread(target=run)
        worker.start()
        started.wait()
        ticks = []
        while len(times) < 2:
            ticks.append(time.perf_counter())
            time.sleep(0)  # offers the lock to the worker
        worker.join()
        begin, end = times
        moments = [begin, *(tick for tick in ticks if begin < tick < end), end]
        return max(later - earlier for earlier, later in zip(moments, moments[1:])) / (end - begin)

    return any(longest_wait() < 0.5 for _ in range(200))


@contextmanager
def unchecked_filters():
    """Registers the filters without ``set_local``, which checks and completes cd_values, so that a
    test can create datasets like those of other programs.
    """
    from h5py import h5z

    from pylinerate import _pylinerate, hdf5

    tables = []
    for number in hdf5.FILTERS:
        table = bytearray(ctypes.string_at(_pylinerate.hdf5_class(number), 48))
        table[32:40] = bytes(8)  # the pointer set_local
        tables.append((ctypes.c_char * 48).from_buffer(table))
        h5z.register_filter(ctypes.addressof(tables[-1]))
    try:
        yield
    finally:
        hdf5.register(force=True)


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


#: Invalid version 1 chunks for m = 8. Most declare 7 samples.
CRAFTED = {
    "empty": b"",
    "three bytes": b"\x01\x00\x00",
    "missing samples": words(0xFFFFFFFF),
    "many samples in one word": words(0xFFFFFFFF, 1, 0x88888888),
    "missing length": words(7),
    "a length beyond the end": words(7, 2, 0x88888880),
    "a huge length": words(7, 0xFFFFFFFF, 0x88888880),
    "a length of zero": words(7, 0, 0x88888880),
    "an unterminated unary code": words(7, 1, 0),
    "a unary code of nine zeros": words(1, 1, 0x00400000),
    "a truncated code": words(8, 1, 0x88888880),
    "bits after the last code": words(7, 1, 0x88888881),
    "one word too many": words(7, 2, 0x88888880, 0),
    "words after the end": words(7, 1, 0x88888880, 0),
    "a byte after the end": words(7, 1, 0x88888880) + b"\x00",
    "words after zero samples": words(0, 0),
}


def log_rows(seed, size):
    """Makes ``size`` bytes of log rows, the same ones for the same seed."""
    rng = random.Random(seed)
    rows = ""
    while len(rows) < size:
        words = " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 8)))
        level = rng.choice(["info", "warning", "error"])
        rows += f'{{"time":{rng.randint(17, 18)}{rng.random()},"level":"{level}","text":"{words}"}}\n'
    return rows.encode()[:size]


WORDS = "timeout accepted user session retry queue disk index flush commit replica leader".split()
