"""Static types: the stub matches the extension, and mypy accepts correct and rejects wrong code."""

import subprocess
import sys

import pytest

#: Correct user code.
GOOD = """
import io
import mmap
from typing import Any, Protocol, assert_type

import numpy as np
from numpy.typing import NDArray
from websockets.typing import ExtensionName

from pylinerate import Error, gzip
from pylinerate.dict import (
    Batch, BlockFile, Candidate, Decoder, Encoder, Entry, Pack, Savings, SetReport, Slices, Sst, Stats, Store,
    cluster, multi_get, savings, search, train
)
from pylinerate.gateway import Decompressor, Envelope, GatewayError, ZlibModule, ZstdContext, peek
from pylinerate.websockets import (
    PerMessageDeflate, PreparedBytes, PreparedText, client_extensions, prepare, server_extensions
)

store = Store(table_budget=1 << 20, huge_pages=False)
id = store.insert(np.zeros(100, np.uint8))
assert_type(id, int)
assert_type(store[id], bytes)
assert_type(store.find(store.hash(id)), int | None)
assert_type(store.stats(), Stats)
assert_type(store.stats().digested, int)
block = Encoder(store, level=19, checksum=True).encode(id, bytearray(100))
assert_type(block, bytes)
decoder = Decoder(store)
assert_type(decoder.decode(id, memoryview(block)), bytes)
assert_type(decoder.decode_into(id, block, bytearray(100)), int)
mapped = mmap.mmap(-1, 100)
batch = decoder.decode_batch([id, 0], [block, mapped], out=np.empty(200, np.uint8), order="any")
assert_type(batch, Batch)
assert_type(batch[0], memoryview)
assert_type(batch[1:], Batch)
assert_type(batch.lengths, NDArray[np.int64])
assert_type(batch.errors[0].kind, str)
decoder.decode_batch(id, Slices(mapped, np.arange(3), [1, 2, 3]), [10, 10, 10], errors="raise")
dictionary = train([block, mapped, np.zeros(5)], 4096, small_tables=True)
assert_type(savings(dictionary, [block]), Savings)
assert_type(savings(dictionary, [block]).ratio, float)
assert_type(search([block]).dictionary, bytes | None)
assert_type(search([block], threads=2).candidates, list[Candidate])
assert_type(cluster([[block], [block, mapped]], max_count=2, size=4096).dictionaries, list[bytes])
assert_type(cluster([[block]], 2, 4096).sets[0], SetReport)
BlockFile.build("users", [(b"key", mapped)], dictionary=4096, sort=True)
with BlockFile.open("users", store) as users:
    assert_type(users, BlockFile)
    assert_type(users.get(b"key"), bytes | None)
    assert_type(users[b"key"], bytes)
    assert_type(users.multi_get([b"a", b"b"]), list[bytes | None])
    assert_type(users.multi_get([b"a", b"b"], errors="return"), list[bytes | Error | None])
    assert_type([value for key, value in users.scan(b"a")], list[bytes])
    assert_type(users.stats().counts.records, int)
with Sst.open("000012.sst", store) as sst:
    assert_type(sst.get(b"key"), bytes | None)
    assert_type(sst.entry(b"key"), Entry | None)
    assert_type([entry.sequence for entry in sst.scan(stop=b"z")], list[int])
    assert_type(sst.stats().blocks["zstd"].stored, int)
    assert_type(sst.verify().failures, list[Error])
assert_type(multi_get([(users, b"a"), (users, b"b")]), list[bytes | None])
with Pack.create("dictionaries", level=19) as editor:
    editor.retain(editor.add(dictionary, cluster=7), "users")
with Pack.open("dictionaries") as pack, pack.load(store) as ids:
    assert_type(pack[7], bytes)
    assert_type(ids[7], int)
    assert_type([entry.hash for entry in pack.entries()], list[int])
decompressor = Decompressor("zstd-stream", checks="json", sequence=True, recent=(100, 1 << 20))
assert_type(decompressor.decompress(b""), bytes | None)
assert_type(decompressor.decompress_text(memoryview(b"")), str | None)
assert_type(decompressor.decompress_into(mapped, np.empty(100, np.uint8)), int | None)
assert_type(decompressor.envelope, Envelope | None)
assert_type(peek(b"{}"), Envelope)
assert_type(peek("{}", encoding="etf").op, int | None)
assert_type(decompressor.error, GatewayError | None)
assert_type(decompressor.recording(), bytes)
assert_type(decompressor.memory, int)
assert_type(ZstdContext().decompress(b""), str | None)
ZlibModule(raises=TimeoutError, checks="json").decompressobj()
assert_type(server_extensions(window_bits=11, receive_takeover=False)[0].name, ExtensionName)
[extension] = [client_extensions()[0].process_response_params([], [])]
assert_type(extension, PerMessageDeflate)
assert_type(extension.memory, int)
assert_type(prepare("text"), PreparedText)
assert_type(prepare(bytearray(1), level=9), PreparedBytes)
assert_type(gzip.open("rows.gz", threads=4), gzip.GzipFile)
assert_type(gzip.open("rows.gz", "rt", encoding="utf-8", index="rows.gz.gzidx"), io.TextIOWrapper)
assert_type(gzip.open(b"rows.gz", "wb", 2).write(mapped), int)
assert_type(gzip.GzipFile(fileobj=io.BytesIO(), mode="w", mtime=0).tell(), int)
assert_type([line for line in gzip.open(io.BytesIO())], list[bytes])
assert_type(gzip.build_index("rows.gz", spacing=1 << 20), int)

class Context(Protocol):
    COMPRESSION_TYPE: str
    def decompress(self, data: bytes, /) -> str | None: ...

active: type[Context] = ZstdContext

class Counting(Decompressor):
    count = 0
    def decompress(self, data: Any) -> bytes | None:
        self.count += 1
        return super().decompress(data)

Counting("zlib-stream").decompress(b"")
"""

