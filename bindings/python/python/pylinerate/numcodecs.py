"""Codecs for numcodecs, and so for arrays of zarr format 2.

numcodecs finds them by name once this package is installed; programs need not import it.

>>> import numcodecs, numpy as np
>>> codec = numcodecs.get_codec({"id": "linerate.deltarice", "m": 16, "segment": 1000})
>>> samples = np.arange(3000, dtype="int16")
>>> bool((codec.decode(codec.encode(samples)) == samples).all())
True

:class:`DeltaRice` makes the same bytes as HDF5 filter 32025. So an index of the chunks of HDF5
files can name this codec, with the ``cd_values`` as its parameters.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Literal

from ._optional import require

require("numcodecs", extra="numcodecs")

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._arrays import sample_dtype, stream_channels, stream_segment
from ._threads import thread_count
from ._streams import encode_rows2
from .rice import DELTA, Params, decode, decode2, encode, info2, tune, warn_if_large

__all__ = ["DeltaRice", "DeltaRice2"]


class DeltaRice(Codec):
    """Delta-Rice with fixed parameters, for arrays of 16-bit integers of any shape.

    Samples are predicted from those before them in memory, so the last axis should be time. If the
    first axis is time, as in (samples, channels), use :class:`DeltaRice2`, or ``order="F"`` in zarr
    format 2.

    If a chunk takes at least 70 % of an array of 4096 bytes or more, and another ``m`` or order of
    the samples would make it smaller by more than 30 %, you get a ``UserWarning``, once for each
    shape and parameters.

    Parameters
    ----------
    m : int
        The Rice parameter, a power of two from 2 to 32768. The bytes do not include it, so it is
        part of the configuration, and there is no "auto": use :meth:`for_array`.
    segment : int or None
        Samples per independently coded waveform, -1 for the whole array. ``None`` means 16384
        samples, since the codec does not know the shape of the array when it decodes. With
        ``None``, chunks that were made with -1 are decoded too.
    filter : sequence of int
        Coefficients, the first of them 1 or -1.
    dtype : int16 or uint16
        Type of the samples.
    threads : int, optional
        Maximum number of threads per call. Default: the environment variable ``LINERATE_THREADS``,
        else 1. Not part of the configuration.
    allow_expansion : bool
        Whether chunks may be larger than their arrays by more than 2 % and more than 64 bytes;
        otherwise that is a ``ValueError``. Part of the configuration if it is true.
    """

    codec_id = "linerate.deltarice"

    def __init__(
        self,
        m: int = 8,
        segment: int | None = None,
        filter: Iterable[int] = DELTA,
        dtype: DTypeLike = "int16",
        threads: int | None = None,
        allow_expansion: bool = False,
    ) -> None:
        self.params = fixed_params(m, segment, filter)
        self.segment = None if segment is None else operator.index(segment)
        self.allow_expansion = allow_expansion
        self.dtype = sample_dtype(dtype, (2,))
        self.threads = threads if threads is None else thread_count(threads)

    @classmethod
    def for_array(
        cls,
        array: ArrayLike,
        segment: int | None = None,
        filter: Iterable[int] | Literal["auto"] = DELTA,
        threads: int | None = None,
    ) -> DeltaRice:
        """Makes the codec with which the chunk of ``array`` is smallest, see
        :func:`pylinerate.rice.tune`.

        The default ``segment`` is that for the shape of ``array``, see :mod:`pylinerate.rice`. Pass
        another one if the chunks of your zarr array have shorter rows than ``array``.
        """
        params = tune(array, segment, filter)
        segment = -1 if params.segment is None else params.segment
        return cls(params.m, segment, params.filter, np.asarray(array).dtype, threads)

    def encode(self, buf: Any) -> bytes:
        """Encodes all samples of the array ``buf`` as one chunk."""
        array = ensure_ndarray(buf)
        if array.dtype != self.dtype:
            raise TypeError(
                f"samples are {array.dtype}, but this codec is for {self.dtype}: give it the dtype"
            )
        m, taps, threads = self.params.m, self.params.filter, thread_count(self.threads)
        array = in_memory_order(array)
        # The array is encoded in one axis, because the segment must not depend on the shape: decode
        # does not know it.
        flat = array.reshape(-1)
        chunk = encode(flat, m, self.segment, taps, threads, allow_expansion=self.allow_expansion)
        warn_if_large(array, chunk)
        return chunk

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decodes the chunk ``buf``. Returns the samples in one axis; or fills ``out``, which must
        have their number, and returns it."""
        threads, m, taps = thread_count(self.threads), self.params.m, self.params.filter
        if out is None:
            return decode(memoryview(buf), m, self.segment, taps, self.dtype, -1, threads)
        output = flat_codec_output(out, self.dtype)
        n = decode(memoryview(buf), m, self.segment, taps, self.dtype, -1, threads, output)
        if n != output.size:
            raise ValueError(f"the chunk has {n} samples, out holds {output.size}")
        return out

    def get_config(self) -> dict[str, Any]:
        """The configuration, as JSON can store it."""
        return {
            "id": self.codec_id,
            "m": self.params.m,
            "segment": self.segment,
            "filter": list(self.params.filter),
            "dtype": self.dtype.str,
            **({"allow_expansion": True} if self.allow_expansion else {}),
        }

    def __repr__(self) -> str:
        m, taps, more = self.params.m, self.params.filter, ", allow_expansion=True" if self.allow_expansion else ""
        return f"DeltaRice(m={m}, segment={self.segment}, filter={taps}, dtype={self.dtype.name!r}{more})"


