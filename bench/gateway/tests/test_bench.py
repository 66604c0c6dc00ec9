"""Runs bench/gateway/python.py on the sample in testdata/gateway."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import python as bench

REPOSITORY = Path(__file__).parents[3]
SAMPLES = REPOSITORY / "testdata" / "gateway"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(bench, "CONNECTIONS", 3)


def printed(capsys) -> list[dict]:
    return list(map(json.loads, capsys.readouterr().out.splitlines()))


def test_run_prints_json_lines(small, capsys):
    bench.main(["--corpus", str(SAMPLES), "--rounds", "2", "--shape", "start,live,busy,dictionary"])
    run, *rows = printed(capsys)
    assert run["run"]["command"] == "bench/gateway/python.py --corpus gateway --rounds 2 --shape start,live,busy,dictionary"
    assert {"zlib", "zstandard", "linerate", "python"} <= {*run["run"]["versions"]}
    assert {row["params"]["mode"] for row in rows} == {"start", "live", "busy", "dictionary"}
    assert {"zlib", "zstandard", "linerate"} <= {row["contender"] for row in rows}
    for row in rows:
        base = "zlib" if row["params"]["transport"] == "zlib-stream" else "zstandard"
        assert row["data"] == "gateway" and row["params"]["base"].startswith(base)
        assert row["metrics"]["time"]["low"] > 0 and "speed_by_base" in row["metrics"]
        assert ("longest" in row["metrics"]) == (row["params"]["mode"] == "busy")
    start = next(row for row in rows if (row["params"]["mode"], row["contender"]) == ("start", "linerate"))
    assert start["params"]["messages"] == 307


def test_many_connections_are_measured_in_separate_processes(small, capsys):
    connections = bench.streams(SAMPLES, "zstd-stream")
    bench.measure("many", "zstd-stream", "x", connections[1:], rounds=1)
    rows = printed(capsys)
    assert rows[-1]["contender"] == "linerate"
    assert all(row["metrics"]["resident"] > 0 and row["params"]["result"] == "bytes" for row in rows)


def test_wrong_output_ends_the_run():
    (stream, _) = bench.streams(SAMPLES, "zlib-stream")
    frame, payload = stream[0]
    wrong = [(frame, payload + b" ")]
    for contender in bench.contenders("zlib-stream"):
        bench.verify(contender, [stream])
        with pytest.raises(SystemExit, match="to different bytes"):
            bench.verify(contender, [wrong])


def test_settled_is_the_index_after_the_last_guild_create():
    stream = [(b"", text) for text in (b'{"t":"READY"}', b'{"t":"GUILD_CREATE"}', b"{}", b"{}")]
    assert bench.settled(stream) == 2
    assert bench.settled(stream[2:]) == 0


@pytest.mark.parametrize("harness", ["gateway/connections.py", "lines.py", "servers/measure.py", "waveforms/recordings.py"])
def test_harness_without_arguments_prints_its_usage(harness):
    run = subprocess.run([sys.executable, REPOSITORY / "bench" / harness], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and run.stderr.startswith("usage: "), run.stderr
