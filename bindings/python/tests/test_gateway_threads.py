"""Several threads use decompressors; the memory of 2,500 connections is bounded."""

import sys
import threading
from pathlib import Path

import pytest
from gateways import KINDS, frames_of, traffic
from support import releases_the_interpreter_lock, run_python

from pylinerate.gateway import Decompressor


def in_threads(count, work):
    """Runs ``work(i)`` in ``count`` threads at once. Raises the first exception."""
    raised = []
    barrier = threading.Barrier(count)

    def run(i):
        try:
            barrier.wait(timeout=60)
            work(i)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    if raised:
        raise raised[0]


@pytest.mark.parametrize("kind", KINDS)
def test_connections_decode_in_their_own_threads(kind):
    # Some messages are large, and decoded without the interpreter's lock.
    text = large()
    payloads = [traffic(seed, groups=2, events=30) + [text[1000 * seed :][:300_000]] for seed in range(12)]
    frames = [frames_of(kind, each) for each in payloads]

    def work(i):
        decompressor = Decompressor(kind)
        for _ in range(5):
            for payload, frame in zip(payloads[i], frames[i]):
                assert decompressor.decompress(frame) == payload
            decompressor.reset()

    in_threads(12, work)


def large():
    """Makes text that stays large when it is compressed."""
    return "".join(f"{i**7 % 99991:x}," for i in range(400_000)).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_threads_can_take_turns_with_a_connection(kind):
    payloads = traffic(3, groups=2, events=40)
    frames = frames_of(kind, payloads)
    decompressor, turn = Decompressor(kind), threading.Condition()
    done = []

    def work(i):
        while True:
            with turn:
                turn.wait_for(lambda: len(done) == len(frames) or len(done) % 4 == i, timeout=60)
                if len(done) == len(frames):
                    return
                done.append(decompressor.decompress(frames[len(done)]))
                turn.notify_all()

    in_threads(4, work)
    assert done == payloads


@pytest.fixture(scope="module")
def huge():
    """The payloads of a message whose decoding takes tens of milliseconds and of the message after
    it, and the compressed messages by transport."""
    payloads = [large() * 5, b"after"]
    return payloads, {kind: frames_of(kind, payloads) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_concurrent_use_is_a_runtime_error_that_changes_nothing(huge, kind):
    payloads, frames = huge[0], huge[1][kind]
    raised = 0
    for _ in range(20):
        decompressor, results = Decompressor(kind), []
        worker = threading.Thread(target=lambda: results.append(decompressor.decompress(frames[0])))
        worker.start()
        while worker.is_alive() and not raised:
            try:
                # resume_after has no effect without checks.
                decompressor.resume_after(1)
            except RuntimeError as error:
                assert "another thread" in str(error)
                raised += 1
        if raised:
            # Reading attributes is allowed, and waits for a message that is being decoded.
            assert decompressor.messages in (0, 1) and decompressor.memory > 0
        worker.join()
        assert results == payloads[:1]
        assert decompressor.decompress(frames[1]) == payloads[1]
        if raised:
            break
    assert raised


@pytest.mark.parametrize("kind", KINDS)
def test_the_interpreter_lock_is_released(huge, kind):
    frames = huge[1][kind]
    assert releases_the_interpreter_lock(lambda: Decompressor(kind).decompress(frames[0]))


#: Bytes of a connection whose history is full.
MAX_BYTES = {"zlib-stream": 33_500, "zstd-stream": 73_000}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_2500_connections_is_bounded(kind):
    payloads = traffic(4, groups=20, events=0)
    assert sum(map(len, payloads)) > 100_000
    frames = frames_of(kind, payloads)
    many = [Decompressor(kind) for _ in range(2500)]
    assert sum(each.memory + sys.getsizeof(each) for each in many) < 2500 * 1500
    for payload, frame in zip(payloads, frames):
        for each in many:
            assert each.decompress(frame) == payload
    assert sum(each.memory for each in many) < 2500 * MAX_BYTES[kind]
    for each in many:
        each.reset()
    assert sum(each.memory for each in many) < 2500 * 1500


#: Prints the resident bytes of each of 2,500 connections, and their growth after all were replaced
#: twice.
RESIDENT = """
import sys
sys.path.insert(0, {folder!r})
from gateways import frames_of, traffic
from pylinerate.gateway import Decompressor

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def make(count):
    many = [Decompressor({kind!r}) for _ in range(count)]
    for frame in frames:
        for each in many:
            each.decompress(frame)
    return many

frames = frames_of({kind!r}, traffic(4, groups=20, events=0))
make(1)
before = resident()
many = make(2500)
first = resident()
for _ in range(2):
    del many
    many = make(2500)
print((first - before) // 2500, (resident() - first) // 2500)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SKIP: reads /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_resident_memory_is_bounded_and_reused(kind):
    code = RESIDENT.format(folder=str(Path(__file__).parent), kind=kind)
    each, more = map(int, run_python(code).split())
    assert each < 1.2 * MAX_BYTES[kind] and more < 0.1 * MAX_BYTES[kind]