class DeltaRice2(Codec):
    """Delta-Rice version 2 streams, for arrays of 16- and 32-bit integers of any shape. You need
    not choose any parameter.

    When an array of zarr format 2 is created, zarr does not tell the codec its type and order. So
    two things are refused only when the first chunk is written: a type in another byte order than
    the machine's (``TypeError``), and channels with ``order="F"`` (``ValueError``).

    Parameters
    ----------
    segment : int or None
        Samples per independently coded segment, at most 65536. Default: a row (the last axis of the
        chunk) if it has 1024 to 16384 samples, else about 4096 samples.
    channels : int or None
        Number of channels: the length of the chunks' last axis, or 1 for no channels. Default:
        found out for each chunk, or 1 if ``segment`` is given. Part of the configuration if given.
    threads : int, optional
        Maximum number of threads per call. Default: the environment variable ``LINERATE_THREADS``,
        else 1. Not part of the configuration.

    Raises
    ------
    ValueError
        If ``segment``, ``channels`` or ``threads`` is out of range.
    """

    codec_id = "linerate.deltarice2"

    def __init__(
        self, segment: int | None = None, threads: int | None = None, channels: int | None = None
    ) -> None:
        self.segment, self.channels = stream_segment(segment), stream_channels(channels)
        self.threads = threads if threads is None else thread_count(threads)

    def encode(self, buf: Any) -> bytes:
        """Encodes all samples of the array ``buf`` as one stream."""
        array = ensure_ndarray(buf)
        samples = in_memory_order(array)
        if samples is not array and (self.channels or 1) > 1:
            raise ValueError("with channels the array must be in C order: in F order channels are not neighbours")
        return encode_rows2(samples, self.segment, thread_count(self.threads), self.channels)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decodes the stream ``buf``. Returns the samples in one axis, of the type that was
        encoded; or fills ``out``, which must have their number, and returns it."""
        threads = thread_count(self.threads)
        if out is None:
            return decode2(buf, -1, threads)
        info = info2(buf)
        output = flat_codec_output(out, info.dtype)
        if info.samples != output.size:
            raise ValueError(f"the stream has {info.samples} samples, out holds {output.size}")
        decode2(buf, threads=threads, out=output)
        return out

    def get_config(self) -> dict[str, Any]:
        """The configuration, as JSON can store it."""
        more = {} if self.channels is None else {"channels": self.channels}
        return {"id": self.codec_id, "segment": self.segment, **more}

    def __repr__(self) -> str:
        return f"DeltaRice2(segment={self.segment}, channels={self.channels})"


def in_memory_order(array: NDArray[Any]) -> NDArray[Any]:
    """Returns ``array``, or its transpose if it is in F order. The C order of the result is the
    order of the samples in memory."""
    return array.T if array.flags.f_contiguous and not array.flags.c_contiguous else array


def flat_codec_output(out: Any, dtype: np.dtype[Any]) -> Any:
    """Returns ``out`` as an array of ``dtype`` in one dimension to write to, in the order in
    memory: a view, never a copy. Raises ``ValueError`` if ``out`` is not contiguous, and
    ``TypeError`` if it is in another byte order than the machine's."""
    array = ensure_ndarray(out)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("out is not contiguous: the samples would go to a copy of it")
    if not array.dtype.isnative:
        raise TypeError(f"out is {array.dtype.str}, but must be in the machine's byte order")
    return array.reshape(-1, order="A").view(dtype)


def fixed_params(m: int, segment: int | None, filter: Iterable[int]) -> Params:
    """Makes the parameters of a codec. Raises ``ValueError`` unless every chunk can be encoded with
    them."""
    if isinstance(m, str):
        raise ValueError(
            f"m is {m!r}, but a codec needs a number, since its chunks do not include it: see for_array"
        )
    params = Params(m, segment, tuple(filter))
    if params.m < 2 or params.filter[0] not in (1, -1):
        raise ValueError(f"with {params} data would be lost")
    return params
