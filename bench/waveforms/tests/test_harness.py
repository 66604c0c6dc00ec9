"""Runs the harness with methods that need no other codec: verification, rounds, JSON Lines."""

from __future__ import annotations

import itertools
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import codecs_in_memory
import lines
import measure
import numpy as np
import pytest
import sets
from measure import Unavailable

HARNESS = Path(__file__).parents[1]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with two small sets, an array of another type, and one of another shape."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    rng = np.random.default_rng(1)
    np.save(folder / "real_one.npy", np.cumsum(rng.integers(-9, 10, (20, 500)), axis=1).astype(np.int16))
    np.save(folder / "two.npy", rng.integers(0, 65536, (3, 100)).astype(np.uint16))
    np.save(folder / "wide.npy", np.zeros((2, 2), np.int64))
    np.save(folder / "flat.npy", np.zeros(4, np.int16))
    return folder


def harness(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["bench/waveforms", *map(str, arguments)])
    monkeypatch.delenv("LINERATE_CORPORA", raising=False)
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(HARNESS), run_name="__main__")
    return end.value.code


def printed(capsys: pytest.CaptureFixture) -> tuple[dict, list[dict]]:
    """Returns the run that was printed, and its measurements."""
    run, *measurements = map(json.loads, capsys.readouterr().out.splitlines())
    return run["run"], measurements


def test_run_prints_json_lines(corpus, tmp_path, monkeypatch, capsys):
    arguments = ["--corpus", corpus, "--only", "none,gzip,memcpy", "--rounds", 3]
    arguments += ["--scratch", tmp_path, "--threads", 1]
    assert harness(monkeypatch, *arguments) == 0
    run, found = printed(capsys)
    assert run["command"].startswith("bench/waveforms --corpus corpus --only none,gzip,memcpy")
    assert str(tmp_path) not in run["command"]
    assert run["date"] and run["cpu"] and {"python", "numpy", "h5py"} <= {*run["versions"]}
    assert {"none", "gzip", "memcpy"} <= {*run["versions"]}  # a contender's name begins with its version's
    assert run["versions"]["memcpy"] == f"numpy {np.__version__}"
    assert [(m["data"], m["contender"]) for m in found] == [
        (set, name) for set in ("one", "two") for name in ("none", "gzip 4", "memcpy")
    ]
    none, gzip, memcpy = found[:3]
    assert (none["metrics"]["size"], memcpy["metrics"]["size"]) == (1, 1)
    assert 0.2 < gzip["metrics"]["size"] < 0.8
    assert gzip["params"] == {"through": "hdf5", "threads": 1, "dtype": "int16"}
    for m in found:
        for name in ("encode", "encode_cpu", "decode", "decode_cpu"):
            speed = m["metrics"][name]
            assert 0 < speed["low"] <= speed["median"] <= speed["high"]
    assert list(tmp_path.glob("linerate-*")) == []


def test_invalid_arguments_are_errors(corpus, tmp_path, monkeypatch, capsys):
    assert harness(monkeypatch, "--corpus", tmp_path / "absent") == 1
    assert "absent is not a folder" in capsys.readouterr().err
    assert harness(monkeypatch, "--corpus", corpus, "--set", "three", "--scratch", tmp_path) == 1
    assert "nothing to measure" in capsys.readouterr().err
    for wrong in (["--rounds", 0], ["--fraction", 2], ["--through", "disk"]):
        assert harness(monkeypatch, *wrong) == 2


