"""Reads and writes gzip files like the standard library's module ``gzip``, but decodes on several
threads, and reaches any position at once with an index.

>>> import os, tempfile
>>> from pylinerate import gzip
>>> path = os.path.join(tempfile.mkdtemp(), "notes.txt.gz")
>>> with gzip.open(path, "wt") as file:
...     _ = file.write("one\\ntwo\\n")
>>> with gzip.open(path, "rt", threads=4) as file:
...     file.readlines()
['one\\n', 'two\\n']
"""

from __future__ import annotations

import builtins
import errno
import gzip
import io
import os
import stat
import struct
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, cast, overload

from ._pylinerate import Error, GzipEncoder, GzipReader, gzip_build_index
from ._threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from ._slices import AnyBuffer

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    BinaryMode: TypeAlias = Literal["r", "rb", "a", "ab", "w", "wb", "x", "xb"]
    TextMode: TypeAlias = Literal["rt", "at", "wt", "xt"]

__all__ = ["BadGzipFile", "GzipFile", "build_index", "open"]

#: Size in bytes of the buffer for decoded content, which each file opened for reading has.
BUFFER = 128 << 10
#: Number of bytes that are read at a time when all content is read, or written at a time when
#: :meth:`GzipFile.seek` writes zeros.
CHUNK = 1 << 20


class BadGzipFile(gzip.BadGzipFile, zlib.error):
    """The file is not in gzip format, or is damaged. Programs written for the standard library
    catch this error as ``gzip.BadGzipFile`` or ``zlib.error``.

    Attributes
    ----------
    kind : str
        Always "corrupt".
    offset : int
        Offset in the compressed file, in bytes from the position where reading began.
    """

    kind: str
    offset: int


@contextmanager
def _translated() -> Iterator[None]:
    """Raises the standard library's exceptions in place of decoding errors: ``EOFError`` for a
    truncated file, :class:`BadGzipFile` for a damaged one. Other errors are not changed."""
    try:
        yield
    except Error as error:
        if error.kind == "truncated":
            message = "Compressed file ended before the end-of-stream marker was reached"
            raise EOFError(message) from error
        if error.kind != "corrupt":
            raise
        bad = BadGzipFile(str(error))
        bad.kind, bad.offset = error.kind, error.offset
        raise bad from None


