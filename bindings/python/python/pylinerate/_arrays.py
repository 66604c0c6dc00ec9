"""Converts NumPy arrays and buffers to the form that the extension module takes: one dimension,
contiguous, aligned. Also checks arguments."""

from __future__ import annotations

import math
import operator
from typing import Any, TypeVar

from ._optional import require

require("numpy", extra="numpy")

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Integer = TypeVar("Integer", bound="np.integer[Any]")


def sample_dtype(dtype: DTypeLike, sizes: tuple[int, ...]) -> np.dtype[Any]:
    """Returns ``dtype`` as NumPy's type. Raises ``TypeError`` unless it is an integer type in this
    machine's byte order whose size in bytes is one of ``sizes``."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu" or dtype.itemsize not in sizes:
        names = " or ".join(f"{u}int{8 * size}" for size in sizes for u in ("", "u"))
        raise TypeError(f"samples are {dtype}, but must be {names}")
    if not dtype.isnative:
        raise TypeError(
            f"samples are {dtype.str} (big-endian), but must be in the machine's byte order: "
            f"convert them with array.astype({dtype.newbyteorder('=').name!r})"
        )
    return dtype


def flat_samples(array: NDArray[Any]) -> NDArray[Any]:
    """Returns ``array`` in one dimension, in C order. Copies it only if it is not C-contiguous or
    not aligned."""
    return np.require(array, requirements=["C", "A"]).reshape(-1)


def flat_bytes(buffer: Any) -> NDArray[np.uint8]:
    """Returns the bytes of an object with the buffer protocol, without a copy. Raises
    ``ValueError`` if they are not C-contiguous."""
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise ValueError("the buffer is not C-contiguous")
    return np.frombuffer(view.cast("B"), np.uint8) if view.nbytes else np.empty(0, np.uint8)


def flat_output(out: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Returns ``out``, an array or a buffer, as an array of ``dtype`` in one dimension to write to:
    a view, never a copy. Raises ``ValueError`` if ``out`` is read-only, not C-contiguous or an
    array that is not aligned. Raises ``TypeError`` if it is an array of another type, unless
    ``dtype`` is uint8."""
    if isinstance(out, np.ndarray):
        if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
            raise ValueError("out must be C-contiguous, aligned and writeable")
        if dtype != np.uint8 and out.dtype != dtype:
            raise TypeError(f"out is {out.dtype}, but must be {dtype}")
        return out.reshape(-1).view(dtype)
    view = memoryview(out)
    if view.readonly or not view.c_contiguous:
        raise ValueError("out must be writeable and C-contiguous")
    return np.frombuffer(view.cast("B"), dtype)


def full_shape(shape: int | tuple[int, ...] | None, samples: int) -> tuple[int, ...]:
    """Returns ``shape`` as a tuple; ``None`` means one axis of ``samples`` samples. An axis of -1
    gets the length with which the array has ``samples`` samples. Raises ``ValueError`` if the shape
    has another number of samples."""
    if shape is None:
        return (samples,)
    sizes = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    if sizes.count(-1) == 1:
        rest = -math.prod(sizes)
        sizes[sizes.index(-1)] = samples // rest if rest > 0 else 0
    if min(sizes, default=0) < 0 or math.prod(sizes) != samples:
        raise ValueError(f"the chunk has {samples} samples, which is not the shape {shape}")
    return tuple(sizes)


def integers(values: ArrayLike, dtype: type[Integer], name: str) -> NDArray[Integer]:
    """Returns ``values`` as a C-contiguous array of ``dtype`` in one dimension. Raises
    ``TypeError`` for other values than integers (floats are not rounded), and ``ValueError`` for
    several axes and for values out of the range of ``dtype``. ``name`` is the name of the argument
    in these errors."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        # NumPy makes objects or floats of integers of Python that no type of its own can hold.
        exact = array if isinstance(values, np.ndarray) else np.asarray(values, object)
        if not all(type(value) is int or isinstance(value, np.integer) for value in exact.flat):
            raise TypeError(f"{name} are {array.dtype}, but must be integers")
        array = exact
    if array.ndim > 1:
        raise ValueError(f"{name} have {array.ndim} axes, but must have one")
    if array.size and not np.can_cast(array.dtype, dtype):
        least, most, limits = int(array.min()), int(array.max()), np.iinfo(dtype)
        if least < limits.min or most > limits.max:
            raise ValueError(f"{name} are {least} to {most}, but must be {limits.min} to {limits.max}")
    return np.ascontiguousarray(array, dtype)


def stream_segment(segment: int | None) -> int | None:
    """Returns ``segment``, the samples per segment of a version 2 stream; ``None`` is the default.
    Raises ``ValueError`` if it is not 1 to 65536."""
    if segment is None:
        return None
    segment = operator.index(segment)
    if not 1 <= segment <= 65536:
        raise ValueError(f"segment is {segment}, but must be 1 to 65536")
    return segment


def stream_channels(channels: int | None) -> int | None:
    """Returns ``channels``, the number of channels of a version 2 stream; ``None`` means that the
    encoder finds it. Raises ``ValueError`` if it is not 1 to 1024."""
    if channels is None:
        return None
    channels = operator.index(channels)
    if not 1 <= channels <= 1024:
        raise ValueError(f"channels is {channels}, but must be 1 to 1024")
    return channels
