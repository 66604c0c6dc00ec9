"""Loads another build of HDF5 filter 32025 from a shared library: `--against [NAME=]PLUGIN.so[:SYMBOL]`.

The library exports `H5PLget_plugin_info`, as HDF5 plugins do. If that function does not work, SYMBOL names the
filter function, and the filter table is created here.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: The filter's number in HDF5's registry.
DELTA_RICE = 32025
_DECODE = 0x0100

_Filter = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_uint,  # flags
    ctypes.c_size_t,  # number of cd_values
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_size_t,  # bytes in the buffer
    ctypes.POINTER(ctypes.c_size_t),  # the buffer's size
    ctypes.POINTER(ctypes.c_void_p),  # the buffer
)


class _Class(ctypes.Structure):
    """H5Z_class2_t."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("encoder_present", ctypes.c_uint),
        ("decoder_present", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", _Filter),
    ]


_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]


class Buffer:
    """Memory from C's `malloc`, as HDF5 passes it to filters, which may replace it by other such
    memory."""

    def __init__(self, data: NDArray) -> None:
        self.size = ctypes.c_size_t(data.nbytes)
        self.pointer = ctypes.c_void_p(_libc.malloc(max(1, data.nbytes)))
        if not self.pointer.value:
            raise MemoryError
        self.used = data.nbytes
        np.copyto(self.view(), data.reshape(-1).view(np.uint8))

    def view(self) -> NDArray[np.uint8]:
        """The bytes in use. Invalid after the next filter call."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.used).from_address(self.pointer.value))

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            _libc.free(self.pointer)


class Plugin:
    """The filter in a library, given as `[NAME=]PLUGIN.so[:SYMBOL]`."""

    def __init__(self, library: str) -> None:
        name, _, file = library.rpartition("=")
        path, _, symbol = file.partition(":")
        self.name = name or f"against {Path(path).name}"
        self.version = {self.name: "sha256 " + hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}
        self._library = ctypes.CDLL(path)
        self._class = self._new_table(symbol) if symbol else self._exported_table(path)

    def _exported_table(self, path: str) -> _Class:
        info = self._library.H5PLget_plugin_info
        info.restype = ctypes.c_void_p
        address = info()
        if not address or address == DELTA_RICE:
            raise ValueError(f"{path}: H5PLget_plugin_info gives no table; try {path}:SYMBOL")
        table = _Class.from_address(address)
        if table.version != 1 or table.id != DELTA_RICE:
            raise ValueError(f"{path}: this is filter {table.id} of table version {table.version}")
        return table

    def _new_table(self, symbol: str) -> _Class:
        address = ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value
        return _Class(1, DELTA_RICE, 1, 1, b"deltarice", None, None, _Filter(address))

    def register(self) -> None:
        """Registers the filter with h5py's HDF5, in place of any other."""
        import h5py

        h5py.h5z.register_filter(ctypes.addressof(self._class))

    def encode(self, cd_values: Sequence[int], buffer: Buffer) -> None:
        """Replaces the samples in the buffer by a compressed chunk."""
        self._call(0, cd_values, buffer)

    def decode(self, cd_values: Sequence[int], buffer: Buffer) -> None:
        """Replaces the compressed chunk in the buffer by samples."""
        self._call(_DECODE, cd_values, buffer)

    def _call(self, flags: int, cd_values: Sequence[int], buffer: Buffer) -> None:
        values = (ctypes.c_uint * len(cd_values))(*cd_values)
        size, pointer = ctypes.byref(buffer.size), ctypes.byref(buffer.pointer)
        used = self._class.filter(flags, len(cd_values), values, buffer.used, size, pointer)
        if used == 0 or used > buffer.size.value:
            raise RuntimeError("the filter failed")
        buffer.used = used
