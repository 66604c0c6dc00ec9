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

from numpy.typing import ArrayLike, NDArray
from zarr.abc.codec import ArrayBytesCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.common import parse_named_configuration

from ._arrays import sample_dtype, thread_count
from .numcodecs import fixed_params
from .rice import DELTA, decode, encode, tune

__all__ = ["DeltaRice"]


@dataclass(frozen=True)
class DeltaRice(ArrayBytesCodec):
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

    is_fixed_size = False

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

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec of some metadata."""
        _, configuration = parse_named_configuration(data, "linerate.deltarice", require_configuration=False)
        return cls(**(configuration or {}))

    def to_dict(self) -> dict[str, Any]:
        """The metadata of the codec."""
        configuration = {"m": self.m, "segment": self.segment, "filter": list(self.filter)}
        return {"name": "linerate.deltarice", "configuration": configuration}

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        """Refuses arrays of other types when they are created."""
        sample_dtype(dtype.to_native_dtype().newbyteorder("="), (2,))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Not known beforehand."""
        raise NotImplementedError("the size of a compressed chunk depends on its samples")

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        samples = native(chunk_data.as_numpy_array())
        chunk = encode(samples, self.m, self.segment, self.filter, thread_count(self.threads))
        return chunk_spec.prototype.buffer.from_bytes(chunk)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        samples = decode(
            chunk_data.as_numpy_array(),
            self.m,
            self.segment,
            self.filter,
            dtype=chunk_spec.dtype.to_native_dtype().newbyteorder("="),
            shape=chunk_spec.shape,
            threads=thread_count(self.threads),
        )
        return chunk_spec.prototype.nd_buffer.from_numpy_array(samples)


def native(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` in the machine's byte order, which is for the codec to choose."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)