def test_every_linerate_method_round_trips(corpus, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pylinerate.hdf5")
    arguments = ["--corpus", corpus, "--only", "linerate", "--rounds", 1, "--threads", 2, "--every-m"]
    assert harness(monkeypatch, *arguments, "--scratch", tmp_path) == 0
    _, found = printed(capsys)
    names = {(m["contender"], m["params"]["threads"]) for m in found if m["params"]["through"] == "hdf5"}
    kinds = ("v1 m=8", "v1 auto", "v2")
    assert names == {(f"linerate {k}{r}", n) for k in kinds for r in ("", ", linerate.hdf5.read") for n in (1, 2)}
    assert len([m for m in found if m["data"] == "one" and m["params"]["through"] == "memory"]) == 20
    assert {m["shape"] for m in found} == {"rice-every-m"}


class Half(measure.Trial):
    """A trial that loses the second half of the array if it is `broken`."""

    def __init__(self, array, back, broken: bool) -> None:
        self.array = self.expected = array
        self.back, self.broken = back, broken
        self.closed = 0

    def encode(self) -> None:
        self.kept = self.array.copy()

    def decode(self) -> None:
        n = len(self.kept) // 2 if self.broken else len(self.kept)
        self.back[:n] = self.kept[:n]

    def size(self) -> int:
        return self.kept.nbytes

    def close(self) -> None:
        self.closed += 1


def test_wrong_result_is_a_failed_row():
    array = np.arange(100, dtype=np.int16)
    trials = [Half(array, np.empty_like(array), broken) for broken in (False, True)]
    good, bad = measure.run([lambda t=t: t for t in trials], 3)
    assert (good.failure, good.size, [len(s) for s in good.seconds.values()]) == ("", 200, [3] * 4)
    assert bad.failure == "Mismatch: the decoded samples differ"
    assert [trial.closed for trial in trials] == [1, 1]


def test_method_failing_in_a_later_round_has_no_figures():
    array = np.arange(100, dtype=np.int16)
    trial = Half(array, np.empty_like(array), False)
    calls = itertools.count()

    def encode() -> None:
        if next(calls) > 3:
            raise OSError("the disk is full\nsecond line")
        Half.encode(trial)

    trial.encode = encode
    (outcome,) = measure.run([lambda: trial], 3)
    assert outcome.failure == "OSError: the disk is full"
    assert (outcome.seconds, trial.closed) == ({}, 1)


def test_figure_is_exact_or_median_lowest_highest():
    assert lines.figure([0.5, 0.25, 1.0]) == {"median": 0.5, "low": 0.25, "high": 1}
    assert lines.figure([4.0, 1.0, 2.0, 8.0]) == {"median": 3, "low": 1, "high": 8}
    assert lines.figure([2.0, 2.0]) == 2 and lines.figure(1 / 3) == 0.333333 and lines.figure(1234567) == 1234567


def test_rounds_begin_with_another_contender_each_time():
    turns = []
    lines.rounds(3, [lambda i=i: turns.append(i) for i in range(2)])
    assert turns == [0, 1, 1, 0, 0, 1]


def test_command_contains_no_absolute_paths(monkeypatch):
    monkeypatch.delenv("LINERATE_CPU", raising=False)
    given = ["--corpus", "/a/b/c", "--only", "flac 5", "--against=x=/p/q.so:F", "a/b"]
    assert lines.command("p", given) == "p --corpus c --only 'flac 5' --against=x=q.so:F a/b"
    monkeypatch.setenv("LINERATE_CPU", "avx2")
    assert lines.command("p", []) == "LINERATE_CPU=avx2 p"


def test_only_two_dimensional_arrays_of_16_and_32_bits_are_sets(corpus):
    np.save(corpus / "frames.npy", np.zeros((50, 3), np.int32))
    found = [(set.name, set.array.shape) for set in sets.recorded(corpus, 0.1)]
    assert found == [("frames", (5, 3)), ("one", (2, 500)), ("two", (1, 100))]


def frames(channels: int, dtype: type, step: int) -> np.ndarray:
    """A random walk that all channels share."""
    rng = np.random.default_rng(1)
    return np.cumsum(rng.integers(-step, step, 3000))[:, None].repeat(channels, 1).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_flac_has_a_channel_for_each_sample_of_a_frame(dtype):
    pytest.importorskip("soundfile")
    sizes = []
    for channels in (1, 2):
        array = frames(channels, dtype, 100)
        trial = codecs_in_memory.flac(array, np.empty_like(array), 5)
        measure.verify(trial)
        sizes.append(trial.size())
    assert sizes[1] < 1.1 * sizes[0]


def test_flac_takes_nine_channels_as_two_streams():
    pytest.importorskip("soundfile")
    array = frames(9, np.int16, 100)
    trial = codecs_in_memory.flac(array, np.empty_like(array), 5)
    measure.verify(trial)
    assert len(trial.stored) == 2


def test_flac_refuses_25_bits():
    pytest.importorskip("soundfile")
    array = frames(2, np.int32, 1 << 22)
    with pytest.raises(Unavailable):
        codecs_in_memory.flac(array, np.empty_like(array), 5)


def test_wavpack_has_a_channel_for_each_sample_of_a_frame(monkeypatch):
    shapes = []

    class DoubleOfWavPack:
        def __init__(self, level: int, **threads: int) -> None:
            assert level == 3 and set(threads.values()) == {1}

        def encode(self, samples: np.ndarray) -> bytes:
            shapes.append(samples.shape)
            return samples.tobytes()

        def decode(self, stored: bytes, out: np.ndarray) -> None:
            out[:] = np.frombuffer(stored, out.dtype).reshape(out.shape)

    monkeypatch.setitem(sys.modules, "wavpack_numcodecs", SimpleNamespace(WavPack=DoubleOfWavPack))
    row = np.zeros((1, 5000), np.int16)
    for array in (frames(2, np.int16, 100), row):
        measure.verify(codecs_in_memory.wavpack(array, np.empty_like(array), 3))
    assert shapes == [(3000, 2), (5000, 1)]
    with pytest.raises(Unavailable, match="signed"):
        codecs_in_memory.wavpack(row.astype(np.uint16), row, 3)


def test_differences_of_chunks_round_trip(monkeypatch):
    monkeypatch.setattr(codecs_in_memory, "SECOND", 700)
    for dtype in (np.int16, np.uint16):
        array = frames(3, dtype, 30_000)
        trial = codecs_in_memory.differences_zlib(array, np.empty_like(array))
        measure.verify(trial)
        assert len(trial.stored) == 5


def test_codecs_of_16_bits_refuse_32_bits():
    pytest.importorskip("pylinerate")
    array = frames(2, np.int32, 100)
    with pytest.raises(Unavailable, match="16 bits"):
        codecs_in_memory.version1(array, np.empty_like(array), 8, 1)

