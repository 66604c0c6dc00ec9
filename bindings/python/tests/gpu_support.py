"""Gives tests a GPU, or else a double of the driver that runs on the CPU, and the parts of CuPy
that zarr uses."""

import ctypes
import os
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from support import REPOSITORY

CUDA = REPOSITORY / "accel" / "cuda"


def build_double(folder):
    """The test double of the driver library, compiled for the CPU."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed, which compiles the test double of the CUDA driver")
    subprocess.run([CUDA / "build-shim.sh", folder], check=True)
    return folder / "libcuda-shim.so"


def use_device(folder):
    """Makes `pylinerate.gpu` use a GPU if there is one, else the double. Call it before the first
    use."""
    try:
        found = ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        found = False
    if not found and "LINERATE_CUDA_DRIVER" not in os.environ:
        os.environ["LINERATE_CUDA_DRIVER"] = str(build_double(folder))
    return SimpleNamespace(is_double="LINERATE_CUDA_DRIVER" in os.environ)


def view(array, keep=None):
    """An array in the double's device memory, which is host memory, as a NumPy array."""
    raw = (ctypes.c_char * max(1, array.nbytes)).from_address(array.pointer or ctypes.addressof(ctypes.c_char()))
    raw.owner = keep or array
    return np.frombuffer(raw, array.dtype, array.size).reshape(array.shape)


class Ndarray(np.ndarray):
    """A NumPy array in the double's device memory that has ``__cuda_array_interface__``, like
    CuPy's arrays."""

    @property
    def __cuda_array_interface__(self):
        strides = None if self.flags.c_contiguous else self.strides
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.ctypes.data, False),
            "strides": strides,
            "stream": 1,
            "version": 3,
        }


def fake_cupy():
    """The functions of CuPy that zarr's GPU buffers call."""
    from pylinerate import gpu

    def empty(shape, dtype, order="C"):
        assert order == "C"
        return view(gpu.empty(shape, dtype)).view(Ndarray)

    def asarray(array):
        if isinstance(array, Ndarray):
            return array
        array = np.asarray(array)
        out = empty(array.shape, array.dtype)
        out[...] = array
        return out

    return SimpleNamespace(
        ndarray=Ndarray,
        empty=empty,
        asarray=asarray,
        asanyarray=asarray,
        array=lambda values, dtype: asarray(np.array(values, dtype)),
        frombuffer=lambda data, dtype: asarray(np.frombuffer(data, dtype)),
        asnumpy=lambda array: np.array(array, copy=True).view(np.ndarray),
        concatenate=lambda arrays: asarray(np.concatenate([np.asarray(a) for a in arrays])),
    )
