"""Resident memory returns to the system after connections were closed."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from gateways import frames_of, traffic
from pylinerate.gateway import Decompressor, trim

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

frames = frames_of("zlib-stream", traffic())
def connect():
    made = Decompressor("zlib-stream")
    for frame in frames:
        made.decompress(frame)
    return made

connect()
before = resident()
crowd = [connect() for _ in range(1000)]
used = resident() - before
assert used > 30_000_000, used
del crowd[1::2]
crowd.clear()
if sys.argv[2] == "call":
    trim()
end = time.monotonic() + 60
while resident() - before > used // 2 and time.monotonic() < end and sys.argv[2] == "wait":
    time.sleep(0.05)
print(used, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", ["call", "wait"])
def test_resident_memory_returns(how, tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    used, left = map(int, done.stdout.split())
    assert left < used // 2, done.stdout
