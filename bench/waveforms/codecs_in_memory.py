"""Methods that compress an array in memory."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import filter_plugin
import ours
from measure import MEMORY, Method, Trial, Unavailable
from sets import FRAME


def signed(array: NDArray) -> NDArray[np.int16]:
    """The same bits as int16."""
    return array.view(np.int16)


class Codec(Trial):
    """`encode` leaves the compressed bytes in `bytes`."""

    def __init__(self, array: NDArray, back: NDArray) -> None:
        self.array = self.expected = array
        self.back = back
        self.bytes: Any = b""

    def stored(self) -> Any:
        """The compressed bytes."""
        return self.bytes

    def size(self) -> int:
        return len(self.stored())

    def decode(self) -> None:
        self.decode_from(self.stored())

    @abstractmethod
    def decode_from(self, stored: Any) -> None:
        """Fills `back`."""


def _require_16_bits(array: NDArray) -> None:
    if array.itemsize != 2:
        raise Unavailable("the codec takes samples of 16 bits here")


class Copy(Codec):
    """Upper bound of speed: a copy."""

    def __init__(self, array: NDArray, back: NDArray) -> None:
        super().__init__(array, back)
        self.bytes = np.empty_like(array)

    def encode(self) -> None:
        np.copyto(self.bytes, self.array)

    def decode_from(self, stored: NDArray) -> None:
        np.copyto(self.back, stored)

    def size(self) -> int:
        return self.array.nbytes


class Flac(Codec):
    """libFLAC, by way of libsndfile: one channel, the rows one after another, or the channels of frames.

    FLAC's samples are signed. Unsigned samples are shifted by half the range (the highest bit is
    flipped) and decoded as such. 32-bit samples are stored as 24 bits, which libsndfile takes from
    the upper bits. Neither shift is timed, which favours FLAC.
    """

    MAX_CHANNELS = 8

    def __init__(self, array: NDArray, back: NDArray, level: int) -> None:
        import soundfile

        self.soundfile = soundfile
        self.level = level / 8  # libsndfile's scale
        self.channels = array.shape[1] if array.shape[1] <= FRAME else 1
        if self.channels > self.MAX_CHANNELS:
            raise Unavailable(f"FLAC has at most {self.MAX_CHANNELS} channels")
        self.subtype = "PCM_16"
        if array.dtype.kind == "u":
            array, back = signed(array ^ np.uint16(0x8000)), signed(back)
        elif array.dtype == np.int32:
            self.subtype = "PCM_24"
            if abs(array.astype(np.int64)).max() >= 1 << 23:
                raise Unavailable("samples of more than 24 bits")
            array = array << 8
        super().__init__(array, back)

    def encode(self) -> None:
        file = io.BytesIO()
        samples = self.array.reshape(-1, self.channels)
        self.soundfile.write(
            file, samples, 48000, self.subtype, format="FLAC", compression_level=self.level
        )
        self.bytes = file.getbuffer()

    def decode_from(self, stored: Any) -> None:
        with self.soundfile.SoundFile(io.BytesIO(stored)) as file:
            file.read(dtype=self.back.dtype.name, out=self.back.reshape(-1, self.channels))


class Pco(Codec):
    """Pcodec's standalone format."""

    def __init__(self, array: NDArray, back: NDArray, level: int) -> None:
        super().__init__(array, back)
        from pcodec import ChunkConfig, standalone

        self.standalone, self.config = standalone, ChunkConfig(compression_level=level)

    def encode(self) -> None:
        self.bytes = self.standalone.simple_compress(self.array.reshape(-1), self.config)

    def decode_from(self, stored: bytes) -> None:
        self.standalone.simple_decompress_into(stored, self.back.reshape(-1))


