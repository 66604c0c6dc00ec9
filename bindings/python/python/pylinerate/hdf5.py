"""Delta-Rice in HDF5 files: filters for h5py, and a function that reads on several threads.

Importing this module registers the filters with the HDF5 library that h5py uses:

>>> import h5py, numpy as np
>>> from pylinerate.hdf5 import DeltaRice
>>> waveforms = np.random.default_rng(1).normal(0, 20, (100, 7000)).astype("int16")
>>> with h5py.File("run.h5", "w", driver="core", backing_store=False) as file:
...     kept = file.create_dataset("waveforms", data=waveforms, chunks=(50, 7000), compression=DeltaRice(m=16))
...     bool((kept[:] == waveforms).all()), kept.id.get_storage_size() < waveforms.nbytes / 2
(True, True)

Other programs find the same filters as plugins in :data:`PLUGIN_PATH`:
``HDF5_PLUGIN_PATH=... h5dump run.h5``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import _pylinerate
from ._optional import require

require("h5py", extra="hdf5")

import h5py
from numpy.typing import ArrayLike

from ._arrays import stream_channels, stream_segment
from ._read import read
from .rice import DELTA, Params, tune

__all__ = [
    "DELTARICE2_ID",
    "DELTARICE_ID",
    "PLUGIN_PATH",
    "Config",
    "DeltaRice",
    "DeltaRice2",
    "get_config",
    "read",
    "register",
]

#: Number of the Delta-Rice filter in HDF5's registry.
DELTARICE_ID = 32025

#: Number of the filter of version 2 streams. It is from HDF5's range for testing, since it is not
#: registered yet.
DELTARICE2_ID = 325

#: Folder with the filters as HDF5 plugins, for the environment variable ``HDF5_PLUGIN_PATH``.
PLUGIN_PATH = str(Path(__file__).parent / "plugins")

#: Names of the filters of this package, by their HDF5 number.
FILTERS = {DELTARICE_ID: "deltarice", DELTARICE2_ID: "deltarice2"}


class DeltaRice(h5py.filters.FilterRefBase):
    """Filter 32025 for datasets of 16-bit integers, little-endian.

    Pass it to ``create_dataset`` as ``compression=DeltaRice(...)`` or ``**DeltaRice(...)``.

    Parameters
    ----------
    m : int
        The Rice parameter, a power of two from 2 to 32768. A good one is about the typical
        difference between consecutive samples. There is no "auto", since the parameters are fixed
        before the filter sees data: :meth:`for_array` finds them from samples.
    segment : int or None
        Samples per independently coded waveform, -1 for the whole chunk. Default: by the shape of
        the chunks: the last axis, or as many whole rows as it takes to have 1024 samples, or 16384
        samples if a chunk is a single row. With the default, chunks that would be larger than their
        samples by more than 2 % and more than 64 bytes are stored unfiltered. There is no default
        if ``filter`` is another than (1, -1).
    filter : sequence of int
        Coefficients, the first of them 1 or -1.

    Raises
    ------
    ValueError
        If a parameter is invalid or would lose data, or ``segment`` is missing.
    """

    filter_id = DELTARICE_ID
    filter_name = FILTERS[DELTARICE_ID]

    def __init__(self, m: int = 8, segment: int | None = None, filter: Iterable[int] = DELTA) -> None:
        params = Params(m, segment, tuple(filter))
        if params.m < 2 or params.filter[0] not in (1, -1):
            raise ValueError(f"with {params} data would be lost")
        if segment is not None:
            self.filter_options = params.cd_values
        elif params.filter == DELTA:
            self.filter_options = (params.m,)  # the filter adds the segment by the chunks' shape
        else:
            raise ValueError("with another filter than (1, -1) give the segment: the samples per row, or -1")

    @classmethod
    def for_array(
        cls, array: ArrayLike, segment: int | None = None, filter: Iterable[int] | Literal["auto"] = DELTA
    ) -> DeltaRice:
        """Makes the filter object whose parameters make ``array`` smallest, see
        :func:`pylinerate.rice.tune`.

        ``array`` is all data or a typical part of it. The default ``segment`` is that for the shape
        of ``array``, see :mod:`pylinerate.rice`. Pass another one if the chunks of your dataset
        have shorter rows than ``array``.
        """
        params = tune(array, segment, filter)
        return cls(params.m, -1 if params.segment is None else params.segment, params.filter)

    def __repr__(self) -> str:
        return f"DeltaRice(cd_values={self.filter_options})"


class DeltaRice2(h5py.filters.FilterRefBase):
    """Filter 325, version 2 streams, for datasets of 16- and 32-bit integers, little-endian. You
    need not choose any parameter.

    Pass it to ``create_dataset`` as ``compression=DeltaRice2()`` or ``**DeltaRice2()``.

    Parameters
    ----------
    segment : int or None
        Samples per independently coded segment, at most 65536. Default: a row (the last axis of the
        chunks) if it has 1024 to 16384 samples, else about 4096 samples.
    channels : int or None
        Number of channels: the length of the chunks' last axis, or 1 for no channels. Default:
        found out for each chunk, or 1 if ``segment`` is given.

    Raises
    ------
    ValueError
        If ``segment`` or ``channels`` is out of range.
    """

    filter_id = DELTARICE2_ID
    filter_name = FILTERS[DELTARICE2_ID]

    def __init__(self, segment: int | None = None, channels: int | None = None) -> None:
        segment, channels = stream_segment(segment), stream_channels(channels)
        values = (segment or 0, channels or 0)
        self.filter_options = values if channels else values[:1] if segment else ()

    def __repr__(self) -> str:
        segment, channels = (*self.filter_options, 0, 0)[:2]
        return f"DeltaRice2(segment={segment or None}, channels={channels or None})"


@dataclass(frozen=True)
class Config:
    """Versions, plugin folder and registered filters, as :func:`get_config` returns them.

    Attributes
    ----------
    version : str
        Version of this package.
    hdf5_version : str
        Version of h5py's HDF5 library.
    plugin_path : str
        See :data:`PLUGIN_PATH`.
    registered_filters : dict of str to int
        Names and numbers of the filters that :func:`register` has registered.
    """

    version: str
    hdf5_version: str
    plugin_path: str
    registered_filters: dict[str, int]


_registered: dict[str, int] = {}


def register(force: bool = False) -> dict[str, int]:
    """Registers the filters with h5py's HDF5 library, in place of any others with the same numbers.

    Importing this module calls this function. A later call does nothing, unless ``force`` is true:
    then it registers the filters again, in case something else has registered a filter with one of
    the numbers.

    Returns
    -------
    dict of str to int
        Names and numbers of the filters of this package.
    """
    for number, name in FILTERS.items():
        if force or name not in _registered:
            # HDF5 is not asked first whether it has the filter, because it would then load plugins.
            h5py.h5z.register_filter(_pylinerate.hdf5_class(number))
            _registered[name] = number
    return dict(_registered)


def get_config() -> Config:
    """Versions, the plugin folder, and the registered filters."""
    return Config(_pylinerate.VERSION, h5py.version.hdf5_version, PLUGIN_PATH, dict(_registered))


register()
