"""Compression of detector waveforms, and of small blocks with many dictionaries.

* :mod:`linerate.rice`: chunks of NumPy arrays in memory
* :mod:`linerate.dict`: small zstd blocks, each with one of very many dictionaries
* :mod:`linerate.hdf5`: filters for h5py, and parallel reading (needs h5py)
* :mod:`linerate.numcodecs`, :mod:`linerate.zarr`: codecs, which numcodecs and zarr find by
  themselves once the package is installed
"""

from . import rice
from ._linerate import VERSION as __version__
from ._linerate import Error

__all__ = ["Error", "__version__", "rice"]