class Aec(Codec):
    """libaec, the codec behind szip, told whether the samples are signed."""

    def __init__(self, array: NDArray, back: NDArray, block: int) -> None:
        super().__init__(array, back)
        _require_16_bits(array)
        import imagecodecs

        flags = imagecodecs.AEC.FLAG.DATA_PREPROCESS
        if array.dtype.kind == "i":
            flags |= imagecodecs.AEC.FLAG.DATA_SIGNED
        options = {"bitspersample": 16, "flags": int(flags), "blocksize": block, "rsi": 128}
        self.encoder = partial(imagecodecs.aec_encode, **options)
        self.decoder = partial(imagecodecs.aec_decode, **options)
        # The decoder writes whole blocks.
        self.back = np.empty(-(-array.size // block) * block, array.dtype)

    def encode(self) -> None:
        self.bytes = self.encoder(self.array.reshape(-1))

    def decode_from(self, stored: bytes) -> None:
        self.decoder(stored, out=self.back)

    def result(self) -> NDArray:
        return self.back[: self.array.size].reshape(self.array.shape)


class Rcomp(Codec):
    """The Rice codec of CFITSIO, blocks of 32. It works modulo 2^16, so signs do not matter."""

    def __init__(self, array: NDArray, back: NDArray) -> None:
        super().__init__(array, back)
        _require_16_bits(array)
        import imagecodecs

        self.encoder = partial(imagecodecs.rcomp_encode, nblock=32)
        self.decoder = partial(imagecodecs.rcomp_decode, nblock=32)

    def encode(self) -> None:
        self.bytes = self.encoder(signed(self.array).reshape(-1))

    def decode_from(self, stored: bytes) -> None:
        flat = signed(self.back).reshape(-1)
        self.decoder(stored, shape=flat.shape, dtype=flat.dtype, out=flat)


class Blosc2(Codec):
    """A Blosc2 chunk with the bitshuffle filter."""

    def __init__(self, array: NDArray, back: NDArray, codec: str, threads: int) -> None:
        super().__init__(array, back)
        import blosc2

        self.blosc2, self.threads = blosc2, threads
        self.options = {
            "codec": getattr(blosc2.Codec, codec.upper()),
            "clevel": 5,
            "filters": [blosc2.Filter.BITSHUFFLE],
            "typesize": array.itemsize,
            "nthreads": threads,
        }

    def encode(self) -> None:
        self.bytes = self.blosc2.compress2(self.array, **self.options)

    def decode_from(self, stored: bytes) -> None:
        self.blosc2.decompress2(stored, dst=self.back, nthreads=self.threads)


class Version1(Codec):
    """A Delta-Rice chunk, one segment per row. `m` is a number or "auto", whose search is timed, too."""

    def __init__(self, array: NDArray, back: NDArray, m: int | str, threads: int) -> None:
        super().__init__(array, back)
        _require_16_bits(array)
        self.rice, self.m, self.threads = ours.rice(), m, threads
        self.params = None if m == "auto" else self.rice.Params(m, array.shape[-1])
        self.out = bytearray(array.nbytes * 25 // 16 + 8 * len(array) + 8)

    def encode(self) -> None:
        if self.m == "auto":
            self.params = self.rice.tune(self.array, self.array.shape[-1])
        how = {"params": self.params, "threads": self.threads, "allow_expansion": True}
        n = self.rice.encode(self.array, out=self.out, **how)
        self.bytes = memoryview(self.out)[:n]

    def decode_from(self, stored: Any) -> None:
        self.rice.decode(stored, params=self.params, out=self.back, threads=self.threads)


class Version2(Codec):
    """A version 2 stream."""

    def __init__(self, array: NDArray, back: NDArray, threads: int) -> None:
        super().__init__(array, back)
        self.rice, self.threads = ours.rice(), threads
        self.out = bytearray(array.nbytes + 16 * (len(array) + array.size // 1000) + 100)

    def encode(self) -> None:
        n = self.rice.encode2(self.array, out=self.out, threads=self.threads)
        self.bytes = memoryview(self.out)[:n]

    def decode_from(self, stored: Any) -> None:
        self.rice.decode2(stored, out=self.back, threads=self.threads)


class FilterCall(Trial):
    """A build of filter 32025 called as HDF5 calls it, but without HDF5: m = 8, a row is a segment.

    The input buffer is allocated and filled before the timing, the output buffer of the filter is freed after it.
    """

    def __init__(self, array: NDArray, back: NDArray, plugin: filter_plugin.Plugin) -> None:
        self.array = self.expected = array
        self.back = back
        self.plugin = plugin
        self.cd_values = (8, array.shape[-1])
        self.buffer: filter_plugin.Buffer | None = None
        self.chunk: NDArray[np.uint8] | None = None

    def before_encode(self) -> None:
        self.chunk = None
        self.buffer = filter_plugin.Buffer(self.array)

    def encode(self) -> None:
        self.plugin.encode(self.cd_values, self.buffer)

    def _encoded(self) -> NDArray[np.uint8]:
        if self.chunk is None:
            self.chunk = self.buffer.view().copy()
        return self.chunk

    def before_decode(self) -> None:
        self.buffer = filter_plugin.Buffer(self._encoded())

    def decode(self) -> None:
        self.plugin.decode(self.cd_values, self.buffer)

    def result(self) -> NDArray:
        return self.buffer.view().view(self.array.dtype).reshape(self.array.shape)

    def size(self) -> int:
        return len(self._encoded())

    def close(self) -> None:
        self.buffer = None


def _row(name: str, package: str, make: Callable[[NDArray, NDArray], Trial], threads: int = 1):
    """A method, or its name and why it is unavailable."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Method(MEMORY, name, make, {package: version(package)}, threads)
    except PackageNotFoundError:
        return name, f"{package} is not installed"


def flac(level: int):
    """The row of FLAC at a level from 0 to 8."""
    return _row(f"flac {level}", "soundfile", partial(Flac, level=level))


def pco(level: int):
    """The row of Pcodec at a level from 0 to 12."""
    return _row(f"pco {level}", "pcodec", partial(Pco, level=level))


def _ours(threads: int, every_m: bool) -> Iterator[Method | tuple[str, str]]:
    try:
        rice = ours.rice()
    except Unavailable as e:
        yield "linerate", str(e)
        return
    for n in dict.fromkeys((1, threads)):
        yield Method(MEMORY, "linerate v1 m=8", partial(Version1, m=8, threads=n), threads=n)
        yield Method(MEMORY, "linerate v1 auto", partial(Version1, m="auto", threads=n), threads=n)
        if hasattr(rice, "encode2"):
            yield Method(MEMORY, "linerate v2", partial(Version2, threads=n), threads=n)
    if not hasattr(rice, "encode2"):
        yield "linerate v2", "this pylinerate has no version 2"
    for m in (2**k for k in range(1, 16) if every_m and k != 3):
        yield Method(MEMORY, f"linerate v1 m={m}", partial(Version1, m=m, threads=1))


def _filter_calls(against: filter_plugin.Plugin) -> Iterator[Method | tuple[str, str]]:
    """Methods that call the filter function of the other build, and of ours."""
    name = "m=8, filter call"
    yield Method(MEMORY, f"{against.name}, {name}", partial(FilterCall, plugin=against), against.version)
    try:
        plugin = filter_plugin.Plugin(ours.plugin())
    except Unavailable as e:
        yield f"linerate v1 {name}", str(e)
        return
    yield Method(MEMORY, f"linerate v1 {name}", partial(FilterCall, plugin=plugin))


def rows(
    threads: int, against: filter_plugin.Plugin | None, every_m: bool = False
) -> Iterator[Method | tuple[str, str]]:
    """All methods; for an unavailable one, its name and the reason."""
    yield Method(MEMORY, "memcpy", Copy, {"numpy": np.__version__})
    for codec in ("lz4", "zstd"):
        name = f"blosc2 {codec} bitshuffle"
        yield _row(name, "blosc2", partial(Blosc2, codec=codec, threads=1))
    if threads > 1:
        yield _row("blosc2 lz4 bitshuffle", "blosc2", partial(Blosc2, codec="lz4", threads=threads), threads)
    yield from (pco(level) for level in (4, 8))
    yield from (flac(level) for level in (0, 5, 8))
    yield _row("aec nn 16", "imagecodecs", partial(Aec, block=16))
    yield _row("aec nn 32", "imagecodecs", partial(Aec, block=32))
    yield _row("rcomp 32", "imagecodecs", Rcomp)
    if against is not None:
        yield from _filter_calls(against)
    yield from _ours(threads, every_m)
