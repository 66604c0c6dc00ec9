"""The benchmark on the sample in testdata/gateway."""

import csv
from pathlib import Path

import pytest
import python as bench

SAMPLES = Path(__file__).parents[3] / "testdata" / "gateway"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(bench, "CONNECTIONS", 3)


def test_run_prints_tables_and_appends_records(small, tmp_path, capsys):
    file = tmp_path / "records.csv"
    arguments = ["--corpus", str(SAMPLES), "--csv", str(file), "--rounds", "1", "--shape"]
    for shapes in ("start,live", "busy"):
        bench.main([*arguments, shapes])
    printed = capsys.readouterr().out
    assert "zlib-stream, start" in printed and "zstd-stream, busy" in printed
    rows = list(csv.DictReader(file.open()))
    assert {row["shape"] for row in rows} == {"start", "live", "busy"}
    assert {"zlib", "zstandard", "linerate"} <= {row["contender"] for row in rows}
    for row in rows:
        assert float(row["median_us"]) > 0 and float(row["speed_vs_base"]) > 0
        assert row["command"].startswith("bench/gateway/python.py --corpus gateway --rounds 1 --shape ")
        assert row["base"].startswith("zlib" if row["kind"] == "zlib-stream" else "zstandard")
    start = next(row for row in rows if (row["shape"], row["contender"]) == ("start", "linerate"))
    assert (start["messages"], start["bytes"]) == ("307", str(430_939 + 121))
    assert str(tmp_path) not in file.read_text()


def test_many_connections_are_measured_in_separate_processes(small):
    connections = bench.streams(SAMPLES, "zstd-stream")
    rows = list(bench.measure("many", "zstd-stream", connections[1:], rounds=1))
    assert [row["contender"] for row in rows][-1] == "linerate"
    assert all(int(row["resident_bytes"]) > 0 and row["result"] == "bytes" for row in rows)


def test_wrong_output_ends_the_run():
    (stream, _) = bench.streams(SAMPLES, "zlib-stream")
    frame, payload = stream[0]
    wrong = [(frame, payload + b" ")]
    for contender in bench.contenders("zlib-stream"):
        bench.verify(contender, [stream])
        with pytest.raises(SystemExit, match="to other bytes"):
            bench.verify(contender, [wrong])


def test_settled_is_the_index_after_the_last_guild_create():
    stream = [(b"", text) for text in (b'{"t":"READY"}', b'{"t":"GUILD_CREATE"}', b"{}", b"{}")]
    assert bench.settled(stream) == 2
    assert bench.settled(stream[2:]) == 0
