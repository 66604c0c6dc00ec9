"""Verifies methods, then times them in interleaved rounds, by the wall clock and in CPU time."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

import lines

#: Methods that store the whole array as one chunk of an HDF5 file, with h5py.
HDF5 = "hdf5"
#: Methods that turn an array into bytes and back.
MEMORY = "memory"

#: Duration in seconds that one timing should at least have. It takes that many passes, but not more
#: than `MAX_PASSES`.
MIN_SECONDS = 0.02
MAX_PASSES = 50


class Unavailable(Exception):
    """Raised with the reason why a method cannot be measured here."""


class Mismatch(Exception):
    """The decoded samples differ from the encoded ones."""


@dataclass(frozen=True)
class Method:
    """A contender. `make(array, back)` creates the trial, which decodes into `back`."""

    through: str
    name: str
    make: Callable[[NDArray, NDArray], Trial]
    #: Versions of the packages, except Linerate's.
    version: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1


class Trial(ABC):
    """One method with one array. After `decode`, `result` must equal `expected`."""

    expected: NDArray
    back: NDArray
    #: Threads that libraries may use.
    threads: int = 1

    def before_encode(self) -> None:
        """Untimed preparation of `encode`."""

    @abstractmethod
    def encode(self) -> None:
        """Stores the array. Each call does all of the work again."""

    def before_decode(self) -> None:
        """Untimed preparation of `decode`."""

    @abstractmethod
    def decode(self) -> None:
        """Fills `back` from what `encode` stored."""

    def result(self) -> NDArray:
        """The decoded array."""
        return self.back

    @abstractmethod
    def size(self) -> int:
        """Bytes that the array takes, after `encode`."""

    def close(self) -> None:
        """Removes stored files and buffers."""


@cache
def openmp() -> list:
    """Returns the OpenMP libraries that are loaded when this is first called; an empty list without
    threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return ThreadpoolController().select(user_api="openmp").lib_controllers


def set_threads(n: int) -> None:
    """Sets the number of threads of filters that take no argument for it: Blosc2, Delta-Rice, bitshuffle."""
    os.environ["BLOSC_NTHREADS"] = os.environ["LINERATE_THREADS"] = str(n)
    for library in openmp():
        library.set_num_threads(n)


def verify(trial: Trial) -> None:
    """Encodes and decodes once, and raises `Mismatch` if the result differs."""
    trial.before_encode()
    trial.encode()
    trial.back.fill(0x5555)  # so that `decode` must write it
    trial.before_decode()
    trial.decode()
    if not np.array_equal(trial.result(), trial.expected):
        raise Mismatch("the decoded samples differ")


def timed(before: Callable[[], None], work: Callable[[], None], passes: int) -> tuple[float, float]:
    """Returns the mean elapsed and CPU seconds of `work` over `passes` passes. CPU time is that of all threads."""
    wall = cpu = 0.0
    for _ in range(passes):
        before()
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        work()
        cpu += time.process_time() - cpu_start
        wall += time.perf_counter() - wall_start
    return wall / passes, cpu / passes


class Runner:
    """Runs the rounds of a trial. The first failure ends the trial, and `failure` has the reason."""

    def __init__(self, make: Callable[[], Trial]) -> None:
        self.failure = ""
        self.size = 0
        self.seconds: dict[str, list[float]] = {}
        self.trial: Trial | None = None
        self._attempt(lambda: self._begin(make))

    def _begin(self, make: Callable[[], Trial]) -> None:
        trial = self.trial = make()
        self._verify()
        self.size = trial.size()
        self._parts = []
        for name, before, work in (
            ("encode", trial.before_encode, trial.encode),
            ("decode", trial.before_decode, trial.decode),
        ):
            wall, _ = timed(before, work, 1)
            passes = min(MAX_PASSES, max(1, round(MIN_SECONDS / wall))) if wall > 0 else MAX_PASSES
            self._parts.append((name, before, work, passes))

    def _attempt(self, step: Callable[[], None]) -> None:
        if self.failure:
            return
        try:
            step()
        except Exception as e:  # a failed method has a reason instead of figures
            self.failure = f"{type(e).__name__}: {e}".splitlines()[0]
            self.seconds.clear()
            self._close()

    def round(self) -> None:
        """Times `encode`, then `decode`, unless the trial has failed."""
        self._attempt(self._round)

    def _round(self) -> None:
        set_threads(self.trial.threads)
        for name, *part in self._parts:
            wall, cpu = timed(*part)
            self.seconds.setdefault(name, []).append(wall)
            self.seconds.setdefault(f"{name}_cpu", []).append(cpu)

    def _verify(self) -> None:
        set_threads(self.trial.threads)
        verify(self.trial)

    def finish(self) -> Runner:
        """Verifies the result again after all rounds, and closes the trial."""
        self._attempt(self._verify)
        self._close()
        return self

    def _close(self) -> None:
        if self.trial is not None:
            self.trial.close()
            self.trial = None

    def metrics(self, bytes: int) -> dict[str, float | list[float]]:
        """Returns the size as a share of `bytes`, and the speed in each round in 10^6 bytes per second."""
        speeds = {name: [bytes / 1e6 / max(s, 1e-9) for s in rounds] for name, rounds in self.seconds.items()}
        return {"size": self.size / bytes} | speeds


def run(makers: Sequence[Callable[[], Trial]], rounds: int) -> list[Runner]:
    """Makes and verifies all trials, times each of them in every one of `rounds` rounds, and
    verifies them again."""
    runners = [Runner(make) for make in makers]
    lines.rounds(rounds, [runner.round for runner in runners])
    return [runner.finish() for runner in runners]
