"""Measures wall time and CPU time of each method on one array, in interleaved rounds."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import numpy as np
from numpy.typing import NDArray

from threads import set_threads

#: Minimum seconds of one timing, unless that takes more than `MAX_PASSES` passes.
MIN_SECONDS = 0.02
MAX_PASSES = 50


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


class Mismatch(Exception):
    """The decoded samples differ from the encoded ones."""


@dataclass
class Times:
    """Seconds per pass of each round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, wall: float, cpu: float) -> None:
        self.wall.append(wall)
        self.cpu.append(cpu)


@dataclass
class Outcome:
    """Result of a method after all rounds; `failure` is the reason if there is none."""

    size: int = 0
    encode: Times = field(default_factory=Times)
    decode: Times = field(default_factory=Times)
    failure: str = ""


def speed(bytes: int, seconds: list[float], of: Callable[[list[float]], float] = min) -> float:
    """10^6 bytes per second for the fastest, or the median, of several times; 0 without any."""
    taken = of(seconds) if seconds else 0.0
    return bytes / 1e6 / taken if taken > 0 else 0.0


def verify(trial: Trial) -> None:
    """Encodes and decodes once and compares."""
    trial.before_encode()
    trial.encode()
    trial.back.fill(0x5555)  # so that `decode` must write it
    trial.before_decode()
    trial.decode()
    if not np.array_equal(trial.result(), trial.expected):
        raise Mismatch("the decoded samples differ")


def timed(before: Callable[[], None], work: Callable[[], None], passes: int) -> tuple[float, float]:
    """Mean wall and CPU seconds of `work` over some passes. CPU time is that of all threads."""
    wall = cpu = 0.0
    for _ in range(passes):
        before()
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        work()
        cpu += time.process_time() - cpu_start
        wall += time.perf_counter() - wall_start
    return wall / passes, cpu / passes


def passes_for(seconds: float) -> int:
    """Number of passes for one timing."""
    return min(MAX_PASSES, max(1, round(MIN_SECONDS / seconds))) if seconds > 0 else MAX_PASSES


class Runner:
    """Runs the rounds of a trial. The first failure ends it."""

    def __init__(self, make: Callable[[], Trial]) -> None:
        self.outcome = Outcome()
        self.trial: Trial | None = None
        self._attempt(lambda: self._begin(make))

    def _begin(self, make: Callable[[], Trial]) -> None:
        self.trial = make()
        set_threads(self.trial.threads)
        verify(self.trial)
        self.outcome.size = self.trial.size()
        encode, _ = timed(self.trial.before_encode, self.trial.encode, 1)
        decode, _ = timed(self.trial.before_decode, self.trial.decode, 1)
        self._passes = passes_for(encode), passes_for(decode)

    def _attempt(self, step: Callable[[], None]) -> None:
        if self.outcome.failure:
            return
        try:
            step()
        except Exception as e:  # a failed method is a row with its reason
            self.outcome = Outcome(failure=f"{type(e).__name__}: {e}".splitlines()[0])
            self.close()

    def round(self) -> None:
        """Times `encode`, then `decode`."""
        self._attempt(self._round)

    def _round(self) -> None:
        trial = self.trial
        set_threads(trial.threads)
        self.outcome.encode.add(*timed(trial.before_encode, trial.encode, self._passes[0]))
        self.outcome.decode.add(*timed(trial.before_decode, trial.decode, self._passes[1]))

    def finish(self) -> Outcome:
        """Verifies the result again after all rounds."""
        self._attempt(self._verify_again)
        self.close()
        return self.outcome

    def _verify_again(self) -> None:
        set_threads(self.trial.threads)
        verify(self.trial)

    def close(self) -> None:
        if self.trial is not None:
            self.trial.close()
            self.trial = None


def run(makers: list[Callable[[], Trial]], rounds: int, progress: Callable[[str], None]) -> list[Outcome]:
    """Runs each trial `rounds` times, interleaved, starting with a different one in each round."""
    runners = []
    for i, make in enumerate(makers):
        progress(f"checking {i + 1} of {len(makers)}")
        runners.append(Runner(make))
    for r in range(rounds):
        for i in range(len(runners)):
            progress(f"round {r + 1} of {rounds}, {i + 1} of {len(runners)}")
            runners[(r + i) % len(runners)].round()
    return [runner.finish() for runner in runners]


__all__ = ["Mismatch", "Outcome", "Times", "Trial", "median", "verify", "run", "speed"]
