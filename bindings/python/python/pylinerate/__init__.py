"""Compresses and decompresses detector waveforms, small blocks with many dictionaries, messages,
and gzip files.

* :mod:`pylinerate.rice`: Delta-Rice for NumPy arrays in memory
* :mod:`pylinerate.gpu`: the same on NVIDIA GPUs
* :mod:`pylinerate.dict`: small zstd blocks, each with one of very many dictionaries
* :mod:`pylinerate.gateway`: message streams of chat gateways
* :mod:`pylinerate.gzip`: gzip files, decoded on several threads and read from any position
* :mod:`pylinerate.websockets`: permessage-deflate for the package websockets, which it needs
* :mod:`pylinerate.hdf5`: filters for h5py, which it needs, and parallel reading
* :mod:`pylinerate.numcodecs`, :mod:`pylinerate.zarr`: codecs that numcodecs and zarr find by name once
  this package is installed
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._pylinerate import VERSION as __version__
from ._pylinerate import Error

if TYPE_CHECKING:
    from . import rice

__all__ = ["Error", "__version__", "rice"]


def __getattr__(name: str) -> Any:
    # The module rice is imported on first use, because it needs NumPy, which programs without
    # arrays may not have.
    if name == "rice":
        return import_module(".rice", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
