"""pylinerate.gzip is compared with the standard library's module."""

import doctest
import errno
import gzip as standard
import io
import os
import pickle
import random
import re
import threading
import time
import zlib

import pytest
from support import REPOSITORY, log_rows, releases_the_interpreter_lock, run_python

from pylinerate import Error, gzip

THREADS = [1, 2, 4]
#: Content large enough that its compressed file exceeds the 64 KiB below which the calling thread
#: decodes alone.
CONTENT = log_rows(1, 1_500_000)
#: Number of zeros after the last member.
ZEROS = 1000
GOLDEN = REPOSITORY / "testdata" / "gzip"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of three members, the second of which is empty, with zeros after the last."""
    path = tmp_path_factory.mktemp("gzip") / "rows.gz"
    middle = len(CONTENT) // 3
    members = [standard.compress(part, 6) for part in (CONTENT[:middle], b"", CONTENT[middle:])]
    path.write_bytes(b"".join(members) + bytes(ZEROS))
    assert path.stat().st_size > 200_000
    return path


@pytest.fixture(scope="module")
def index(path):
    index = path.with_suffix(".index")
    assert gzip.build_index(path, index, spacing=1 << 16) == len(CONTENT)
    return index


@pytest.fixture(params=[(1, False), (2, False), (4, False), (1, True), (4, True)], ids=str)
def options(request, path, index):
    threads, has_index = request.param
    return {"threads": threads, "index": index if has_index else None}


def outcome(call):
    """Returns the result of ``call``, or the class of its error."""
    try:
        return call()
    except Exception as error:
        return type(error)


def test_content_is_that_of_the_standard_library(path, options):
    with gzip.open(path, **options) as ours, standard.open(path) as theirs:
        assert ours.read() == theirs.read() == CONTENT
        assert ours.read() == ours.read(1) == ours.read1() == ours.readline() == b""
        assert ours.tell() == len(CONTENT)


@pytest.mark.parametrize("make", [str, os.fspath, os.fsencode, lambda path: path])
def test_any_kind_of_path_opens_the_file(path, make):
    with gzip.open(make(path), threads=4) as file:
        assert file.read(100) == CONTENT[:100]
        assert file.name == os.fspath(make(path)) and file.mode == "rb"
        assert os.fstat(file.fileno()).st_ino == path.stat().st_ino


def test_random_calls_return_the_same_as_the_standard_library(path, options):
    noise = random.Random(5)
    with gzip.open(path, **options) as ours, standard.open(path) as theirs:

        def readinto(file, size):
            buffer = bytearray(size)
            return file.readinto(buffer), buffer

        calls = [
            lambda file, n: file.read(n),
            lambda file, n: file.read(n * 50),
            lambda file, n: file.readline(),
            lambda file, n: file.readline(n % 50),
            lambda file, n: file.readlines(n),
            lambda file, n: next(file, b""),
            readinto,
            lambda file, n: file.seek(n, 1),
            lambda file, n: file.seek(n * 40),
            lambda file, n: file.seek(-min(n, file.tell()), 1),
            lambda file, n: file.seek(-n, 2),
            lambda file, n: file.read(0),
        ]
        for _ in range(150):
            call, n = noise.choice(calls), noise.randrange(40_000)
            assert call(ours, n) == call(theirs, n)
            assert ours.tell() == theirs.tell()
            assert CONTENT.startswith(ours.peek(10)[:10], ours.tell())
            some = ours.read1(10)
            assert some == theirs.read(len(some)) and (some or ours.tell() == len(CONTENT))


def test_seeking_after_the_end_stops_there_and_before_the_start_is_an_error(path, options):
    with gzip.open(path, **options) as ours, standard.open(path) as theirs:
        for offset, whence in [(10**12, 0), (5, 2), (10**12, 1)]:
            assert ours.seek(offset, whence) == theirs.seek(offset, whence) == len(CONTENT)
        ours.rewind()
        assert ours.tell() == 0
        for offset, whence in [(-1, 0), (0, 7)]:
            with pytest.raises(ValueError):
                ours.seek(offset, whence)


def test_iterating_gives_the_lines(path, options):
    with gzip.open(path, **options) as file:
        assert list(file) == CONTENT.splitlines(keepends=True)


@pytest.mark.parametrize("newline", [None, "", "\n", "\r\n"])
@pytest.mark.parametrize("threads", THREADS)
def test_text_mode_reads_the_same_as_the_standard_library(tmp_path, newline, threads):
    text = "".join(f"Zeile {n}: äöü\r\n" if n % 3 else f"{n}\n" for n in range(50_000))
    path = tmp_path / "text.gz"
    with gzip.open(path, "wt", encoding="utf-16", newline="") as file:
        assert isinstance(file, io.TextIOWrapper)
        file.write(text)
    with gzip.open(path, "rt", encoding="utf-16", newline=newline, threads=threads) as ours:
        with standard.open(path, "rt", encoding="utf-16", newline=newline) as theirs:
            assert ours.read() == theirs.read()
            ours.seek(0)
            theirs.seek(0)
            assert [ours.readline() for _ in range(9)] == [theirs.readline() for _ in range(9)]
    with gzip.open(path, "rt", encoding="ascii", threads=threads) as file, pytest.raises(UnicodeDecodeError):
        file.read()
    with gzip.open(path, "rt", encoding="ascii", errors="replace", threads=threads) as file:
        assert "\ufffd" in file.read()


#: Returns damaged copies of a file, by the name of the damage.
def damaged(data):
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 0x55
    checksum = bytearray(data[:-ZEROS])
    checksum[-7] ^= 1
    length = bytearray(data[:-ZEROS])
    length[-1] ^= 1
    return {
        "garbage after": data + b"garbage",
        "garbage": b"garbage" * 20_000,
        "zeros": bytes(100_000),
        "method": b"\x1f\x8b\x07" + data[3:],
        "truncated": data[: len(data) // 2],
        "in a trailer": data[:-ZEROS][:-3],
        "in a header": data[:7],
        "flipped": bytes(flipped),
        "checksum": bytes(checksum),
        "length": bytes(length),
        "empty": b"",
    }


@pytest.mark.parametrize("what", damaged(b"x" * 2000))
@pytest.mark.parametrize("threads", [1, 4, "object"])
def test_damage_has_the_errors_of_the_standard_library(path, tmp_path, what, threads):
    file = tmp_path / "file.gz"
    file.write_bytes(damaged(path.read_bytes())[what])
    arguments = [io.BytesIO(file.read_bytes())] if threads == "object" else [file]
    options = {} if threads == "object" else {"threads": threads}
    theirs = outcome(lambda: standard.open(file).read())
    with gzip.open(*arguments, **options) as ours:
        if isinstance(theirs, bytes):
            assert ours.read() == theirs
            return
        for _ in range(2):  # the second read raises the error again
            with pytest.raises(theirs) as caught:
                ours.read()
        if theirs is not EOFError:
            assert isinstance(caught.value, gzip.BadGzipFile) and caught.value.kind == "corrupt"
            assert 0 <= caught.value.offset <= file.stat().st_size
        if what in ("truncated", "in a trailer", "garbage after", "checksum", "length"):
            ours.seek(0)
            assert ours.read(300_000) == CONTENT[:300_000]


def test_wrong_arguments_raise_the_errors_of_the_standard_library(path, tmp_path):
    for arguments in [
        (path, "rbt"), (path, "z"), (path, "U"), (path, ""), (7,), (None,),
        (path, "rb", 9, "utf-8"), (path, "rb", 9, None, "strict"), (path, "r", 9, None, None, "\n"),
        (tmp_path / "none.gz",), (path, "xb"), (tmp_path, "rb"), (tmp_path / "made.gz", "wb", 10),
    ]:
        theirs = outcome(lambda: standard.open(*arguments).close())
        if arguments == (path, ""):
            theirs = None  # an empty mode is the same as "rb" here
        assert outcome(lambda: gzip.open(*arguments).close()) == theirs, arguments
    with pytest.raises(ValueError, match="threads"):
        gzip.open(path, threads=0)
    with pytest.raises(ValueError, match="index"):
        gzip.open(tmp_path / "new.gz", "wb", index=path)
    assert not (tmp_path / "new.gz").exists()
    with pytest.raises(TypeError):
        gzip.GzipFile()


def test_reading_a_file_for_writing_is_an_error_and_the_reverse(path, tmp_path):
    with gzip.open(path) as file:
        assert (file.readable(), file.writable(), file.seekable()) == (True, False, True)
        with pytest.raises(OSError, match="write"):
            file.write(b"x")
    with gzip.open(tmp_path / "new.gz", "wb") as file:
        assert (file.readable(), file.writable(), file.seekable()) == (False, True, True)
        for call in (file.read, file.read1, file.peek, file.readline, lambda: next(file), lambda: file.readinto(b"")):
            with pytest.raises(OSError, match="writing"):
                call()
        with pytest.raises(OSError):
            file.rewind()


@pytest.mark.parametrize("threads", THREADS)
def test_calls_on_a_closed_file_are_value_errors(path, threads):
    file = gzip.open(path, threads=threads)
    assert file.read(5) == CONTENT[:5] and not file.closed
    assert isinstance(file, io.BufferedIOBase)
    file.close()
    file.close()
    assert file.closed
    for call in (file.read, file.peek, file.tell, file.flush, lambda: file.seek(0), lambda: file.write(b""), file.__enter__):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_pickling_a_file_is_a_type_error(path):
    with gzip.open(path) as file:
        with pytest.raises(TypeError):
            pickle.dumps(file)


def test_threads_end_when_the_file_is_closed_or_dropped(path):
    def count():
        return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0

    before = count()
    for end in ("close", "drop"):
        file = gzip.open(path, threads=4)
        file.read(1)
        if end == "close":
            file.close()
        del file
        until = time.monotonic() + 30
        while count() > before and time.monotonic() < until:  # the system still lists ended threads for a moment
            time.sleep(0.01)
        assert count() <= before


class Pipe(io.RawIOBase):
    """A file object that cannot seek, and returns few bytes at a time."""

    def __init__(self, data):
        self._file = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, size=-1):
        return self._file.read(min(size, 777))


def test_file_objects_are_read_and_not_closed(path):
    data = path.read_bytes()
    for make in (io.BytesIO, Pipe):
        with gzip.open(make(data), threads=4) as file:
            assert file.seek(1_000_000) == 1_000_000
            assert file.read() == CONTENT[1_000_000:]
            if make is Pipe:
                with pytest.raises(io.UnsupportedOperation):
                    file.seek(0)
            else:
                assert file.seek(3) == 3 and file.read(5) == CONTENT[3:8]
    with open(path, "rb") as raw:
        with gzip.GzipFile(fileobj=raw) as file:
            assert file.name == raw.name and file.read(5) == CONTENT[:5]
        assert not raw.closed


def test_exceptions_of_file_objects_are_raised():
    class Broken:
        def read(self, size):
            raise KeyError("no file")

    class Greedy:
        def read(self, size):
            return bytes(size + 1)

    class Text:
        def read(self, size):
            return "text"

    for made, error in [(Broken(), KeyError), (Greedy(), ValueError), (Text(), TypeError)]:
        with gzip.open(made) as file, pytest.raises(error):
            file.read()


def test_named_pipe_is_read(path, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    with gzip.open(pipe, threads=4) as file:
        assert file.read() == CONTENT
    writer.join()


@pytest.mark.parametrize("level", range(10))
def test_standard_library_reads_written_files(tmp_path, level):
    path, noise = tmp_path / "new.gz", random.Random(level)
    content = CONTENT[:700_000]
    with gzip.open(path, "wb", level) as file:
        at = 0
        while at < len(content):
            size = noise.choice([1, 100, 70_000, 400_000])
            assert file.write(noise.choice([bytes, bytearray, memoryview])(content[at : at + size])) == len(
                content[at : at + size]
            )
            at = min(at + size, len(content))
            assert file.tell() == at
            if noise.random() < 0.2:
                file.flush()
                assert zlib.decompressobj(31).decompress(path.read_bytes()) == content[:at]
        assert file.seek(at + 100) == at + 100 and file.seek(10, 1) == at + 110
        for offset, whence in [(0, 0), (0, 2)]:
            assert outcome(lambda: file.seek(offset, whence)) in (OSError, ValueError)
    assert standard.open(path).read() == content + bytes(110)
    assert level == 0 or path.stat().st_size < len(content) / 2
    with gzip.open(path, "ab") as file:
        file.write(b"more")
    assert standard.open(path).read() == gzip.open(path).read() == content + bytes(110) + b"more"
    with pytest.raises(FileExistsError):
        gzip.open(path, "xb")


def test_header_is_that_of_the_standard_library(tmp_path):
    for name in ("plain", "rows.gz", "ä.gz", "\u0142.gz"):
        written = []
        for module in (gzip, standard):
            out = io.BytesIO()
            with module.GzipFile(tmp_path / name, "wb", 9, out, mtime=1234567890.5) as file:
                file.write(b"x")
            written.append(out.getvalue())
        assert written[0].startswith(written[1][:-11]), "all but the data and the trailer"
    out = io.BytesIO()
    gzip.GzipFile(fileobj=out, mode="w").close()
    assert standard.decompress(out.getvalue()) == b""


def test_index_is_that_of_indexed_gzip(tmp_path):
    """indexed_gzip 1.10.3 wrote the golden index."""
    content = standard.open(GOLDEN / "two-members.gz").read()
    with gzip.open(GOLDEN / "two-members.gz", index=GOLDEN / "two-members.gz.gzidx") as file:
        for at in (170_000, 3, 120_000):
            assert file.seek(at) == at and file.read(1000) == content[at : at + 1000]
    made = tmp_path / "made.gzidx"
    assert gzip.build_index(GOLDEN / "two-members.gz", made, spacing=65_536) == len(content)
    ours, theirs = made.read_bytes(), (GOLDEN / "two-members.gz.gzidx").read_bytes()
    assert ours[:23] == theirs[:23], "version and sizes"
    assert ours[35 : 35 + 2 * 18] == theirs[35 : 35 + 2 * 18], "two points"


def test_index_of_gztool_is_read():
    content = standard.open(GOLDEN / "three-megabytes.gz").read()
    with gzip.open(GOLDEN / "three-megabytes.gz", index=GOLDEN / "three-megabytes.gzi", threads=2) as file:
        assert file.seek(0, 2) == len(content)
        for at in (3_800_000, 2_499_000, 1_300_000, 3):
            assert file.seek(at) == at and file.read(2000) == content[at : at + 2000]
        file.seek(0)
        assert file.read() == content


def test_index_by_default_is_beside_the_file(path):
    assert gzip.build_index(str(path)) == len(CONTENT)
    beside = path.with_name(path.name + ".gzidx")
    with gzip.open(path, index=beside, threads=4) as file:
        assert file.read() == CONTENT
    beside.unlink()


def test_wrong_indexes_are_errors(path, index, tmp_path):
    wrong = tmp_path / "index"
    for data in (b"", b"garbage" * 10, index.read_bytes()[:100]):
        wrong.write_bytes(data)
        with pytest.raises(Error):
            gzip.open(path, index=wrong)
    with pytest.raises(Error, match="size"):
        gzip.open(GOLDEN / "two-members.gz", index=index)
    with pytest.raises(FileNotFoundError):
        gzip.open(path, index=tmp_path / "none")
    truncated = tmp_path / "truncated.gz"
    truncated.write_bytes(path.read_bytes()[:100_000])
    for file, error in [(truncated, EOFError), (index, gzip.BadGzipFile), (tmp_path / "none", FileNotFoundError)]:
        with pytest.raises(error):
            gzip.build_index(file, wrong)


def test_errors_of_the_system_have_number_and_name_of_the_file(path, tmp_path):
    none = tmp_path / "none"
    calls = [
        (none, lambda: gzip.open(none)),
        (none, lambda: gzip.open(path, index=none)),
        (none, lambda: gzip.build_index(none)),
        (none / "index", lambda: gzip.build_index(path, none / "index")),
    ]
    for file, call in calls:
        with pytest.raises(FileNotFoundError) as raised:
            call()
        error = raised.value
        assert (error.errno, os.fspath(error.filename)) == (errno.ENOENT, str(file))
        assert "none" in str(error)


def test_index_never_replaces_its_file(path, tmp_path):
    copy = tmp_path / "copy.gz"
    copy.write_bytes(path.read_bytes())
    link = tmp_path / "copy.gz.gzidx"
    link.symlink_to(copy)
    for index in (copy, link, None):
        with pytest.raises(ValueError, match="replace"):
            gzip.build_index(copy, index)
    assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("threads", THREADS)
def test_other_threads_run_while_a_file_is_read(path, threads):
    def read():
        with gzip.open(path, threads=threads) as file:
            file.read()

    assert releases_the_interpreter_lock(read)


@pytest.mark.parametrize("threads", THREADS)
def test_many_threads_of_a_program_read_one_file(path, threads):
    """The threads together read each byte once."""
    parts = []
    with gzip.open(path, threads=threads) as file:

        def read():
            while part := file.read(10_000):
                parts.append(part)

        readers = [threading.Thread(target=read) for _ in range(4)]
        [reader.start() for reader in readers]
        [reader.join() for reader in readers]
    assert sum(map(len, parts)) == len(CONTENT)
    assert sorted(b"".join(parts)) == sorted(CONTENT)


def test_forked_process_does_not_wait_for_threads(path):
    code = f"""
import os, warnings
warnings.simplefilter("ignore")
from pylinerate import gzip
file = gzip.open({str(path)!r}, threads=4)
file.read(1)
child = os.fork()
if child == 0:
    try:
        file._buffer.raw.read(1)
    except ValueError:
        del file
        os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert len(file.read()) == {len(CONTENT) - 1}
print("done")
"""
    assert run_python(code) == "done\n"


def test_doctests_pass():
    assert doctest.testmod(gzip) == (0, 5)


def test_repr_names_the_file_and_its_state(path):
    with gzip.open(path) as file:
        assert re.fullmatch(r"<gzip '.*rows.gz'>", repr(file).replace("PosixPath(", ""))
    assert "closed" in repr(file)
