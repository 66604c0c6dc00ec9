"""Compression of detector waveforms, of small blocks with many dictionaries, of gateway messages, and gzip files.

* :mod:`pylinerate.rice`: chunks of NumPy arrays in memory
* :mod:`pylinerate.dict`: small zstd blocks, each with one of very many dictionaries
* :mod:`pylinerate.gateway`: message streams of chat gateways
* :mod:`pylinerate.gzip`: gzip files on several threads, read from any position by an index
* :mod:`pylinerate.websockets`: permessage-deflate for the package websockets (needs it)
* :mod:`pylinerate.hdf5`: filters for h5py, and parallel reading (needs h5py)
* :mod:`pylinerate.numcodecs`, :mod:`pylinerate.zarr`: codecs, which numcodecs and zarr find by name
  once the package is installed
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._pylinerate import VERSION as __version__
from ._pylinerate import Error

if TYPE_CHECKING:
    from . import rice

__all__ = ["Error", "__version__", "rice"]


def __getattr__(name: str) -> Any:
    # Imported on first use: it needs NumPy, which programs without arrays may not have.
    if name == "rice":
        return import_module(".rice", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