class _Content(io.RawIOBase):
    """The decoded content of a gzip file, without a buffer. ``io.BufferedReader`` reads it."""

    def __init__(self, reader: GzipReader) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _translated():
            return self._reader.readinto(memoryview(buffer).cast("B"))

    def readall(self) -> bytes:
        content, chunk = bytearray(), memoryview(bytearray(CHUNK))
        while read := self.readinto(chunk):
            content += chunk[:read]
        return bytes(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with _translated():
            return self._reader.seek(offset, whence)

    def tell(self) -> int:
        return self._reader.tell()

    def close(self) -> None:
        if not self.closed:
            self._reader.close()
        super().close()


class GzipFile(io.BufferedIOBase):
    """A gzip file, with the interface of the standard library's ``gzip.GzipFile``.

    Parameters
    ----------
    filename : path, optional
        The file; together with ``fileobj`` only the name to store in the header.
    mode : str, optional
        "r", "a", "w" or "x", with or without "b". Default: the mode of ``fileobj``, or "rb".
    compresslevel : int
        0 to 9; -1 means 6. The levels are Linerate's: 2 is for speed, 6 is as small as zlib's 6, 9
        is the smallest and by far the slowest. Default: 9.
    fileobj : file object, optional
        The compressed file. :meth:`close` leaves it open.
    mtime : number, optional
        The time to store in the header, in seconds since 1970. Default: now.
    threads : int, optional
        Number of threads that decode, if a regular file is opened by its name and read from its
        beginning. 1: calls that read decode. 2: another thread decodes ahead of the program. 3 or
        more: these threads decode together, for about twice the CPU time, or for hardly more with
        an index. Default: the environment variable ``LINERATE_THREADS``, else 1.
    index : path, optional
        An index of the file, written by :func:`build_index`, indexed_gzip or gztool. With it you
        reach every position at once. After a seek, calls that read decode, and no checksum
        verifies the content up to the next member.

    Raises
    ------
    OSError
        If a file cannot be opened.
    Error
        If the index is damaged, has an unknown format, or belongs to a file of another size.
    """

    #: The compressed file; None after :meth:`close`.
    fileobj: Any
    #: "rb" for reading, "wb" for writing in any mode.
    mode: str
    #: The name of the compressed file, or "" if it is not known.
    name: Any

    def __init__(
        self,
        filename: Path | None = None,
        mode: str | None = None,
        compresslevel: int = 9,
        fileobj: Any = None,
        mtime: float | None = None,
        *,
        threads: int | None = None,
        index: Path | None = None,
    ) -> None:
        self.fileobj, self._own = None, None
        if mode and ("t" in mode or "U" in mode):
            raise ValueError(f"Invalid mode: {mode!r}")
        if mode and "b" not in mode:
            mode += "b"
        given_mode: Any = mode or getattr(fileobj, "mode", "rb")
        reads = not isinstance(given_mode, str) or given_mode.startswith("r")
        if not reads and not given_mode.startswith(("w", "a", "x")):
            raise ValueError(f"Invalid mode: {given_mode!r}")
        if index is not None and not reads:
            raise ValueError("an index is for reading")
        threads = thread_count(threads)
        encoder = None if reads else GzipEncoder(_level(compresslevel))
        if fileobj is None:
            if filename is None:
                raise TypeError("a GzipFile needs a filename or a fileobj")
            fileobj = self._own = builtins.open(filename, given_mode)
        try:
            if filename is None:
                filename = getattr(fileobj, "name", "")
            self.name = os.fspath(filename) if isinstance(filename, (str, bytes, os.PathLike)) else ""
            self.mode = "rb" if reads else "wb"
            if encoder is None:
                # The native reader opens the path again, and then can use threads. For a regular
                # file this gives the same content. For a pipe it would not, so fileobj is read.
                own = self._own is not None and stat.S_ISREG(os.fstat(fileobj.fileno()).st_mode)
                path = os.fsdecode(self.name) if own else None
                index_path = None if index is None else os.fsdecode(index)
                self._buffer = io.BufferedReader(_Content(GzipReader(fileobj, path, threads, index_path)), BUFFER)
            else:
                self._encoder, self._position = encoder, 0
                fileobj.write(_header(self.name, compresslevel, time.time() if mtime is None else mtime))
        except BaseException:
            if self._own is not None:
                self._own.close()
            raise
        self.fileobj = fileobj

    def _check(self, mode: str, name: str) -> None:
        if self.fileobj is None:
            raise ValueError("I/O operation on closed file.")
        if self.mode != mode:
            raise OSError(errno.EBADF, f"{name}() on a GzipFile for {'writing' if mode == 'rb' else 'reading'}")

    def read(self, size: int | None = -1) -> bytes:
        """Reads ``size`` bytes, or fewer at the end; everything if ``size`` is negative or None."""
        self._check("rb", "read")
        return self._buffer.read(size)

    def read1(self, size: int = -1) -> bytes:
        """Reads up to ``size`` bytes with at most one call of the decoder. If ``size`` is negative,
        reads up to ``io.DEFAULT_BUFFER_SIZE`` bytes."""
        self._check("rb", "read1")
        return self._buffer.read1(io.DEFAULT_BUFFER_SIZE if size < 0 else size)

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer with content, only in part if the content ends before. Returns the number
        of bytes."""
        self._check("rb", "readinto")
        return self._buffer.readinto(buffer)

    def readinto1(self, buffer: Any) -> int:
        """Reads into a buffer with at most one call of the decoder, which may not fill it. Returns
        the number of bytes."""
        self._check("rb", "readinto1")
        return self._buffer.readinto1(buffer)

    def peek(self, n: int = 0) -> bytes:
        """Returns the next bytes of content, as many as are buffered, without changing the
        position. Empty only at the end. ``n`` is ignored."""
        self._check("rb", "peek")
        return self._buffer.peek(n)

    def readline(self, size: int | None = -1) -> bytes:
        """Reads a line with its line feed, or only its first ``size`` bytes if it is longer."""
        self._check("rb", "readline")
        return self._buffer.readline(size)

    def __next__(self) -> bytes:
        self._check("rb", "read")
        return next(self._buffer)

    def write(self, data: AnyBuffer) -> int:
        """Compresses data and returns its number of bytes. Bytes that do not complete a block of
        256 KiB reach the compressed file with later ones, or by :meth:`flush` or :meth:`close`."""
        self._check("wb", "write")
        view = memoryview(cast("Buffer", data))
        if view.nbytes:
            encoded = self._encoder.write(view)
            if encoded:
                self.fileobj.write(encoded)
            self._position += view.nbytes
        return view.nbytes

    def flush(self, zlib_mode: int = zlib.Z_SYNC_FLUSH) -> None:
        """Writes all data so far to the compressed file, so that a reader can decode it. Does
        nothing if the file is open for reading. ``zlib_mode`` is ignored."""
        if self.fileobj is None:
            raise ValueError("I/O operation on closed file.")
        if self.mode == "wb":
            self.fileobj.write(self._encoder.flush())
            self.fileobj.flush()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Sets the position in the content, and returns it. When reading, a position after the end
        becomes the end; without an index, everything up to the position is decoded. When writing,
        seeks only forward and not from the end, and writes zeros up to the position."""
        if self.fileobj is None:
            raise ValueError("I/O operation on closed file.")
        if self.mode == "rb":
            return self._buffer.seek(offset, whence)
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence != io.SEEK_SET:
            raise ValueError("Seek from end not supported")
        if offset < self._position:
            raise OSError("Negative seek in write mode")
        zeros = bytes(min(offset - self._position, CHUNK))
        while self._position < offset:
            self.write(zeros[: offset - self._position])
        return self._position

    def rewind(self) -> None:
        """Goes back to the beginning of the content. Raises ``OSError`` if the file is open for
        writing."""
        if self.mode != "rb":
            raise OSError("Can't rewind in write mode")
        self.seek(0)

    def close(self) -> None:
        """Closes the file. When writing, first ends the gzip member. The compressed file itself is
        closed only if it was opened by its name. A second call does nothing."""
        fileobj, self.fileobj = self.fileobj, None
        if fileobj is None:
            return
        try:
            if self.mode == "wb":
                fileobj.write(self._encoder.finish())
            else:
                self._buffer.close()
        finally:
            if self._own is not None:
                self._own.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self.fileobj is None

    def fileno(self) -> int:
        """The descriptor of the compressed file. If a regular file was opened by its name, its
        content is read through another descriptor."""
        number: int = self.fileobj.fileno()
        return number

    def readable(self) -> bool:
        """Whether the file was opened for reading. Does not change when it is closed."""
        return self.mode == "rb"

    def writable(self) -> bool:
        """Whether the file was opened for writing. Does not change when it is closed."""
        return self.mode == "wb"

    def seekable(self) -> bool:
        """Always true."""
        return True

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied: open it again")

    def __repr__(self) -> str:
        return f"<gzip {self.name!r}{', closed' if self.fileobj is None else ''}>"


def _level(compresslevel: int) -> int:
    if compresslevel not in range(-1, 10):
        raise ValueError(f"compresslevel is {compresslevel}, but must be 0 to 9")
    return 6 if compresslevel == -1 else compresslevel


def _header(name: Any, level: int, mtime: float) -> bytes:
    """The header of a gzip member (RFC 1952). It has the name of the file, without folders and
    ``.gz``, if Latin-1 can encode it."""
    try:
        name = os.path.basename(name)
        name = name if isinstance(name, bytes) else name.encode("latin-1")
    except UnicodeEncodeError:
        name = b""
    name = name.removesuffix(b".gz")
    extra_flags = {9: 2, 1: 4}.get(level, 0)
    fixed = struct.pack("<4BLBB", 0x1F, 0x8B, 8, 8 if name else 0, int(mtime), extra_flags, 255)
    return fixed + (name + b"\0" if name else b"")


@overload
def open(
    filename: Path | Any,
    mode: BinaryMode = "rb",
    compresslevel: int = 9,
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    *,
    threads: int | None = None,
    index: Path | None = None,
) -> GzipFile: ...
@overload
def open(
    filename: Path | Any,
    mode: TextMode,
    compresslevel: int = 9,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    threads: int | None = None,
    index: Path | None = None,
) -> io.TextIOWrapper: ...
@overload
def open(
    filename: Path | Any,
    mode: str,
    compresslevel: int = 9,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    threads: int | None = None,
    index: Path | None = None,
) -> GzipFile | io.TextIOWrapper: ...
def open(
    filename: Path | Any,
    mode: str = "rb",
    compresslevel: int = 9,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    threads: int | None = None,
    index: Path | None = None,
) -> GzipFile | io.TextIOWrapper:
    """Opens a gzip file, like the standard library's ``gzip.open``.

    Parameters
    ----------
    filename : path or file object
        The compressed file. A file object is read and written only by the threads that call the
        result, and is not closed.
    mode : str
        "r", "rb", "w", "wb", "x", "xb", "a" or "ab" for bytes, "rt", "wt", "xt" or "at" for text.
    compresslevel, threads, index
        As in :class:`GzipFile`.
    encoding, errors, newline : str, optional
        For text, as in Python's ``open``.

    Returns
    -------
    GzipFile
        In a mode for text: an ``io.TextIOWrapper`` around a :class:`GzipFile`.
    """
    if "t" in mode:
        if "b" in mode:
            raise ValueError(f"Invalid mode: {mode!r}")
    else:
        for name, value in {"encoding": encoding, "errors": errors, "newline": newline}.items():
            if value is not None:
                raise ValueError(f"Argument {name!r} not supported in binary mode")
    binary = mode.replace("t", "")
    if isinstance(filename, (str, bytes, os.PathLike)):
        file = GzipFile(filename, binary, compresslevel, threads=threads, index=index)
    elif hasattr(filename, "read") or hasattr(filename, "write"):
        file = GzipFile(None, binary, compresslevel, filename, threads=threads, index=index)
    else:
        raise TypeError("filename must be a str or bytes object, or a file")
    if "t" not in mode:
        return file
    return io.TextIOWrapper(file, io.text_encoding(encoding), errors, newline)


def build_index(filename: Path, index: Path | None = None, *, spacing: int = 4 << 20) -> int:
    """Decodes a gzip file, and writes its index in the format of indexed_gzip.

    Parameters
    ----------
    filename : path
        The file.
    index : path, optional
        The index. Default: the name of the file with ``.gzidx`` appended. An existing file is
        replaced only when the index is complete.
    spacing : int
        Minimum number of bytes of content between two points of the index within a member. Less
        than 64 KiB counts as 64 KiB. A point takes 32 KiB in the index, unless it is at the
        beginning of a member.

    Returns
    -------
    int
        The length of the content in bytes.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    BadGzipFile, EOFError
        If the file is damaged or truncated.
    ValueError
        If the index would replace the file itself.
    """
    path = os.fsdecode(filename)
    target = path + ".gzidx" if index is None else os.fsdecode(index)
    if os.path.exists(target) and os.path.samefile(path, target):
        raise ValueError(f"the index would replace the file itself: {target!r}")
    with _translated():
        return gzip_build_index(path, target, spacing)
