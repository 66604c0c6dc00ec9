"""Methods that compress an array in memory."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import filter_plugin
import ours
from measure import MEMORY, Method, Trial, Unavailable
from sets import FRAME


#: Maximum number of channels in a FLAC stream.
FLAC_CHANNELS = 8

#: Number of frames in a chunk of mtscomp: one second at a probe's rate of 30 kHz.
SECOND = 30_000


def signed(array: NDArray) -> NDArray[np.int16]:
    """The same bits as int16."""
    return array.view(np.int16)


class Codec(Trial):
    """A codec for `array`. `encoder` returns the compressed bytes, or a list of byte strings; `decoder` fills `back`
    from them. If a decoder writes whole blocks, `back` has room for more than the array."""

    def __init__(
        self, array: NDArray, back: NDArray, encoder: Callable[[], Any], decoder: Callable[[Any], object]
    ) -> None:
        self.array = self.expected = array
        self.back = back
        self.encoder, self.decode_from = encoder, decoder
        self.stored: Any = b""

    def encode(self) -> None:
        self.stored = self.encoder()

    def decode(self) -> None:
        self.decode_from(self.stored)

    def result(self) -> NDArray:
        return self.back.reshape(-1)[: self.array.size].reshape(self.array.shape)

    def size(self) -> int:
        parts = self.stored if isinstance(self.stored, list) else [self.stored]
        return sum(memoryview(part).nbytes for part in parts)


def _require_16_bits(array: NDArray) -> None:
    if array.itemsize != 2:
        raise Unavailable("the codec takes samples of 16 bits here")


def copy(array: NDArray, back: NDArray) -> Codec:
    """Copies the array without compression, for comparison with the speed of memory."""
    stored = np.empty_like(array)

    def encode() -> NDArray:
        np.copyto(stored, array)
        return stored

    return Codec(array, back, encode, partial(np.copyto, back))


def flac(array: NDArray, back: NDArray, level: int) -> Codec:
    """libFLAC, through libsndfile. Rows are coded one after another as one channel. If rows are
    frames, which have one sample of each channel, they are coded as channels, in streams of up to
    eight.

    FLAC's samples are signed. Unsigned samples are shifted by half the range (their highest bit is flipped) before
    encoding, and compared in that form. 32-bit samples are stored as 24 bits, which libsndfile takes from the upper
    bits. Neither shift is timed, nor is separating the channels before encoding, which favours FLAC.
    """
    import soundfile

    subtype = "PCM_16"
    if array.dtype.kind == "u":
        array, back = signed(array ^ np.uint16(0x8000)), signed(back)
    elif array.dtype == np.int32:
        subtype = "PCM_24"
        if abs(array.astype(np.int64)).max() >= 1 << 23:
            raise Unavailable("samples of more than 24 bits")
        array = array << 8
    channels = array.shape[1] if array.shape[1] <= FRAME else 1
    frames, back_frames = (a.reshape(-1, channels) for a in (array, back))
    streams = [slice(first, first + FLAC_CHANNELS) for first in range(0, channels, FLAC_CHANNELS)]
    parts = [np.ascontiguousarray(frames[:, stream]) for stream in streams]
    # libsndfile's levels are from 0 to 1, FLAC's from 0 to 8.
    options = {"format": "FLAC", "compression_level": level / 8}

    def encode_part(part: NDArray) -> memoryview:
        file = io.BytesIO()
        soundfile.write(file, part, 48000, subtype, **options)
        return file.getbuffer()

    def decode(stored: list[memoryview]) -> None:
        for part, stream in zip(stored, streams, strict=True):
            with soundfile.SoundFile(io.BytesIO(part)) as file:
                if len(streams) == 1:
                    file.read(dtype=back.dtype.name, out=back_frames)
                else:
                    back_frames[:, stream] = file.read(dtype=back.dtype.name, always_2d=True)

    return Codec(array, back, lambda: [encode_part(part) for part in parts], decode)


def wavpack(array: NDArray, back: NDArray, level: int) -> Codec:
    """WavPack, through wavpack-numcodecs. Rows are coded one after another as one channel. If rows
    are frames, which have one sample of each channel, they are coded as channels."""
    from wavpack_numcodecs import WavPack

    if array.dtype.kind == "u":
        raise Unavailable("WavPack's samples are signed")
    codec = WavPack(level=level, num_encoding_threads=1, num_decoding_threads=1)
    samples = array if array.shape[1] <= FRAME else array.reshape(-1, 1)
    return Codec(array, back, partial(codec.encode, samples), lambda stored: codec.decode(stored, back))


def differences_zlib(array: NDArray, back: NDArray) -> Codec:
    """Stores what mtscomp stores: for each second, differences along time, channel after channel, compressed by zlib at
    its default level."""
    if array.shape[1] > FRAME:
        raise Unavailable("rows are no frames")
    starts = range(0, len(array), SECOND)

    def encode() -> list[bytes]:
        chunks = (array[start : start + SECOND] for start in starts)
        return [zlib.compress(np.diff(chunk, axis=0, prepend=chunk[:1] * 0).tobytes(order="F")) for chunk in chunks]

    def decode(stored: list[bytes]) -> None:
        for start, chunk in zip(starts, stored, strict=True):
            differences = np.frombuffer(zlib.decompress(chunk), array.dtype).reshape(array.shape[1], -1)
            np.cumsum(differences.T, axis=0, out=back[start : start + SECOND], dtype=array.dtype)

    return Codec(array, back, encode, decode)


def pco(array: NDArray, back: NDArray, level: int) -> Codec:
    """Pcodec's standalone format."""
    from pcodec import ChunkConfig, standalone

    encode = partial(standalone.simple_compress, array.reshape(-1), ChunkConfig(compression_level=level))
    return Codec(array, back, encode, lambda stored: standalone.simple_decompress_into(stored, back.reshape(-1)))


