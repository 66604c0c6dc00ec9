"""Methods that store an array in an HDF5 file with h5py, the whole array as one chunk.

Encoding creates, writes and closes the file; decoding opens it and reads into an existing array. The file should
be in memory (tmpfs); otherwise the disk is measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import h5py
from numpy.typing import NDArray

import codecs_in_memory as codecs
import filter_plugin
import ours
from measure import HDF5, Method, Trial, Unavailable, openmp

_NAME = "waveforms"
#: Arguments of h5py's `create_dataset`, and the versions of the libraries.
_Options = tuple[Mapping[str, Any], Mapping[str, str]]
_numbers = itertools.count()


class _File(Trial):
    """A trial with a file of its own in `folder`."""

    def __init__(self, array: NDArray, back: NDArray, folder: Path) -> None:
        self.array = self.expected = array
        self.back = back
        self.path = folder / f"{next(_numbers)}.h5"

    def before_encode(self) -> None:
        self.path.unlink(missing_ok=True)

    def size(self) -> int:
        with h5py.File(self.path) as file:
            return file[_NAME].id.get_storage_size()

    def close(self) -> None:
        self.path.unlink(missing_ok=True)


class Filtered(_File):
    """A filter in HDF5's pipeline, selected by arguments of `create_dataset`.

    `register` makes HDF5 use the right one of several filters that have the same number.
    """

    def __init__(
        self,
        array: NDArray,
        back: NDArray,
        folder: Path,
        options: Mapping[str, Any],
        threads: int = 1,
        register: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(array, back, folder)
        self.options, self.threads, self.register = options, threads, register

    def before_encode(self) -> None:
        super().before_encode()
        self.register()

    def encode(self) -> None:
        with h5py.File(self.path, "w") as file:
            file.create_dataset(_NAME, data=self.array, chunks=self.array.shape, **self.options)

    def before_decode(self) -> None:
        self.register()

    def decode(self) -> None:
        with h5py.File(self.path) as file:
            file[_NAME].read_direct(self.back)


class Direct(_File):
    """A codec without a filter, whose bytes are written and read with HDF5's direct chunk calls."""

    def __init__(self, array, back, folder, codec: codecs.Codec) -> None:
        super().__init__(codec.array, codec.back, folder)
        self.expected = codec.expected
        self.codec = codec

    def encode(self) -> None:
        self.codec.encode()
        with h5py.File(self.path, "w") as file:
            dataset = file.create_dataset(_NAME, self.array.shape, self.array.dtype, chunks=self.array.shape)
            dataset.id.write_direct_chunk((0, 0), self.codec.stored)

    def decode(self) -> None:
        with h5py.File(self.path) as file:
            _, stored = file[_NAME].id.read_direct_chunk((0, 0))
        self.codec.decode_from(stored)


class Parallel(Filtered):
    """A file that is written through the filter, and read with `pylinerate.hdf5.read`, which
    decodes outside of HDF5."""

    read: NDArray

    def decode(self) -> None:
        with h5py.File(self.path) as file:
            self.read = ours.hdf5().read(file[_NAME], threads=self.threads)

    def result(self) -> NDArray:
        return self.read


_VERSION = {"h5py": h5py.version.version, "HDF5": h5py.version.hdf5_version}


def _plugin(attribute: str, **arguments: Any) -> _Options:
    try:
        import hdf5plugin
    except ImportError as e:
        raise Unavailable("hdf5plugin is not installed") from e
    return getattr(hdf5plugin, attribute)(**arguments), _VERSION | {"hdf5plugin": hdf5plugin.version}


def _bitshuffle(cname: str, threads: int) -> _Options:
    options = _plugin("Bitshuffle", cname=cname)
    if threads > 1 and not openmp():
        raise Unavailable("hdf5plugin is built without OpenMP")
    return options


def _blosc2(cname: str) -> _Options:
    import hdf5plugin

    return _plugin("Blosc2", cname=cname, clevel=5, filters=hdf5plugin.Blosc2.BITSHUFFLE)


def rows(folder: Path, threads: int, against: filter_plugin.Plugin | None) -> Iterator[Method | tuple[str, str]]:
    """Yields all methods; for an unavailable one, its name and the reason."""

    def filtered(name: str, options: Callable[[], _Options], n: int = 1):
        try:
            found, version = options()
        except (Unavailable, ImportError) as e:
            return name if n == 1 else f"{name} x{n}", str(e)
        return Method(HDF5, name, lambda a, b: Filtered(a, b, folder, found, n), version, n)

    def direct(codec: Method | tuple[str, str]):
        if isinstance(codec, tuple):
            return codec
        make = lambda a, b: Direct(a, b, folder, codec.make(a, b))
        return Method(HDF5, f"{codec.name}, direct chunk", make, _VERSION | codec.version)

    builtin = lambda **options: lambda: (options, _VERSION)
    yield filtered("none", builtin())
    yield filtered("gzip 4", builtin(compression="gzip", compression_opts=4))
    yield filtered("lzf", builtin(compression="lzf"))
    for n in dict.fromkeys((1, threads)):
        yield filtered("bitshuffle lz4", partial(_bitshuffle, "lz4", n), n)
        yield filtered("bitshuffle zstd", partial(_bitshuffle, "zstd", n), n)
    yield filtered("szip nn 16", builtin(compression="szip", compression_opts=("nn", 16)))
    yield filtered("szip nn 32", builtin(compression="szip", compression_opts=("nn", 32)))
    yield filtered("blosc2 lz4 bitshuffle", lambda: _blosc2("lz4"))
    yield filtered("blosc2 zstd bitshuffle", lambda: _blosc2("zstd"))
    yield direct(codecs.pco_row(8))
    if against is not None:
        yield from _against(folder, against)
    yield from _ours(folder, threads, against is not None)


def _against(folder: Path, plugin: filter_plugin.Plugin) -> Iterator[Method]:
    """Yields the other build of filter 32025, which is registered in place of Linerate's before each pass."""

    def make(array: NDArray, back: NDArray) -> Trial:
        options = {"compression": filter_plugin.DELTA_RICE, "compression_opts": (8, array.shape[-1])}
        return Filtered(array, back, folder, options, register=plugin.register)

    yield Method(HDF5, f"{plugin.name}, m=8", make, _VERSION | plugin.version)


def _ours(folder: Path, threads: int, shared_id: bool) -> Iterator[Method | tuple[str, str]]:
    try:
        hdf5 = ours.hdf5()
    except Unavailable as e:
        yield "linerate", str(e)
        return

    register = partial(hdf5.register, force=True) if shared_id else lambda: None

    def row(name: str, options: Callable[[NDArray], Mapping[str, Any]], n: int) -> Iterator[Method]:
        def make(kind: type[Filtered], array: NDArray, back: NDArray) -> Trial:
            return kind(array, back, folder, options(array), n, register)

        yield Method(HDF5, f"linerate {name}", partial(make, Filtered), _VERSION, n)
        yield Method(HDF5, f"linerate {name}, linerate.hdf5.read", partial(make, Parallel), _VERSION, n)

    for n in dict.fromkeys((1, threads)):
        yield from row("v1 m=8", lambda array: hdf5.DeltaRice(m=8, segment=array.shape[-1]), n)
        yield from row("v1 auto", ours.best_filter, n)
        yield from row("v2", lambda array: hdf5.DeltaRice2(), n)