#: Each line must be rejected.
BAD = """
decoder.decode("x", block)
decoder.decode(id, "text")
decoder.decode_batch([id], [block], order="sorted")
decoder.decode_batch([id], [block], errors="ignore")
store.insert(7)
store["x"]
for id in store: pass
Decoder(decoder)
Encoder(store, level="best")
train(b"bytes", 100)
BlockFile.open("users")
BlockFile.build("users", [b"key"])
BlockFile.open("users", store)["key"]
Decompressor("lz4")
Decompressor("zlib-stream", checks="xml")
decompressor.decompress("text")
decompressor.messages = 5
print(decompressor.envelope.op)
server_extensions(window=11)
client_extensions(level="best")
gzip.open("rows.gz", threads="all")
gzip.open("rows.gz", "wb").write("text")
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy or another of its modules. Returns the exit status and the output."""
    pytest.importorskip("mypy", reason="SKIP: mypy is not installed")
    folder = tmp_path_factory.mktemp("mypy")

    def run(*arguments, module="mypy"):
        command = [sys.executable, "-m", module, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
        return done.returncode, done.stdout + done.stderr

    return run


def test_stub_matches_the_extension(mypy, tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text("pylinerate._pylinerate.__all__\n")
    options = ["--ignore-disjoint-bases", "--allowlist", allowed]
    status, output = mypy(*options, "pylinerate._pylinerate", module="mypy.stubtest")
    assert status == 0, output


def test_modules_pass_strict_mypy(mypy):
    modules = ["dict", "gateway", "_files", "_optional", "_pack", "_process", "_slices", "_threads", "_training"]
    modules += ["_pylinerate", "_zlib_module", "gzip", "websockets"]
    status, output = mypy("--strict", *[word for name in modules for word in ("-m", f"pylinerate.{name}")])
    assert status == 0, output


def test_mypy_accepts_correct_and_rejects_wrong_calls(mypy, tmp_path):
    code = tmp_path / "good.py"
    code.write_text(GOOD)
    status, output = mypy("--strict", code)
    assert status == 0, output
    code = tmp_path / "bad.py"
    code.write_text(GOOD + BAD)
    _, output = mypy("--strict", code)
    first = GOOD.count("\n") + 2
    lines = {int(line.split(":")[1]) for line in output.splitlines() if ": error:" in line}
    assert lines == set(range(first, first + BAD.count("\n") - 1)), output
