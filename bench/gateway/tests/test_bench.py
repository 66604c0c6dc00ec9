"""The bench itself, over the carried sample."""

import csv
from pathlib import Path

import pytest
import python as bench

SAMPLES = Path(__file__).parents[3] / "testdata" / "gateway"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(bench, "CONNECTIONS", 3)


def test_a_run_prints_tables_and_adds_records(small, tmp_path, capsys):
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


def test_many_connections_are_measured_in_processes_of_their_own(small):
    connections = bench.streams(SAMPLES, "zstd-stream")
    rows = list(bench.measure("many", "zstd-stream", connections[1:], rounds=1))
    assert [row["contender"] for row in rows][-1] == "linerate"
    assert all(int(row["resident_bytes"]) > 0 and row["result"] == "bytes" for row in rows)


def test_other_bytes_are_found():
    (stream, _) = bench.streams(SAMPLES, "zlib-stream")
    frame, payload = stream[0]
    wrong = [(frame, payload + b" ")]
    for contender in bench.contenders("zlib-stream"):
        bench.prove(contender, [stream])
        with pytest.raises(SystemExit, match="to something else"):
            bench.prove(contender, [wrong])


def test_where_a_connection_settles():
    stream = [(b"", text) for text in (b'{"t":"READY"}', b'{"t":"GUILD_CREATE"}', b"{}", b"{}")]
    assert bench.settled(stream) == 2
    assert bench.settled(stream[2:]) == 0
