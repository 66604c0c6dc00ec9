"""Delta-Rice: lossless compression of 16-bit waveforms, as in the chunks of HDF5 filter 32025.

An array of samples becomes one *chunk* of bytes. The chunk is divided into *segments*, usually one
waveform each, that are coded independently. An integer filter predicts each sample, usually from
the sample before, and a Rice code with the parameter ``m`` stores the differences. The best ``m``
is about the typical difference. A wrong one costs size, so by default it is computed from the data.

The bytes of a chunk do not include its parameters. :func:`encode` returns a :class:`Chunk`, which
has them as :attr:`Chunk.params`:

>>> import numpy as np
>>> from pylinerate import rice
>>> waveforms = np.add.outer(np.arange(3), np.arange(2000) % 7).astype("int16")  # 3 of 2000 samples
>>> chunk = rice.encode(waveforms)
>>> chunk.params
Params(m=4, segment=2000, filter=(1, -1))
>>> bool((rice.decode(chunk) == waveforms).all())
True

For plain bytes, as read from a file, pass the parameters again:

>>> bool((rice.decode(bytes(chunk), m=4, shape=(3, 2000)) == waveforms).all())
True

``segment=None`` chooses the segment by the shape: a row, which is the last axis, or as many whole
rows as it takes to have 1024 samples; an array of a single row gets segments of 16384 samples.
``segment=-1`` means one segment of all samples. When decoding, ``None`` finds out by the number of
segments in the chunk which of three segments was used: that for the shape, the last axis, or all
samples.

A chunk that would be larger than its samples by more than 2 % and more than 64 bytes is an error,
unless you pass ``allow_expansion=True``.

:func:`encode2` makes streams of version 2, a format of this project. They are usually smaller, have
checksums, include all that decoding needs, and hold 16- and 32-bit integers.

>>> stream = rice.encode2(waveforms)
>>> bool((rice.decode2(bytes(stream)) == waveforms).all())
True

The functions encode and decode without the interpreter's lock, so other Python threads run. Do not
change arrays meanwhile.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, overload

from . import _pylinerate
# _arrays comes first: without NumPy its error says what to install.
from ._arrays import flat_bytes, flat_output, flat_samples, full_shape, sample_dtype
from ._streams import Info2, decode2, decode2_segments, encode2, info2
from ._threads import thread_count

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "Chunk",
    "Info2",
    "Params",
    "decode",
    "decode2",
    "decode2_segments",
    "decode_segments",
    "encode",
    "encode2",
    "info2",
    "tune",
]

#: The default filter: the difference of each sample from the one before.
DELTA = (1, -1)


@dataclass(frozen=True)
class Params:
    """The parameters of a chunk, as in the ``cd_values`` of filter 32025.

    Attributes
    ----------
    m : int
        The Rice parameter: a power of two from 2 to 32768. Chunks with 1 can only be decoded.
    segment : int or None
        Samples per independently coded waveform; ``None`` for all samples of the chunk.
    filter : tuple of int
        Coefficients c of the filter y[i] = c[0] x[i] + c[1] x[i-1] + ..., at most 32; c[0] is 1 or
        -1. Chunks with another c[0] can only be decoded.
    size : int or None
        Bytes that the chunk will have, if :func:`tune` computed the parameters. Ignored in
        comparisons.

    Raises
    ------
    Error
        If a parameter is not one that a chunk can have.
    """

    m: int = 8
    segment: int | None = None
    filter: tuple[int, ...] = DELTA
    size: int | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", operator.index(self.m))
        if self.segment is not None:
            segment = operator.index(self.segment)
            object.__setattr__(self, "segment", None if segment == -1 else segment)
        object.__setattr__(self, "filter", tuple(operator.index(c) for c in self.filter))
        _pylinerate.rice_bound(self._numbers, 0)  # raises for invalid parameters

    @classmethod
    def from_cd_values(cls, values: Sequence[int]) -> Params:
        """Parses the ``cd_values`` of a dataset, signed or unsigned. If values are missing at the
        end, they get the defaults, but missing coefficients raise ``ValueError``. Values after the
        last coefficient are ignored.

        >>> Params.from_cd_values([8, 7000, 3, 1, 4294967294, 1])
        Params(m=8, segment=7000, filter=(1, -2, 1))
        """
        signed = [(int(v) + 2**31) % 2**32 - 2**31 for v in values]
        m = signed[0] if signed else 8
        segment = signed[1] if len(signed) > 1 else -1
        if len(signed) < 3:
            return cls(m, segment)
        if not 0 < signed[2] <= len(signed) - 3:
            raise ValueError(f"{signed[2]} coefficients are declared, {len(signed) - 3} values follow")
        return cls(m, segment, tuple(signed[3 : 3 + signed[2]]))

    @property
    def cd_values(self) -> tuple[int, ...]:
        """The parameters as HDF5 stores them: m, samples per segment (-1 for all samples), number
        of coefficients, coefficients; negative numbers are in two's complement of 32 bits.

        >>> Params(m=32).cd_values
        (32, 4294967295, 2, 1, 4294967295)
        """
        m, segment, taps = self._numbers
        return tuple(v % 2**32 for v in (m, segment, len(taps), *taps))

    @property
    def _numbers(self) -> tuple[int, int, tuple[int, ...]]:
        return self.m, -1 if self.segment is None else self.segment, self.filter


class Chunk(bytes):
    """The bytes of a chunk, with its parameters and the shape and type of its array.

    Attributes
    ----------
    params : Params
        The parameters that the chunk was encoded with.
    shape : tuple of int
        Shape of the array that was encoded.
    dtype : numpy.dtype
        Type of its samples.
    """

    params: Params
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __new__(cls, data: Any, params: Params, shape: tuple[int, ...], dtype: DTypeLike) -> Chunk:
        chunk = super().__new__(cls, data)
        chunk.params, chunk.shape, chunk.dtype = params, shape, np.dtype(dtype)
        return chunk

    def __getnewargs__(self) -> tuple[Any, ...]:  # pickle and copy pass these to __new__
        return bytes(self), self.params, self.shape, self.dtype


def _segment_of(segment: int | None, shape: tuple[int, ...]) -> int:
    """Returns ``segment``, or the default for an array of this shape if it is ``None``, in samples.
    -1 means one segment of all samples."""
    return _pylinerate.rice_segment_for(shape) if segment is None else operator.index(segment)


def segment_in(chunk: NDArray[np.uint8], segment: int | None, shape: tuple[int, ...]) -> int:
    """Returns the segment of a chunk in samples; -1 means one segment of all samples. If
    ``segment`` is ``None``, this is the first of three that fits the number of segments in the
    chunk: the default for the shape, the last axis, or all samples."""
    if segment is not None:
        return operator.index(segment)
    last_axis = shape[-1] if len(shape) >= 2 and shape[-1] > 0 else -1
    candidates = [_pylinerate.rice_segment_for(shape), last_axis, -1]
    return _pylinerate.rice_fitting_segment(chunk, math.prod(shape), candidates)


def _samples(array: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int16]]:
    array = np.asarray(array)
    sample_dtype(array.dtype, (2,))
    return array, flat_samples(array).view(np.int16)


def _best(
    samples: NDArray[np.int16],
    m: int | Literal["auto"],
    segment: int,
    filter: Iterable[int] | Literal["auto"],
) -> Params:
    if isinstance(m, str) and m != "auto":
        raise ValueError(f"m is {m!r}, but must be a number or 'auto'")
    if isinstance(filter, str):
        if filter != "auto":
            raise ValueError(f"filter is {filter!r}, but must be coefficients or 'auto'")
        best_m, taps = _pylinerate.rice_best(samples, segment, None)
        if m != "auto":
            return Params(m, segment, tuple(taps))
        return Params(best_m, segment, tuple(taps))
    taps = [operator.index(c) for c in filter]
    if m == "auto":
        m, _ = _pylinerate.rice_best(samples, segment, taps)
    return Params(m, segment, tuple(taps))


def tune(
    array: ArrayLike,
    segment: int | None = None,
    filter: Iterable[int] | Literal["auto"] = DELTA,
) -> Params:
    """Finds the m, and on request the filter, that make the chunk of ``array`` smallest. The search
    does not count the padding of segments.

    Parameters
    ----------
    array : array of int16 or uint16, any shape
    segment : int or None
        Samples per waveform, see :mod:`pylinerate.rice`.
    filter : sequence of int, or "auto"
        The filter for which to find the best m. "auto" also searches for a filter of up to four
        coefficients, and takes another than (1, -1) only if that saves 2 % or more.

    Returns
    -------
    Params
        Pass them to :func:`encode` and :func:`decode`, or their ``cd_values`` to HDF5. ``size`` is
        the exact number of bytes that the chunk will have.

    >>> tune(np.arange(0, 30_000, 100, dtype="uint16"))
    Params(m=128, segment=None, filter=(1, -1))
    """
    array, samples = _samples(array)
    best = _best(samples, "auto", _segment_of(segment, array.shape), filter)
    return replace(best, size=_pylinerate.rice_len(best._numbers, samples, 1))


#: Pairs of shape and parameters for which :func:`warn_if_large` has made its check.
_checked: set[tuple[tuple[int, ...], Params]] = set()


def warn_if_large(array: NDArray[Any], chunk: Chunk) -> None:
    """Warns if another m, or the samples in another order, would make a chunk smaller by more than
    30 %.

    Codecs call this function, since their parameters are fixed before they see samples. The check
    takes longer than encoding. So it is made only if the array has at least 4096 bytes and the
    chunk at least 70 % of them, and only once for each pair of shape and parameters.
    """
    seen = (array.shape, chunk.params)
    if len(chunk) < 0.7 * array.nbytes or array.nbytes < 4096 or seen in _checked:
        return
    _checked.add(seen)
    used, filter = chunk.params, chunk.params.filter
    best = tune(array, used.segment, filter)
    remedies = [(best, f"m={best.m}, which DeltaRice.for_array finds")]
    if array.ndim > 1:
        turned = np.moveaxis(array, 0, -1)
        along = tune(turned, filter=filter)
        remedies.append((
            along,
            f"the first axis last and m={along.m}: the samples of a channel must follow each other. Use DeltaRice2, "
            f"which finds channels, or store the array in that order (zarr: the codec transpose, in format 2 order='F')",
        ))
    size, remedy = min((params.size or 0, text) for params, text in remedies)
    if size < 0.7 * len(chunk):
        warnings.warn(
            f"a chunk of shape {array.shape} takes {len(chunk) / array.nbytes:.0%} of its samples with m={used.m}, and "
            f"would take {size / array.nbytes:.0%} with {remedy}",
            stacklevel=3,
        )


@overload
def encode(
    array: ArrayLike,
    m: int | Literal["auto"] = ...,
    segment: int | None = ...,
    filter: Iterable[int] | Literal["auto"] = ...,
    threads: int = ...,
    out: None = ...,
    *,
    params: Params | None = ...,
    allow_expansion: bool = ...,
) -> Chunk: ...
@overload
def encode(
    array: ArrayLike,
    m: int | Literal["auto"] = ...,
    segment: int | None = ...,
    filter: Iterable[int] | Literal["auto"] = ...,
    threads: int = ...,
    *,
    out: Any,
    params: Params | None = ...,
    allow_expansion: bool = ...,
) -> int: ...
def encode(
    array: ArrayLike,
    m: int | Literal["auto"] = "auto",
    segment: int | None = None,
    filter: Iterable[int] | Literal["auto"] = DELTA,
    threads: int = 1,
    out: Any = None,
    *,
    params: Params | None = None,
    allow_expansion: bool = False,
) -> Chunk | int:
    """Encodes ``array`` as one chunk, with the same bytes as HDF5 filter 32025.

    Parameters
    ----------
    array : array of int16 or uint16, any shape
        Not copied if it is C-contiguous.
    m : int or "auto"
        The Rice parameter, a power of two from 2 to 32768. "auto" finds the best in one more pass
        over the samples; with ``out`` it is an error.
    segment : int or None
        Samples per independently coded waveform, -1 for all samples. Default: by the shape, see
        :mod:`pylinerate.rice`.
    filter : sequence of int, or "auto"
        Coefficients, the first of them 1 or -1. "auto" searches, see :func:`tune`.
    threads : int
        Maximum number of threads that share the segments. The bytes do not depend on it.
    out : writeable buffer, optional
        Output for the chunk, for example a ``bytearray`` or an array of uint8. The chunk needs at
        most 25/16 of the array's bytes plus about 8 bytes per segment.
    params : Params, optional
        Takes the place of m, segment and filter.
    allow_expansion : bool
        Whether the chunk may be larger than the array by more than 2 % and more than 64 bytes.
        Otherwise that is an error.

    Returns
    -------
    Chunk
        The bytes, with ``params`` (including the m that was found), ``shape`` and ``dtype``. With
        ``out``: the number of bytes written there.

    Raises
    ------
    TypeError
        If the array is not of 16-bit integers in the machine's byte order.
    Error
        If the parameters would lose data, or ``out`` is too small.
    ValueError
        If the chunk would be too large, or ``m`` is "auto" and there is ``out``.
    """
    array, samples = _samples(array)
    threads = thread_count(threads)
    if params is None:
        if out is not None and m == "auto":
            raise ValueError(
                "with out, give m or params (see tune): 'auto' could not return the m that it chose"
            )
        params = _best(samples, m, _segment_of(segment, array.shape), filter)
    encoded: bytes | None = None
    if out is None:
        encoded = _pylinerate.rice_encode(params._numbers, samples, threads)
        n = len(encoded)
    else:
        output = flat_output(out, np.dtype(np.uint8))
        n = _pylinerate.rice_encode_into(params._numbers, samples, output, threads)
    if not allow_expansion and _pylinerate.rice_expands(samples.size, n):
        raise ValueError(
            f"with {params} the chunk is {n / samples.nbytes:.0%} of the array: use the default m and segment, "
            "time as the last axis, or encode2, whose streams do not grow; allow_expansion=True accepts it"
        )
    return n if encoded is None else Chunk(encoded, params, array.shape, array.dtype)


def _for_decoding(
    chunk: Any,
    m: int | None,
    segment: int | None,
    filter: Iterable[int],
    shape: int | tuple[int, ...] | None,
    params: Params | None,
) -> tuple[NDArray[np.uint8], Params, tuple[int, ...]]:
    """Returns the bytes, the parameters and the shape with which ``chunk``, a :class:`Chunk` or
    plain bytes, is to be decoded. Arguments take precedence over those of a :class:`Chunk`."""
    if isinstance(chunk, Chunk):
        shape = chunk.shape if shape is None else shape
        params = chunk.params if params is None and m is None else params
    data = flat_bytes(chunk)
    if params is None:
        if m is None:
            raise TypeError("give m or params: the bytes of a chunk do not include them")
        samples, _ = _pylinerate.rice_samples(Params(m)._numbers, data)
        shape = full_shape(shape, samples)
        return data, Params(m, segment_in(data, segment, shape), tuple(filter)), shape
    samples, _ = _pylinerate.rice_samples(params._numbers, data)
    return data, params, full_shape(shape, samples)


@overload
def decode(
    chunk: Any,
    m: int | None = ...,
    segment: int | None = ...,
    filter: Iterable[int] = ...,
    dtype: DTypeLike | None = ...,
    shape: int | tuple[int, ...] | None = ...,
    threads: int = ...,
    out: None = ...,
    *,
    params: Params | None = ...,
) -> NDArray[Any]: ...
@overload
def decode(
    chunk: Any,
    m: int | None = ...,
    segment: int | None = ...,
    filter: Iterable[int] = ...,
    dtype: DTypeLike | None = ...,
    shape: int | tuple[int, ...] | None = ...,
    threads: int = ...,
    *,
    out: Any,
    params: Params | None = ...,
) -> int: ...
def decode(
    chunk: Any,
    m: int | None = None,
    segment: int | None = None,
    filter: Iterable[int] = DELTA,
    dtype: DTypeLike | None = None,
    shape: int | tuple[int, ...] | None = None,
    threads: int = 1,
    out: Any = None,
    *,
    params: Params | None = None,
) -> NDArray[Any] | int:
    """Decodes a chunk.

    Parameters
    ----------
    chunk : Chunk, bytes, or anything with the buffer protocol
        Exactly one chunk. A :class:`Chunk` needs no further arguments.
    m, segment, filter
        The parameters that the chunk was encoded with. If ``segment`` is None, it is found from
        ``shape`` and the number of segments in the chunk.
    dtype : int16 or uint16
        Type of the result. Default: that of ``out`` if it is an array, or of the :class:`Chunk`,
        else int16.
    shape : tuple of int, optional
        Shape of the result; one size may be -1. Default: that of the :class:`Chunk`, or of ``out``
        if it is an array, else one axis.
    threads : int
        Maximum number of threads that share the segments.
    out : array of int16 or uint16, or writeable buffer, optional
        Output for the samples.
    params : Params, optional
        Parameters in place of ``m``, ``segment`` and ``filter``.

    Returns
    -------
    array
        The samples. With ``out``: the number of samples written to its start.

    Raises
    ------
    Error
        If the chunk is damaged or was made with other parameters, or ``out`` is too small. The
        error has the offset of the damage. The format has no checksum, so not all damage is
        detected.
    ValueError
        If the chunk has a number of samples that does not fit ``shape``.
    TypeError
        If neither ``m`` nor ``params`` is given for plain bytes, or the samples are to have another
        type than int16 or uint16.
    """
    threads = thread_count(threads)
    if isinstance(out, np.ndarray):
        shape = out.shape if shape is None and not isinstance(chunk, Chunk) else shape
        dtype = out.dtype if dtype is None else dtype
    if dtype is None:
        dtype = chunk.dtype if isinstance(chunk, Chunk) else np.int16
    dtype = sample_dtype(dtype, (2,))
    data, params, shape = _for_decoding(chunk, m, segment, filter, shape, params)
    result = np.empty(shape, dtype) if out is None else None
    output = flat_output(out, dtype) if result is None else result.reshape(-1)
    n = _pylinerate.rice_decode(params._numbers, data, output.view(np.int16), threads)
    return n if result is None else result


def decode_segments(
    chunk: Any,
    start: int,
    stop: int,
    m: int | None = None,
    segment: int | None = None,
    filter: Iterable[int] = DELTA,
    dtype: DTypeLike | None = None,
    shape: int | tuple[int, ...] | None = None,
    threads: int = 1,
    *,
    params: Params | None = None,
) -> NDArray[Any]:
    """Decodes only the segments with the numbers ``start`` to ``stop`` (not included) of a chunk.

    Other arguments are those of :func:`decode`; ``shape`` is that of the whole array.

    Returns
    -------
    array
        The samples, in the shape (stop - start, segment); in one axis if a shorter last segment is
        among them.

    Raises
    ------
    IndexError
        If the chunk has no such segments.
    """
    threads = thread_count(threads)
    if dtype is None:
        dtype = chunk.dtype if isinstance(chunk, Chunk) else np.int16
    dtype = sample_dtype(dtype, (2,))
    data, params, _ = _for_decoding(chunk, m, segment, filter, shape, params)
    samples, segments = _pylinerate.rice_samples(params._numbers, data)
    start, stop = operator.index(start), operator.index(stop)
    if not 0 <= start <= stop <= segments:
        raise IndexError(f"segments {start} to {stop} of a chunk of {segments}")
    length = min(params.segment or samples, samples)
    result = np.empty(min(stop * length, samples) - start * length, dtype)
    _pylinerate.rice_decode_segments(params._numbers, data, start, stop, result.view(np.int16), threads)
    return result.reshape(stop - start, length) if result.size == (stop - start) * length else result
