"""Delta-Rice on NVIDIA GPUs: decodes datasets into device memory, and encodes arrays there.

The CUDA driver is found at run time; :func:`available` tells whether there is one with a device.
CuPy, PyTorch, JAX and Numba take the arrays that :func:`read` and :func:`decode` return, without a
copy::

    import cupy, h5py, torch
    from pylinerate import gpu

    waveforms = gpu.read(h5py.File("run.h5")["waveforms"])   # compressed bytes cross the bus
    cupy.asarray(waveforms)
    torch.from_dlpack(waveforms)

The argument ``stream`` is always the CUDA stream that gets the work: a CuPy, PyTorch or Numba
stream, an object with ``__cuda_stream__``, or a number (``CUstream``). Default: CUDA's default
stream, which CuPy and PyTorch use too. The argument ``device`` is the number of the GPU, from 0.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from . import _pylinerate
from ._optional import require

require("numpy", extra="numpy")

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._arrays import flat_bytes, sample_dtype, stream_segment
from ._streams import _row, info2
from .rice import DELTA, Chunk, Params, _for_decoding, _segment_of

__all__ = [
    "DeviceArray",
    "available",
    "decode",
    "decode2",
    "decode2_into",
    "decode_into",
    "device_count",
    "device_name",
    "empty",
    "encode",
    "encode2",
    "encode_rows2",
    "read",
    "release",
]

#: `cudaStreamLegacy`, the handle of CUDA's default stream. Protocols such as DLPack use it, since
#: they do not allow 0, which may stand for either of two streams.
LEGACY_STREAM = 1


def device_count() -> int:
    """Number of NVIDIA GPUs.

    Raises
    ------
    RuntimeError
        If the driver cannot be loaded, or finds no GPU. The message has the reason.
    """
    return _pylinerate.gpu_device_count()


def available() -> bool:
    """Whether there is a CUDA driver with at least one GPU. If not, :func:`device_count` raises an
    error that has the reason."""
    try:
        return device_count() > 0
    except RuntimeError:
        return False


def device_name(device: int = 0) -> str:
    """Name of a GPU, such as "NVIDIA H100 80GB HBM3"."""
    return _device(device).name


def release(device: int = 0) -> None:
    """Frees memory of a GPU that is kept between calls: scratch memory that no call is using, and
    the memory to which this thread encodes."""
    _outputs.kept.pop(device, None)
    _device(device).release()


class DeviceArray:
    """A C-contiguous array in the memory of a GPU. :func:`read`, :func:`decode`, :func:`decode2`
    and :func:`empty` make it. The memory is freed with this object.

    When a function of this module returns an array, the work on it is done: no stream still writes
    to it.

    Attributes
    ----------
    shape : tuple of int
        Length of each axis.
    dtype : numpy.dtype
        Type of the samples.
    device : int
        Number of the GPU.
    pointer : int
        Device address of the first sample; 0 if the array is empty.
    nbytes : int
        Size of the array in bytes.
    """

    def __init__(self, shape: Sequence[int], dtype: DTypeLike, device: int = 0) -> None:
        self.shape = tuple(operator.index(n) for n in shape)
        self.dtype = np.dtype(dtype)
        self.device = device
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._memory = _device(device).allocate(self.nbytes)
        self.pointer = self._memory.pointer

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of samples."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device})"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The description of the array for CuPy and Numba, in version 3 of the protocol. It names
        no stream to wait for, since the work on the array is done."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's code for CUDA, and the number of the GPU."""
        return (2, self.device)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Makes a DLPack capsule of the array, without a copy. It has version 1.0 of DLPack if
        ``max_version`` allows it, else the older format.

        Raises
        ------
        ValueError
            If ``stream`` is 0, which the protocol forbids because it may stand for either of two
            streams. Or if the samples are neither integers nor floats.
        BufferError
            If the caller asks for a copy or for another device than that of the array.
        """
        if stream == 0:
            raise ValueError("stream 0 is ambiguous: pass 1 for the default stream, 2 for that of the thread")
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("the array can only be handed over as it is, without a copy")
        versioned = max_version is not None and max_version[0] >= 1
        # All work on the array is done, so the consumer's stream has nothing to wait for.
        return _pylinerate.gpu_to_dlpack(
            self, self.pointer, self.device, self.shape, self.dtype.str, versioned
        )

    def to_host(self, stream: Any = None) -> NDArray[Any]:
        """Waits for the work queued on ``stream``, and returns a copy of the array as a NumPy
        array."""
        raw = _device(self.device).download(self.pointer, self.nbytes, _stream(stream))
        return np.frombuffer(bytearray(raw), self.dtype).reshape(self.shape)


def empty(shape: int | Sequence[int], dtype: DTypeLike, device: int = 0) -> DeviceArray:
    """Allocates an array with unspecified content in the memory of a GPU."""
    return DeviceArray((shape,) if isinstance(shape, int) else shape, dtype, device)


def read(dataset: Any, selection: Any = ..., *, stream: Any = None, device: int = 0) -> DeviceArray:
    """Returns ``dataset[selection]`` in device memory. Compressed chunks cross the bus, and the GPU
    decodes them.

    While chunks are decoded, the next ones are read from the file.

    Parameters
    ----------
    dataset : h5py.Dataset
        A dataset of integers or floats with Delta-Rice (filter 32025) or version 2 (filter 325).
        The host checks fletcher32 and undoes shuffle, if the dataset has these filters too. If
        another filter was applied before Delta-Rice, the host decodes the whole chunk.
    selection : integers, slices of step 1, ``...``, or a tuple of these
        As in ``dataset[selection]``. Default: everything. Chunks are decoded whole and cropped on
        the device.
    stream : optional
        See :mod:`pylinerate.gpu`. The call waits until the stream is done, because it reports
        damage.
    device : int
        Number of the GPU.

    Returns
    -------
    DeviceArray
        The selected samples. Those of chunks that were never written have the fill value.

    Raises
    ------
    TypeError
        If the dataset has other filters, another layout or another type, or the selection is of
        another kind. Read it with h5py, and copy the array to the device.
    OSError
        If a chunk is damaged. The message names the chunk.
    """
    from ._gpu_read import read_dataset

    return read_dataset(dataset, selection, _stream(stream), device)


def decode(
    chunk: Any,
    m: int | None = None,
    segment: int | None = None,
    filter: Iterable[int] = DELTA,
    dtype: DTypeLike | None = None,
    shape: int | tuple[int, ...] | None = None,
    *,
    params: Params | None = None,
    stream: Any = None,
    device: int = 0,
) -> DeviceArray:
    """Decodes a version 1 chunk in host memory into device memory.

    Parameters
    ----------
    chunk : bytes-like
        Exactly one chunk. A :class:`pylinerate.rice.Chunk` includes its parameters, type and shape.
    m, segment, filter, dtype, shape, params
        As for :func:`pylinerate.rice.decode`.
    stream, device
        See :mod:`pylinerate.gpu`.

    Returns
    -------
    DeviceArray
        The samples.

    Raises
    ------
    pylinerate.Error
        If the chunk is damaged.
    ValueError
        If the chunk has a number of samples that does not fit ``shape``.
    """
    data, params, sizes = _for_decoding(chunk, m, segment, filter, shape, params)
    known = chunk.dtype if isinstance(chunk, Chunk) else np.dtype(np.int16)
    out = empty(sizes, sample_dtype(known if dtype is None else dtype, (2,)), device)
    batch = _pylinerate.gpu_decode(
        _device(device), params._numbers, [data], [(out.pointer, out.size)], _stream(stream)
    )
    batch.wait()
    return out


def decode2(encoded: Any, *, stream: Any = None, device: int = 0) -> DeviceArray:
    """Decodes a version 2 stream in host memory into device memory. The header of the stream has
    the type and shape of the array.

    Raises
    ------
    pylinerate.Error
        If the stream is damaged.
    """
    info = info2(encoded)
    data = flat_bytes(encoded)
    out = empty(info.shape, info.dtype, device)
    batch = _pylinerate.gpu_decode2(
        _device(device), info.dtype.name, 1, [data], [(out.pointer, out.size)], _stream(stream)
    )
    batch.wait()
    return out


def encode(
    array: Any,
    m: int = 8,
    segment: int | None = None,
    filter: Iterable[int] = DELTA,
    *,
    allow_expansion: bool = False,
    stream: Any = None,
    device: int | None = None,
) -> Chunk:
    """Encodes an array of 16-bit integers on the GPU, as a version 1 chunk in host memory.

    Parameters
    ----------
    array
        A C-contiguous array: anything with ``__cuda_array_interface__`` or DLPack in device memory,
        or a NumPy array.
    m, segment, filter
        As for :func:`pylinerate.rice.encode`, but not "auto", for which there is
        :func:`pylinerate.rice.tune`. The default ``m`` is 8.
    allow_expansion : bool
        Whether the chunk may be larger than the array by more than 2 % and more than 64 bytes.
        Otherwise that is a ``ValueError``.
    stream : optional
        See :mod:`pylinerate.gpu`. If the array names a stream of its own, the device first waits
        for the work on the array that is queued there.
    device : int, optional
        Number of the GPU. Default: that of the array, or 0 for a NumPy array.

    Returns
    -------
    pylinerate.rice.Chunk
        The same bytes as from :func:`pylinerate.rice.encode` with these parameters.

    Raises
    ------
    TypeError
        If the array is not of 16-bit integers in the machine's byte order.
    ValueError
        If an array in device memory is not C-contiguous, a parameter is invalid, or the chunk would
        be too large.
    """
    source = _Source(array, _stream(stream), device)
    dtype = sample_dtype(source.dtype, (2,))
    params = Params(m, _segment_of(segment, source.shape), tuple(filter))
    bound = _pylinerate.rice_bound(params._numbers, source.size)
    output = _outputs.address(source.device, bound)
    batch = _pylinerate.gpu_encode(
        source.device_object, params._numbers, [source.place], [(output, bound)], source.stream
    )
    [size] = batch.wait()
    if not allow_expansion and _pylinerate.rice_expands(source.size, size):
        raise ValueError(
            f"with {params} the chunk is {size / (2 * source.size):.0%} of the array: use the m of "
            "pylinerate.rice.tune, or encode2, whose streams do not grow; allow_expansion=True accepts it"
        )
    encoded = source.device_object.download(output, size, source.stream)
    return Chunk(encoded, params, source.shape, dtype)


def decode_into(
    chunk: Any,
    out: Any,
    m: int,
    segment: int | None = None,
    filter: Iterable[int] = DELTA,
    *,
    stream: Any = None,
) -> None:
    """Decodes a version 1 chunk in device memory to an array in device memory.

    Parameters
    ----------
    chunk
        An array of bytes with ``__cuda_array_interface__`` or DLPack.
    out
        A C-contiguous array of 16-bit integers with ``__cuda_array_interface__`` or DLPack.
    m, segment, filter
        As for :func:`pylinerate.rice.decode`. If ``segment`` is None, three segments are tried in
        turn until one decodes: the default for the shape of ``out``, its last axis, and all
        samples.
    stream : optional
        See :mod:`pylinerate.gpu`. The call waits until the chunk is decoded.

    Raises
    ------
    pylinerate.Error
        If the chunk is damaged, or has more samples than ``out``.
    TypeError
        If ``chunk`` or ``out`` is not in device memory, or ``out`` has another type.
    ValueError
        If the chunk has fewer samples than ``out``, ``out`` is read-only, or an array is not
        C-contiguous.
    """
    target = _Source(out, _stream(stream), None, "out")
    source = _Source(chunk, target.stream, target.device, "chunk")
    sample_dtype(target.dtype, (2,))
    last_axis = target.shape[-1] if target.ndim >= 2 and target.shape[-1] > 0 else -1
    segments = [_pylinerate.rice_segment_for(target.shape), last_axis, -1] if segment is None else [segment]
    first_error = None
    for candidate in dict.fromkeys(segments):
        numbers = Params(m, candidate, tuple(filter))._numbers
        outputs = [(target.place[0], target.size)]
        batch = _pylinerate.gpu_decode(target.device_object, numbers, [source.place], outputs, target.stream)
        try:
            [samples] = batch.wait()
        except _pylinerate.Error as error:
            first_error = first_error or error
            continue
        _check_samples(samples, target)
        return
    if first_error is not None:
        raise first_error


def decode2_into(encoded: Any, out: Any, *, stream: Any = None) -> None:
    """Decodes a version 2 stream in device memory to an array of the stream's sample type in device
    memory.

    ``encoded`` is an array of bytes, and ``out`` a C-contiguous array, both with
    ``__cuda_array_interface__`` or DLPack. The errors are those of :func:`decode_into`.
    """
    target = _Source(out, _stream(stream), None, "out")
    source = _Source(encoded, target.stream, target.device, "encoded")
    dtype = sample_dtype(target.dtype, (2, 4))
    # The size of scratch memory depends on the samples per segment, which are in the header.
    header = target.device_object.download(source.place[0], min(28, source.place[1]), target.stream)
    min_segment = max(1, int.from_bytes(header[16:20], "little"))
    place: Any = source.place
    if header[7:8] == b"\x01":
        # For streams with channels, the size of scratch memory also depends on the table of segments,
        # so the call needs the stream in host memory.
        place = target.device_object.download(*source.place, target.stream)
    batch = _pylinerate.gpu_decode2(
        target.device_object,
        dtype.name,
        min_segment,
        [place],
        [(target.place[0], target.size)],
        target.stream,
    )
    [samples] = batch.wait()
    _check_samples(samples, target)


def _check_samples(samples: int, target: _Source) -> None:
    """Raises ``ValueError`` unless the array ``target`` has this number of samples."""
    if samples != target.size:
        raise ValueError(f"the chunk has {samples} samples, which is not the shape {target.shape}")


def encode2(
    array: Any, segment: int | None = None, *, stream: Any = None, device: int | None = None
) -> bytes:
    """Encodes an array of 16- or 32-bit integers on the GPU, as a version 2 stream in host memory.

    Parameters
    ----------
    array, stream, device
        As for :func:`encode`.
    segment : int, optional
        Samples per independently coded segment, at most 65536. Default: a row (the last axis) if it
        has 1024 to 16384 samples, else about 4096 samples.

    Returns
    -------
    bytes
        The same bytes as from :func:`pylinerate.rice.encode2` with ``channels=1``, because the GPU
        does not look for channels.

    Raises
    ------
    NotImplementedError
        If this build has no kernels that encode version 2.
    TypeError
        If the array is not of 16- or 32-bit integers in the machine's byte order.
    ValueError
        If ``segment`` is out of range, or an array in device memory is not C-contiguous.
    """
    source = _Source(array, _stream(stream), device)
    row = _row(source)
    plain = (source.size,) if row is None else (source.size // row, row)
    return _encode2(source, segment, None if source.shape == plain else source.shape)


def encode_rows2(array: Any, segment: int | None = None, *, stream: Any = None) -> bytes:
    """Encodes an array as :func:`encode2` does, but without the array's shape in the stream. It is
    for callers that store the shape elsewhere, such as zarr."""
    return _encode2(_Source(array, _stream(stream), None), segment, None)


def _encode2(source: _Source, segment: int | None, shape: tuple[int, ...] | None) -> bytes:
    dtype, row = sample_dtype(source.dtype, (2, 4)), _row(source)
    segment = stream_segment(segment)
    bound = _pylinerate.gpu_stream_bound(dtype.name, segment, row, shape, source.size)
    output = _outputs.address(source.device, bound)
    batch = _pylinerate.gpu_encode2(
        source.device_object,
        dtype.name,
        segment,
        row,
        shape,
        [source.place],
        [(output, bound)],
        source.stream,
    )
    [size] = batch.wait()
    return source.device_object.download(output, size, source.stream)


_devices: dict[int, _pylinerate.GpuDevice] = {}
_devices_lock = threading.Lock()


def _device(ordinal: int) -> _pylinerate.GpuDevice:
    """The GPU with this number and its codec. The object is made on first use and kept."""
    ordinal = operator.index(ordinal)
    if ordinal < 0:
        raise ValueError(f"device is {ordinal}, but must not be negative")
    with _devices_lock:
        if ordinal not in _devices:
            _devices[ordinal] = _pylinerate.GpuDevice(ordinal)
        return _devices[ordinal]


def _stream(stream: Any) -> int:
    """The handle (``CUstream``) of any library's stream object; that of the default stream for
    ``None``."""
    if stream is None:
        return LEGACY_STREAM
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        version, handle = protocol() if callable(protocol) else protocol
        if version != 0:
            raise ValueError(f"a stream with version {version} of __cuda_stream__, but 0 is known")
        return int(handle)
    for name in ("ptr", "cuda_stream", "handle"):  # CuPy, PyTorch, Numba
        if hasattr(stream, name):
            handle = getattr(stream, name)
            return int(getattr(handle, "value", handle) or 0)
    return operator.index(stream)


class _Source:
    """An array of the caller. :attr:`place` has its address and size in device memory, or its bytes
    in host memory. This object keeps the array alive.

    If the array must be in device memory, ``name`` is the name of the argument. For any other
    object this raises ``TypeError`` then. The argument ``out`` is written to: this raises
    ``ValueError`` if its ``__cuda_array_interface__`` says that it is read-only."""

    def __init__(self, array: Any, stream: int, device: int | None, name: str | None = None) -> None:
        self.stream = stream
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            if name == "out" and interface["data"][1]:
                raise ValueError("out is read-only, but must be writeable")
            self._of_device(interface, device if device is not None else getattr(array, "device", 0))
            waits_for = interface.get("stream")
            if waits_for == 0:
                raise ValueError("stream 0 in __cuda_array_interface__ is not allowed")
            if waits_for is not None:
                self.device_object.wait(stream, waits_for)
            self._keep = array
        elif hasattr(array, "__dlpack__") and tuple(array.__dlpack_device__())[0] == 2:
            borrowed = _pylinerate.gpu_from_dlpack(array.__dlpack__(stream=stream or LEGACY_STREAM))
            self._of_device(
                {
                    "shape": tuple(borrowed.shape),
                    "typestr": borrowed.typestr,
                    "data": (borrowed.pointer, False),
                    "strides": tuple(borrowed.strides),
                },
                borrowed.device,
            )
            self._keep = borrowed
        elif name is not None:
            raise TypeError(
                f"{name} is {type(array).__name__}, but must be an array in device memory, with "
                "__cuda_array_interface__ or DLPack: gpu.decode and gpu.decode2 take encoded bytes in host "
                "memory, gpu.empty allocates an output"
            )
        else:
            host = np.ascontiguousarray(array)
            self.shape, self.dtype = np.shape(array), host.dtype
            self.device = 0 if device is None else device
            self.place: Any = host.reshape(-1).view(np.uint8)
        self.size, self.ndim = math.prod(self.shape), len(self.shape)

    def _of_device(self, interface: dict[str, Any], device: Any) -> None:
        self.shape = tuple(interface["shape"])
        self.dtype = np.dtype(interface["typestr"])
        self.device = _ordinal(device)
        strides = interface.get("strides")
        if strides is not None and not _is_contiguous(self.shape, strides, self.dtype.itemsize):
            raise ValueError("the array is not C-contiguous: make a contiguous copy on the device")
        if interface.get("mask") is not None:
            raise ValueError("masked arrays cannot be encoded")
        self.place = (interface["data"][0], math.prod(self.shape) * self.dtype.itemsize)

    @property
    def device_object(self) -> _pylinerate.GpuDevice:
        return _device(self.device)


def _ordinal(device: Any) -> int:
    """The number of the GPU that ``device`` stands for: a number itself, or the ``id`` of CuPy's
    device object, or the ``index`` of PyTorch's. 0 if it is none of these."""
    candidates = (device, getattr(device, "id", None), getattr(device, "index", None))
    return next((number for number in candidates if isinstance(number, int)), 0)


def _is_contiguous(shape: tuple[int, ...], strides: Sequence[int], itemsize: int) -> bool:
    expected = itemsize
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


class _Outputs(threading.local):
    """Device memory to which a thread encodes, on each GPU that it uses. It grows and is reused by
    later calls of the thread."""

    def __init__(self) -> None:
        self.kept: dict[int, _pylinerate.GpuMemory] = {}

    def address(self, device: int, nbytes: int) -> int:
        """The device address of ``nbytes`` bytes, which are valid until the next call of this
        method on this thread."""
        kept = self.kept.get(device)
        if kept is None or kept.nbytes < nbytes:
            self.kept.pop(device, None)
            kept = self.kept[device] = _device(device).allocate(nbytes)
        return kept.pointer


_outputs = _Outputs()
