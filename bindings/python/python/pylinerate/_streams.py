"""Version 2 streams of Delta-Rice, which have checksums and include all that decoding needs."""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, replace
from typing import Any, overload

from . import _pylinerate
from ._arrays import flat_bytes, flat_output, flat_samples, full_shape, sample_dtype, stream_channels, stream_segment
from ._threads import thread_count

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Info2:
    """The header of a version 2 stream.

    Attributes
    ----------
    dtype : numpy.dtype
        Type of the samples: int16, uint16, int32 or uint32.
    samples : int
        Number of samples.
    row : int or None
        Samples per row, if the stream has rows.
    segment : int
        Samples per segment, counting those of all channels; the last segment may have fewer.
    segments : int
        Number of segments.
    size : int
        Bytes of the stream. Other bytes may follow, such as another stream.
    axes : tuple of int or None
        Shape of the array, if the stream stores it. :func:`encode2` stores it if ``samples`` and
        ``row`` do not describe the shape.
    channels : int
        Number of channels, of each of which a row holds one sample; 1 if there are no channels.
    """

    dtype: np.dtype[Any]
    samples: int
    row: int | None
    segment: int
    segments: int
    size: int
    axes: tuple[int, ...] | None = None
    channels: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array: :attr:`axes` if the stream has them; else (number of rows,
        samples per row); or (samples,) if there are no rows or the last one is not complete."""
        if self.axes is not None:
            return self.axes
        if self.row is None or self.samples % self.row:
            return (self.samples,)
        return (self.samples // self.row, self.row)


@overload
def encode2(
    array: ArrayLike, segment: int | None = ..., threads: int = ..., out: None = ..., channels: int | None = ...
) -> bytes: ...
@overload
def encode2(
    array: ArrayLike, segment: int | None = ..., threads: int = ..., *, out: Any, channels: int | None = ...
) -> int: ...
def encode2(
    array: ArrayLike,
    segment: int | None = None,
    threads: int = 1,
    out: Any = None,
    channels: int | None = None,
) -> bytes | int:
    """Encodes ``array`` as one version 2 stream. You need not choose any parameter.

    Parameters
    ----------
    array : array of int16, uint16, int32 or uint32, any shape
        Not copied if it is C-contiguous. The stream includes its shape.
    segment : int or None
        Samples per segment, at most 65536. Segments can be decoded alone, and threads share them.
        Default: a row if it has 1024 to 16384 samples, else about 4096 samples; with channels, 4096
        samples of each.
    threads : int
        Maximum number of threads. The bytes do not depend on it.
    out : writeable buffer, optional
        Output for the stream. A buffer is always large enough if it has the bytes of the array,
        plus 28, plus 12 for each segment (with channels, for each channel of each segment), and,
        unless the array has samples in one or two axes, another 8, plus 8 for each axis.
    channels : int or None
        Number of channels, at most 1024. Each row (the last axis) holds one sample of each: (N, 15)
        for the leads of an ECG, (N, 2) for stereo sound. A channel is predicted along time and from
        other channels. 1 means no channels. Default: found out, or 1 if ``segment`` is given.

    Returns
    -------
    bytes
        The stream. With ``out``: the number of bytes written there.

    Raises
    ------
    TypeError
        If the array is not of these integers in the machine's byte order.
    ValueError
        If ``segment``, ``channels`` or ``threads`` is out of range, or ``out`` is read-only or not
        C-contiguous.
    Error
        If ``out`` is too small, the array is too large for one stream (16 GiB encoded), or its rows do
        not have ``channels`` samples.
    """
    array = np.asarray(array)
    row = _row(array)
    if row is None and (channels or 1) > 1:
        row = channels
    plain = (array.size,) if row is None else (array.size // row, row)
    return _encode2(array, segment, threads, out, None if array.shape == plain else array.shape, channels)


def encode_rows2(array: NDArray[Any], segment: int | None, threads: int, channels: int | None) -> bytes:
    """Encodes an array as :func:`encode2` does, but stores only the length of its last axis and not
    its shape. It is for callers that store the shape elsewhere, such as zarr."""
    stream = _encode2(array, segment, threads, None, None, channels)
    assert isinstance(stream, bytes)
    return stream


def _row(array: Any) -> int | None:
    return array.shape[-1] if array.ndim >= 2 and 0 < array.shape[-1] < 2**32 else None


def _encode2(
    array: NDArray[Any],
    segment: int | None,
    threads: int,
    out: Any,
    shape: tuple[int, ...] | None,
    channels: int | None,
) -> bytes | int:
    sample_dtype(array.dtype, (2, 4))
    samples, threads = flat_samples(array), thread_count(threads)
    segment, channels, row = stream_segment(segment), stream_channels(channels), _row(array)
    if out is not None:
        output = flat_output(out, np.dtype(np.uint8))
        return _pylinerate.rice2_encode_into(segment, row, shape, channels, samples, output, threads)
    return _pylinerate.rice2_encode(segment, row, shape, channels, samples, threads)


def info2(stream: Any) -> Info2:
    """Reads the header of a version 2 stream. Bytes after the end of the stream are ignored.

    Raises
    ------
    Error
        If ``stream`` is no version 2 stream, has a damaged header, or ends early.
    """
    return _info2(flat_bytes(stream), 0)


def _info2(data: NDArray[np.uint8], at: int) -> Info2:
    name, samples, row, segment, segments, size, axes, channels = _pylinerate.rice2_info(data, at)
    shape = None if axes is None else tuple(axes)
    return Info2(np.dtype(name), samples, row or None, segment, segments, size, shape, channels)


def _joined_axes(streams: list[Info2]) -> tuple[int, ...] | None:
    """The shape of the arrays of consecutive streams, joined along the first axis. Streams without
    a shape may follow one with a shape. ``None`` if the first stream has no shape, the other axes
    differ, or the samples do not fill the joined array."""
    first, samples = streams[0].axes, sum(one.samples for one in streams)
    if len(streams) == 1 or not first:
        return first if len(streams) == 1 else None
    known = [one.axes for one in streams if one.axes is not None]
    if any(axes[1:] != first[1:] for axes in known):
        return None
    slab = math.prod(first[1:])
    whole = sum(axes[0] for axes in known) if not slab else samples // slab
    return (whole, *first[1:]) if whole * slab == samples else None


@overload
def decode2(
    stream: Any, shape: int | tuple[int, ...] | None = ..., threads: int = ..., out: None = ...
) -> NDArray[Any]: ...
@overload
def decode2(
    stream: Any, shape: int | tuple[int, ...] | None = ..., threads: int = ..., *, out: Any
) -> int: ...
def decode2(
    stream: Any, shape: int | tuple[int, ...] | None = None, threads: int = 1, out: Any = None
) -> NDArray[Any] | int:
    """Decodes a version 2 stream, or several that directly follow each other, as in a file.

    Parameters
    ----------
    stream : bytes, or anything with the buffer protocol
        The stream or streams, and nothing else.
    shape : tuple of int, optional
        Shape of the result; one size may be -1. Default: that of the encoded array. The arrays of
        several streams are joined along the first axis if their other axes agree, else row by row.
    threads : int
        Maximum number of threads that share the segments of a stream.
    out : array of the stream's type, or writeable buffer, optional
        Output for the samples.

    Returns
    -------
    array
        The samples, of the type that was encoded. With ``out``: the number of samples written to
        its start.

    Raises
    ------
    Error
        If a stream is damaged or followed by other bytes; the error has the offset. Or if ``out``
        is too small.
    ValueError
        If streams differ in their type or row length, or the shape does not fit.
    """
    data, threads = flat_bytes(stream), thread_count(threads)
    streams, ends = [_info2(data, 0)], [0]
    ends.append(streams[0].size)
    while ends[-1] < data.size:
        streams.append(_info2(data, ends[-1]))
        ends.append(ends[-1] + streams[-1].size)
    if len({(one.dtype, one.row) for one in streams}) > 1:
        raise ValueError("streams of different type or row follow each other")
    samples = sum(one.samples for one in streams)
    whole = replace(streams[0], samples=samples, axes=_joined_axes(streams))
    shape = full_shape(whole.shape if shape is None else shape, samples)
    result = np.empty(shape, whole.dtype) if out is None else None
    output = flat_output(out, whole.dtype) if result is None else result.reshape(-1)
    done = 0
    for at, end in itertools.pairwise(ends):
        done += _pylinerate.rice2_decode(data, at, end, output[done:], threads)
    return done if result is None else result


def decode2_segments(stream: Any, start: int, stop: int, threads: int = 1) -> NDArray[Any]:
    """Decodes only the segments ``start`` to ``stop`` (not included) of a version 2 stream.

    Returns
    -------
    array
        The samples, in the shape (stop - start, segment); in one axis if a shorter last segment is
        among them.

    Raises
    ------
    IndexError
        If the stream has no such segments.
    """
    data, threads = flat_bytes(stream), thread_count(threads)
    info = _info2(data, 0)
    start, stop = operator.index(start), operator.index(stop)
    if not 0 <= start <= stop <= info.segments:
        raise IndexError(f"segments {start} to {stop} of a stream of {info.segments}")
    samples = min(stop * info.segment, info.samples) - min(start * info.segment, info.samples)
    result = np.empty(samples, info.dtype)
    _pylinerate.rice2_decode_segments(data, start, stop, result, threads)
    whole = samples == (stop - start) * info.segment
    return result.reshape(stop - start, info.segment) if whole else result