def aec(array: NDArray, _: NDArray, block: int) -> Codec:
    """libaec, the codec behind HDF5's filter szip, which does not tell it whether samples are
    signed. Here it is told."""
    _require_16_bits(array)
    import imagecodecs

    flags = imagecodecs.AEC.FLAG.DATA_PREPROCESS
    if array.dtype.kind == "i":
        flags |= imagecodecs.AEC.FLAG.DATA_SIGNED
    options = {"bitspersample": 16, "flags": int(flags), "blocksize": block, "rsi": 128}
    # The decoder writes whole blocks.
    back = np.empty(-(-array.size // block) * block, array.dtype)
    encode = partial(imagecodecs.aec_encode, array.reshape(-1), **options)
    return Codec(array, back, encode, partial(imagecodecs.aec_decode, out=back, **options))


def rcomp(array: NDArray, back: NDArray) -> Codec:
    """The Rice codec of CFITSIO, with blocks of 32. It works modulo 2^16, so signs do not matter."""
    _require_16_bits(array)
    import imagecodecs

    flat = signed(back).reshape(-1)
    encode = partial(imagecodecs.rcomp_encode, signed(array).reshape(-1), nblock=32)
    decode = partial(imagecodecs.rcomp_decode, nblock=32, shape=flat.shape, dtype=flat.dtype, out=flat)
    return Codec(array, back, encode, decode)


def blosc2(array: NDArray, back: NDArray, codec: str, threads: int) -> Codec:
    """A Blosc2 chunk with the bitshuffle filter."""
    import blosc2

    options = {
        "codec": getattr(blosc2.Codec, codec.upper()),
        "clevel": 5,
        "filters": [blosc2.Filter.BITSHUFFLE],
        "typesize": array.itemsize,
        "nthreads": threads,
    }
    encode = partial(blosc2.compress2, array, **options)
    return Codec(array, back, encode, partial(blosc2.decompress2, dst=back, nthreads=threads))


def version1(array: NDArray, back: NDArray, m: int | str, threads: int) -> Codec:
    """A Delta-Rice chunk of version 1, with one segment per row. `m` is a number, or "auto" to
    search for the best one, which is timed, too."""
    _require_16_bits(array)
    rice = ours.rice()
    params = None if m == "auto" else rice.Params(m, array.shape[-1])
    out = bytearray(array.nbytes * 25 // 16 + 8 * len(array) + 8)

    def encode() -> memoryview:
        nonlocal params
        if m == "auto":
            params = rice.tune(array, array.shape[-1])
        n = rice.encode(array, out=out, params=params, threads=threads, allow_expansion=True)
        return memoryview(out)[:n]

    return Codec(array, back, encode, lambda stored: rice.decode(stored, params=params, out=back, threads=threads))


def version2(array: NDArray, back: NDArray, threads: int) -> Codec:
    """A Delta-Rice stream of version 2."""
    rice = ours.rice()
    out = bytearray(array.nbytes + 16 * (len(array) + array.size // 1000) + 100)
    encode = lambda: memoryview(out)[: rice.encode2(array, out=out, threads=threads)]
    return Codec(array, back, encode, partial(rice.decode2, out=back, threads=threads))


class FilterCall(Trial):
    """Calls a build of filter 32025 as HDF5 does, but without HDF5, with m = 8 and one segment per row.

    The input buffer is allocated and filled before the time is taken, and the filter's output
    buffer is freed after it.
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
    """Returns a method, or its name and the reason why it is unavailable."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Method(MEMORY, name, make, {package: version(package)}, threads)
    except PackageNotFoundError:
        return name, f"{package} is not installed"


def flac_row(level: int):
    """Returns the row of FLAC at a level from 0 to 8."""
    return _row(f"flac {level}", "soundfile", partial(flac, level=level))


def pco_row(level: int):
    """Returns the row of Pcodec at a level from 0 to 12."""
    return _row(f"pco {level}", "pcodec", partial(pco, level=level))


def _ours(threads: int, every_m: bool) -> Iterator[Method | tuple[str, str]]:
    try:
        ours.rice()
    except Unavailable as e:
        yield "linerate", str(e)
        return
    for n in dict.fromkeys((1, threads)):
        yield Method(MEMORY, "linerate v1 m=8", partial(version1, m=8, threads=n), threads=n)
        yield Method(MEMORY, "linerate v1 auto", partial(version1, m="auto", threads=n), threads=n)
        yield Method(MEMORY, "linerate v2", partial(version2, threads=n), threads=n)
    for m in (2**k for k in range(1, 16) if every_m and k != 3):
        yield Method(MEMORY, f"linerate v1 m={m}", partial(version1, m=m, threads=1))


def _filter_calls(against: filter_plugin.Plugin) -> Iterator[Method | tuple[str, str]]:
    """Yields a method that calls the filter function of the other build, and one that calls
    Linerate's."""
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
    """Yields all methods; for an unavailable one, its name and the reason."""
    yield Method(MEMORY, "memcpy", copy, {"numpy": np.__version__})
    for codec in ("lz4", "zstd"):
        name = f"blosc2 {codec} bitshuffle"
        yield _row(name, "blosc2", partial(blosc2, codec=codec, threads=1))
    if threads > 1:
        yield _row("blosc2 lz4 bitshuffle", "blosc2", partial(blosc2, codec="lz4", threads=threads), threads)
    yield from (pco_row(level) for level in (4, 8))
    yield from (flac_row(level) for level in (0, 5, 8))
    for level, name in ((2, "wavpack"), (3, "wavpack -h")):
        yield _row(name, "wavpack-numcodecs", partial(wavpack, level=level))
    yield Method(MEMORY, "differences, zlib", differences_zlib, {"zlib": zlib.ZLIB_RUNTIME_VERSION})
    yield _row("aec nn 16", "imagecodecs", partial(aec, block=16))
    yield _row("aec nn 32", "imagecodecs", partial(aec, block=32))
    yield _row("rcomp 32", "imagecodecs", rcomp)
    if against is not None:
        yield from _filter_calls(against)
    yield from _ours(threads, every_m)
