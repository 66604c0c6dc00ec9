"""The harness with methods that need no peer: verification, records, tables."""

from __future__ import annotations

import itertools
import runpy
import sys
from pathlib import Path

import codecs_in_memory
import environment
import measure
import numpy as np
import plot
import pytest
import record
import sets
import tables
from methods import Unavailable

HARNESS = Path(__file__).parents[1]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two small sets, and two arrays of another shape and of another type."""
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


def test_run_prints_tables_and_appends_records(corpus, tmp_path, monkeypatch, capsys):
    file = tmp_path / "out" / "records.csv"
    arguments = ["--corpus", corpus, "--only", "none,gzip,memcpy", "--rounds", 2, "--csv", file]
    arguments += ["--scratch", tmp_path, "--threads", 1]
    assert harness(monkeypatch, *arguments) == 0
    printed = capsys.readouterr().out
    assert "| none " in printed and "| gzip 4 " in printed and "| memcpy " in printed
    records = record.read(file)
    assert [(r["corpus"], r["contender"]) for r in records] == [
        (set, name) for set in ("one", "two") for name in ("none", "gzip 4", "memcpy")
    ]
    none, gzip, memcpy = records[:3]
    assert (none["size_percent"], memcpy["size_percent"]) == ("100.000", "100.000")
    assert 20 < float(gzip["size_percent"]) < 80
    assert (gzip["shape"], gzip["bytes"], gzip["rows"], gzip["row_samples"]) == ("hdf5", "20000", "20", "500")
    assert gzip["command"].startswith("bench/waveforms --corpus corpus --only none,gzip,memcpy")
    assert str(tmp_path) not in file.read_text()
    for r in records:
        assert all(r[column] for column in ("date", "cpu", "python", "contender_version"))
        for what, clock, kind in itertools.product(("encode", "decode"), ("", "cpu_"), ("best", "median")):
            assert float(r[f"{what}_{clock}{kind}_mb_s"]) > 0
    assert harness(monkeypatch, *arguments, "--set", "two") == 0
    assert len(record.read(file)) == 9
    assert list(tmp_path.glob("linerate-*")) == []


def test_invalid_arguments_are_errors(corpus, tmp_path, monkeypatch, capsys):
    assert harness(monkeypatch, "--corpus", tmp_path / "absent") == 1
    assert "absent is not a folder" in capsys.readouterr().err
    assert harness(monkeypatch, "--corpus", corpus, "--set", "three", "--scratch", tmp_path) == 1
    assert "nothing to measure" in capsys.readouterr().err
    for wrong in (["--rounds", 0], ["--fraction", 2], ["--shape", "disk"]):
        assert harness(monkeypatch, *wrong) == 2


def test_every_linerate_method_round_trips(corpus, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pylinerate.hdf5")
    file = tmp_path / "records.csv"
    arguments = ["--corpus", corpus, "--only", "linerate", "--rounds", 1, "--threads", 2, "--every-m"]
    assert harness(monkeypatch, *arguments, "--scratch", tmp_path, "--csv", file) == 0
    records = record.read(file)
    assert [r["note"] for r in records] == [""] * len(records)
    names = {r["contender"] for r in records if r["shape"] == "hdf5"}
    kinds = ("v1 m=8", "v1 auto", "v2")
    assert names == {
        f"linerate {k}{r}{x}" for k in kinds for r in ("", ", linerate.hdf5.read") for x in ("", " x2")
    }
    assert len([r for r in records if r["corpus"] == "one" and r["shape"] == "memory"]) == 20
    assert "| v1 auto size, points above the best m's | <= 0.1 | 0 | 0 |" in capsys.readouterr().out


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
    good, bad = measure.run([lambda t=t: t for t in trials], 3, lambda what: None)
    assert (good.failure, good.size, len(good.encode.wall), len(good.decode.cpu)) == ("", 200, 3, 3)
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
    (outcome,) = measure.run([lambda: trial], 3, lambda what: None)
    assert outcome.failure == "OSError: the disk is full"
    assert (outcome.size, outcome.encode.wall, trial.closed) == (0, [], 1)


def test_speed_uses_the_best_or_median_round():
    assert measure.speed(5_000_000, [0.5, 0.25, 1.0]) == 20
    assert measure.speed(5_000_000, [0.5, 0.25, 1.0], measure.median) == 10
    assert measure.speed(5_000_000, []) == 0


def line(shape: str, name: str, size: float, encode: float, decode: float, **more: str) -> record.Record:
    fields = dict.fromkeys(record.COLUMNS, "") | {"shape": shape, "contender": name, "corpus": "nab"}
    fields |= {"size_percent": str(size), "cpu": "a cpu", "date": "2026-01-31", "bytes": "10"}
    for kind in ("best", "median"):
        fields |= {f"encode_{kind}_mb_s": str(encode), f"decode_{kind}_mb_s": str(decode)}
    return fields | more


def test_goals_are_ratios_of_named_rows():
    records = [
        line("hdf5", "none", 100, 1000, 2000),
        line("hdf5", "linerate v1 m=8", 28, 500, 1000),
        line("memory", "linerate v1 m=8", 28, 1000, 2000),
        line("memory", "linerate v1 m=8, filter call", 28, 900, 1800),
        line("memory", "against x.so m=8, filter call", 28, 300, 150),
        line("memory", "linerate v2", 27, 400, 1500),
        line("memory", "flac 5", 27, 90, 100),
        line("memory", "pco 8", 26, 90, 0, note="failed"),
    ]
    found = {row.split(" | ")[0][2:]: row.split(" | ")[2][:-2] for row in tables.goals(records).splitlines()}
    assert found["encode, times the other filter"] == "3"
    assert found["decode, times the other filter"] == "12"
    assert found["v1 m=8 read, times its parts"] == "1"
    assert found["v2 size, times FLAC 5's"] == "1"
    assert found["v2 decode, times FLAC 5's"] == "15"
    assert "v2 decode, times pco 8's" not in found and "v2 size, times szip's" not in found
    assert "memory pco 8, nab: failed" in tables.failures(records)
    table = tables.table(records, "memory")
    assert "| pco 8 " in table and "failed" in table and "28.0 · 1000/2000" in table


def test_files_with_other_columns_are_unchanged(tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="other columns"):
        record.append(file, [])
    with pytest.raises(ValueError, match="other columns"):
        record.read(file)
    assert file.read_text() == "x,y\n1,2\n"


def test_records_with_commas_and_quotes_round_trip(tmp_path):
    file = tmp_path / "r.csv"
    written = line("memory", 'a "b", c', 1, 2, 3)
    record.append(file, [written])
    record.append(file, [written])
    assert record.read(file) == [written, written]


def test_command_contains_no_absolute_paths(monkeypatch):
    monkeypatch.delenv("LINERATE_CPU", raising=False)
    given = ["--corpus", "/a/b/c", "--csv", "/x.csv", "--only", "flac 5", "--against=/p/q.so", "--csv=/z"]
    assert environment.command(given) == "bench/waveforms --corpus c --only 'flac 5' --against=q.so"
    monkeypatch.setenv("LINERATE_CPU", "avx2")
    assert environment.command([]) == "LINERATE_CPU=avx2 bench/waveforms"


def test_plot_draws_the_newest_run_of_each_method(tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "r.csv"
    old = [line("memory", name, 50, 1, 1, date="2026-01-30") for name in ("gone", "flac 5")]
    new = [line("memory", name, 27, 90, 100) for name in ("flac 5", "linerate v2")]
    record.append(file, [*old, *new, line("memory", "pco 8", 0, 0, 0, note="failed")])
    assert [r["contender"] for r in plot.newest(record.read(file))["nab", "memory"]] == [
        "flac 5",
        "linerate v2",
    ]
    (made,) = plot.draw_all(file, tmp_path / "plots")
    assert made.name == "waveforms-nab-memory.svg"
    first = made.read_bytes()
    assert b"</svg>" in first
    plot.draw_all(file, tmp_path / "plots")
    assert made.read_bytes() == first


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
        trial = codecs_in_memory.Flac(array, np.empty_like(array), 5)
        measure.verify(trial)
        sizes.append(trial.size())
    assert sizes[1] < 1.1 * sizes[0]


def test_flac_refuses_nine_channels_and_25_bits():
    pytest.importorskip("soundfile")
    for array in (frames(9, np.int16, 100), frames(2, np.int32, 1 << 22)):
        with pytest.raises(Unavailable):
            codecs_in_memory.Flac(array, np.empty_like(array), 5)


def test_codecs_of_16_bits_refuse_32_bits():
    pytest.importorskip("pylinerate")
    array = frames(2, np.int32, 100)
    with pytest.raises(Unavailable, match="16 bits"):
        codecs_in_memory.Version1(array, np.empty_like(array), 8, 1)

