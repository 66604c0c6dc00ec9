"""Codecs for arrays of zarr format 3. They convert arrays to bytes: pass one as ``serializer``.

With ``zarr.config.enable_gpu()`` they decode chunks into zarr's buffers in device memory, and
encode chunks there, see :mod:`pylinerate.gpu`.

zarr finds them by name once this package is installed; programs need not import it.

>>> import numpy as np, zarr
>>> rice = {"name": "linerate.deltarice", "configuration": {"m": 16}}
>>> samples = zarr.create_array({}, shape=(8, 1000), chunks=(4, 1000), dtype="int16", serializer=rice, compressors=None)
>>> samples[:] = np.arange(8000).reshape(8, 1000)
>>> int(samples[5, 999])
5999
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from ._optional import require

require("zarr", extra="zarr")

import numpy as np
from numpy.typing import ArrayLike, NDArray
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.common import parse_named_configuration

from . import Error, gpu
from ._arrays import sample_dtype, stream_channels, stream_segment
from ._threads import thread_count
from .numcodecs import fixed_params
from ._streams import encode_rows2
from .rice import (
    DELTA,
    Info2,
    decode,
    decode2,
    decode2_segments,
    decode_segments,
    encode,
    info2,
    segment_in,
    tune,
    warn_if_large,
)

__all__ = ["DeltaRice", "DeltaRice2"]


class _Codec(ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """Base of the codecs of this module.

    Worker threads encode and decode. Of a chunk in host memory, only the segments with the rows
    from the first selected one to the last are decoded, unless the array has further codecs.
    """

    is_fixed_size = False
    name: str
    #: Supported sizes of a sample in bytes.
    sizes: tuple[int, ...]

    def _configuration(self) -> dict[str, Any]:
        raise NotImplementedError

    def _encode(self, samples: NDArray[Any]) -> bytes:
        raise NotImplementedError

    def _decode(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def _decode_segments(
        self, chunk: NDArray[np.uint8], wanted: range, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], int]:
        """Decodes the segments that contain the samples with the numbers ``wanted``. Returns their
        samples in one axis, and the number of the first of these samples in the chunk."""
        raise NotImplementedError

    def _encode_on_device(self, array: Any) -> bytes:
        """Encodes an array in the memory of a GPU as a chunk in host memory. Raises
        ``NotImplementedError`` if the GPU cannot; the CPU then encodes."""
        raise NotImplementedError

    def _decode_on_device(self, chunk: Any, out: Any) -> None:
        """Decodes a chunk in the memory of a GPU to the array ``out`` in its memory. Raises an
        error of the kind "unsupported" if the GPU cannot; the CPU then decodes."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Makes the codec that an array's metadata describes."""
        _, configuration = parse_named_configuration(data, cls.name, require_configuration=False)
        return cls(**(configuration or {}))

    def to_dict(self) -> dict[str, Any]:
        """The codec as it is stored in an array's metadata."""
        return {"name": self.name, "configuration": self._configuration()}

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Returns this codec. zarr calls this method when an array is created. It raises
        ``TypeError`` if the codec cannot encode the array's type, in an array with shards too."""
        sample_dtype(native_dtype(array_spec.dtype), self.sizes)
        return self

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Raises ``NotImplementedError``, since the size of a chunk is not known in advance."""
        raise NotImplementedError("the size of a compressed chunk depends on its samples")

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)

    async def _decode_partial_single(
        self, byte_getter: Any, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        chunk_data = await byte_getter.get(chunk_spec.prototype)
        if chunk_data is None:
            return None
        return await asyncio.to_thread(self._decode_selection, chunk_data, selection, chunk_spec)

    def _decode_partial_sync(
        self, byte_getter: Any, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        """``_decode_partial_single`` for ``FusedCodecPipeline`` of zarr 3.3 and newer."""
        chunk_data = byte_getter.get_sync(prototype=chunk_spec.prototype)
        return None if chunk_data is None else self._decode_selection(chunk_data, selection, chunk_spec)

    def _decode_selection(self, chunk_data: Buffer, selection: Any, chunk_spec: ArraySpec) -> NDBuffer:
        """Decodes the selected samples of a chunk."""
        if in_device_memory(chunk_data):
            # A GPU decodes a whole chunk as fast as a part of it.
            return self._decode_sync(chunk_data, chunk_spec)[selection]
        chunk, shape, dtype = chunk_data.as_numpy_array(), chunk_spec.shape, native_dtype(chunk_spec.dtype)
        rows = rows_of(selection, shape)
        if not shape or len(rows) == shape[0]:
            selected = self._decode(chunk, shape, dtype)[selection]
        else:
            row = math.prod(shape[1:])
            wanted = range(rows.start * row, rows.stop * row)
            samples, before = self._decode_segments(chunk, wanted, shape, dtype)
            some = samples[wanted.start - before : wanted.stop - before].reshape(len(rows), *shape[1:])
            selected = some[moved(selection[0], rows.start), *selection[1:]]
        return chunk_spec.prototype.nd_buffer.from_numpy_array(np.asarray(selected))

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        if in_device_memory(chunk_data):
            try:
                encoded = self._encode_on_device(chunk_data.as_ndarray_like())
                return chunk_spec.prototype.buffer.from_bytes(encoded)
            except NotImplementedError:
                pass  # there are no kernels that encode this, so the CPU does
        array = chunk_data.as_numpy_array()
        # The stored bytes do not depend on the byte order in memory.
        samples = array.astype(array.dtype.newbyteorder("="), copy=False)
        return chunk_spec.prototype.buffer.from_bytes(self._encode(samples))

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        dtype = native_dtype(chunk_spec.dtype)
        if in_device_memory(chunk_data):
            out = chunk_spec.prototype.nd_buffer.empty(chunk_spec.shape, dtype)
            try:
                self._decode_on_device(chunk_data.as_array_like(), out.as_ndarray_like())
                return out
            except Error as error:
                if error.kind != "unsupported":
                    raise  # "unsupported": no kernels decode this, so the CPU does
        samples = self._decode(chunk_data.as_numpy_array(), chunk_spec.shape, dtype)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(samples)


def in_device_memory(buffer: Buffer | NDBuffer) -> bool:
    """Whether a buffer is in the memory of a GPU, as with ``zarr.config.enable_gpu()``."""
    array = buffer.as_array_like() if isinstance(buffer, Buffer) else buffer.as_ndarray_like()
    return hasattr(array, "__cuda_array_interface__")


def rows_of(selection: Any, shape: tuple[int, ...]) -> range:
    """The range of rows, along the first axis of a chunk of this shape, from the first selected one
    to the last. All rows if the selection is empty or of a kind that this function does not
    know."""
    everything = range(shape[0]) if shape else range(1)
    first = selection[0] if isinstance(selection, tuple) and selection else None
    if isinstance(first, slice):
        picked = everything[first]
    elif isinstance(first, np.ndarray) and first.dtype.kind in "iu" and first.size:
        picked = range(int(first.min()), int(first.max()) + 1)
    elif isinstance(first, (int, np.integer)) and not isinstance(first, bool):
        picked = range(int(first), int(first) + 1)
    else:
        return everything
    if not picked or picked.step < 0 or picked[0] < 0 or picked[-1] >= len(everything):
        return everything
    return range(picked[0], picked[-1] + 1)


def moved(index: Any, by: int) -> Any:
    """Converts ``index``, a selection along the first axis of an array, to the selection of the
    same rows in an array without the first ``by`` rows."""
    if isinstance(index, slice):
        stop = None if index.stop is None else index.stop - by
        return slice((index.start or 0) - by, stop, index.step)
    return index - by


def native_dtype(dtype: Any) -> np.dtype[Any]:
    """NumPy's type for a zarr type, in the machine's byte order."""
    return np.dtype(dtype.to_native_dtype()).newbyteorder("=")


@dataclass(frozen=True)
class DeltaRice(_Codec):
    """Delta-Rice with fixed parameters, for arrays of 16-bit integers.

    Samples are predicted from those before them, so the last axis should be time. If the first axis
    is time, as in (samples, channels), use :class:`DeltaRice2`, or
    ``filters=zarr.codecs.TransposeCodec(order=(1, 0))``.

    If a chunk takes at least 70 % of samples of 4096 bytes or more, and another ``m`` or order of
    the samples would make it smaller by more than 30 %, you get a ``UserWarning``, once for each
    shape and parameters.

    Parameters
    ----------
    m : int
        The Rice parameter, a power of two from 2 to 32768. The bytes of a chunk do not include it,
        so it is part of the array's metadata, and there is no "auto": use :meth:`for_array`.
    segment : int or None
        Samples per independently coded waveform, -1 for the whole chunk. Default: by the shape of
        the chunks, see :mod:`pylinerate.rice`.
    filter : sequence of int
        Coefficients, the first of them 1 or -1.
    threads : int, optional
        Maximum number of threads per chunk. Default: the environment variable ``LINERATE_THREADS``,
        else 1, since zarr works on several chunks at a time anyway. Not part of the metadata.
    allow_expansion : bool
        Whether chunks may be larger than their samples by more than 2 % and more than 64 bytes;
        otherwise writing them is a ``ValueError``. Part of the metadata if it is true.
    """

    name = "linerate.deltarice"
    sizes = (2,)

    m: int = 8
    segment: int | None = None
    filter: tuple[int, ...] = DELTA
    threads: int | None = field(default=None, compare=False)
    allow_expansion: bool = False

    def __post_init__(self) -> None:
        params = fixed_params(self.m, self.segment, self.filter)
        object.__setattr__(self, "m", params.m)
        object.__setattr__(self, "filter", params.filter)
        if self.threads is not None:
            object.__setattr__(self, "threads", thread_count(self.threads))

    @classmethod
    def for_array(
        cls,
        array: ArrayLike,
        segment: int | None = None,
        filter: Iterable[int] | Literal["auto"] = DELTA,
        threads: int | None = None,
    ) -> Self:
        """Makes the codec whose parameters make ``array`` smallest, see
        :func:`pylinerate.rice.tune`. The codec gets ``segment`` as it is given here; None then
        means the default for the shape of each chunk."""
        params = tune(array, segment, filter)
        return cls(params.m, segment, params.filter, threads)

    def _configuration(self) -> dict[str, Any]:
        more = {"allow_expansion": True} if self.allow_expansion else {}
        return {"m": self.m, "segment": self.segment, "filter": list(self.filter), **more}

    def _encode(self, samples: NDArray[Any]) -> bytes:
        threads, allow_expansion = thread_count(self.threads), self.allow_expansion
        chunk = encode(samples, self.m, self.segment, self.filter, threads, allow_expansion=allow_expansion)
        warn_if_large(samples, chunk)
        return chunk

    def _decode(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        threads = thread_count(self.threads)
        return decode(chunk, self.m, self.segment, self.filter, dtype=dtype, shape=shape, threads=threads)

    def _encode_on_device(self, array: Any) -> bytes:
        return gpu.encode(array, self.m, self.segment, self.filter, allow_expansion=self.allow_expansion)

    def _decode_on_device(self, chunk: Any, out: Any) -> None:
        gpu.decode_into(chunk, out, self.m, self.segment, self.filter)

    def _decode_segments(
        self, chunk: NDArray[np.uint8], wanted: range, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], int]:
        whole, segment = math.prod(shape), segment_in(chunk, self.segment, shape)
        length = whole if segment == -1 else segment
        start, stop = wanted.start // length, -(-wanted.stop // length)
        threads = thread_count(self.threads)
        samples = decode_segments(chunk, start, stop, self.m, segment, self.filter, dtype, shape, threads)
        return samples.reshape(-1), start * length


@dataclass(frozen=True)
class DeltaRice2(_Codec):
    """Delta-Rice version 2 streams, for arrays of 16- and 32-bit integers. You need not choose any
    parameter.

    Parameters
    ----------
    segment : int or None
        Samples per independently coded segment, at most 65536. Default: a row (the last axis of the
        chunks) if it has 1024 to 16384 samples, else about 4096 samples.
    channels : int or None
        Number of channels: the length of the chunks' last axis, or 1 for no channels. Default:
        found out for each chunk, or 1 if ``segment`` is given. Part of the metadata if given.
    threads : int, optional
        Maximum number of threads per chunk. Default: the environment variable ``LINERATE_THREADS``,
        else 1. Not part of the metadata.

    Raises
    ------
    ValueError
        If ``segment``, ``channels`` or ``threads`` is out of range.
    """

    name = "linerate.deltarice2"
    sizes = (2, 4)

    segment: int | None = None
    threads: int | None = field(default=None, compare=False)
    channels: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "segment", stream_segment(self.segment))
        object.__setattr__(self, "channels", stream_channels(self.channels))
        if self.threads is not None:
            object.__setattr__(self, "threads", thread_count(self.threads))

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        """Checks an array that zarr creates. Raises ``ValueError`` if its chunks have no axis of
        length ``channels``, unless that is 1."""
        sizes = getattr(chunk_grid, "chunk_shape", None)
        if self.channels is not None and self.channels > 1 and sizes is not None and self.channels not in sizes:
            raise ValueError(f"the last axis of chunks of {tuple(sizes)} is not that of {self.channels} channels")

    def _configuration(self) -> dict[str, Any]:
        more = {} if self.channels is None else {"channels": self.channels}
        return {"segment": self.segment, **more}

    def _encode(self, samples: NDArray[Any]) -> bytes:
        return encode_rows2(samples, self.segment, thread_count(self.threads), self.channels)

    def _decode(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        self._checked(chunk, shape, dtype)
        return decode2(chunk, shape, thread_count(self.threads))

    def _encode_on_device(self, array: Any) -> bytes:
        if (self.channels or 1) > 1:
            raise NotImplementedError
        return gpu.encode_rows2(array, self.segment)

    def _decode_on_device(self, chunk: Any, out: Any) -> None:
        gpu.decode2_into(chunk, out)

    def _decode_segments(
        self, chunk: NDArray[np.uint8], wanted: range, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], int]:
        segment = self._checked(chunk, shape, dtype).segment
        start, stop = wanted.start // segment, -(-wanted.stop // segment)
        samples = decode2_segments(chunk, start, stop, thread_count(self.threads))
        return samples.reshape(-1), start * segment

    def _checked(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Info2:
        info = info2(chunk)
        if info.dtype != dtype:
            raise ValueError(f"the samples of the chunk are {info.dtype}, not {dtype}")
        if info.samples != math.prod(shape) or info.size != chunk.size:
            raise ValueError(f"the chunk has {info.samples} samples, which is not the shape {shape}")
        return info
