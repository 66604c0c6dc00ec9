"""Codecs for arrays of zarr format 3: array to bytes, given as ``serializer``.

zarr finds them by their names once the package is installed: nobody needs to import this.

>>> import numpy as np, zarr
>>> rice = {"name": "linerate.deltarice", "configuration": {"m": 16}}
>>> samples = zarr.create_array({}, shape=(8, 1000), chunks=(4, 1000), dtype="int16", serializer=rice, compressors=None)
>>> samples[:] = np.arange(8000).reshape(8, 1000)
>>> int(samples[5, 999])
5999
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from zarr.abc.codec import ArrayBytesCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.common import parse_named_configuration

from ._arrays import sample_dtype, stream_segment, thread_count
from .numcodecs import fixed_params
from .rice import DELTA, decode, decode2, encode, encode2, info2, tune

__all__ = ["DeltaRice", "DeltaRice2"]


class _Codec(ArrayBytesCodec):
    """What the codecs have in common: chunks are worked on in threads of their own."""

    is_fixed_size = False
    name: str
    #: Bytes of the samples that can be encoded.
    sizes: tuple[int, ...]

    def _configuration(self) -> dict[str, Any]:
        raise NotImplementedError

    def _encode(self, samples: NDArray[Any]) -> bytes:
        raise NotImplementedError

    def _decode(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec of some metadata."""
        _, configuration = parse_named_configuration(data, cls.name, require_configuration=False)
        return cls(**(configuration or {}))

    def to_dict(self) -> dict[str, Any]:
        """The metadata of the codec."""
        return {"name": self.name, "configuration": self._configuration()}

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        """Refuses arrays of other types when they are created."""
        sample_dtype(native_dtype(dtype), self.sizes)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Not known beforehand."""
        raise NotImplementedError("the size of a compressed chunk depends on its samples")

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        array = chunk_data.as_numpy_array()
        # Which byte order the samples have in memory means nothing in the store.
        samples = array.astype(array.dtype.newbyteorder("="), copy=False)
        return chunk_spec.prototype.buffer.from_bytes(self._encode(samples))

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        dtype = native_dtype(chunk_spec.dtype)
        samples = self._decode(chunk_data.as_numpy_array(), chunk_spec.shape, dtype)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(samples)


def native_dtype(dtype: Any) -> np.dtype[Any]:
    """The type of an array's samples in the machine's byte order."""
    return np.dtype(dtype.to_native_dtype()).newbyteorder("=")


@dataclass(frozen=True)
class DeltaRice(_Codec):
    """Delta-Rice with fixed parameters, for arrays of 16-bit integers.

    Parameters
    ----------
    m : int
        The Rice parameter, a power of two from 2 to 32768. The bytes of a chunk do not tell it, so it
        is part of the array's metadata, and "auto" is not possible: see :meth:`for_array`.
    segment : int or None
        Samples per independently coded waveform. ``None`` is the last axis of the chunks if they
        have two axes or more, else the whole chunk; -1 is the whole chunk.
    filter : sequence of int
        Coefficients, the first 1 or -1.
    threads : int, optional
        At most so many threads per chunk; by default ``LINERATE_THREADS``, else 1. Not part of the
        metadata. zarr works on several chunks at a time anyway.
    """

    name = "linerate.deltarice"
    sizes = (2,)

    m: int = 8
    segment: int | None = None
    filter: tuple[int, ...] = DELTA
    threads: int | None = field(default=None, compare=False)

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
        """The codec that makes ``array`` smallest, see :func:`linerate.rice.tune`. ``segment`` is kept as given."""
        params = tune(array, segment, filter)
        return cls(params.m, segment, params.filter, threads)

    def _configuration(self) -> dict[str, Any]:
        return {"m": self.m, "segment": self.segment, "filter": list(self.filter)}

    def _encode(self, samples: NDArray[Any]) -> bytes:
        return encode(samples, self.m, self.segment, self.filter, thread_count(self.threads))

    def _decode(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        threads = thread_count(self.threads)
        return decode(chunk, self.m, self.segment, self.filter, dtype=dtype, shape=shape, threads=threads)


@dataclass(frozen=True)
class DeltaRice2(_Codec):
    """Version 2 streams, for arrays of 16- and 32-bit integers. Nothing has to be chosen.

    Parameters
    ----------
    segment : int or None
        Samples that are coded on their own, at most 65536. ``None`` lets the last axis of the chunks
        decide.
    threads : int, optional
        At most so many threads per chunk; by default ``LINERATE_THREADS``, else 1. Not part of the
        metadata.
    """

    name = "linerate.deltarice2"
    sizes = (2, 4)

    segment: int | None = None
    threads: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "segment", stream_segment(self.segment))
        if self.threads is not None:
            object.__setattr__(self, "threads", thread_count(self.threads))

    def _configuration(self) -> dict[str, Any]:
        return {"segment": self.segment}

    def _encode(self, samples: NDArray[Any]) -> bytes:
        return encode2(samples, self.segment, thread_count(self.threads))

    def _decode(self, chunk: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        found = info2(chunk).dtype
        if found != dtype:
            raise ValueError(f"the samples of the chunk are {found}, not {dtype}")
        return decode2(chunk, shape, thread_count(self.threads))
