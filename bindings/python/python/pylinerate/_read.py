"""Reads HDF5 datasets chunk by chunk, and decodes the chunks outside HDF5's lock."""

from __future__ import annotations

import itertools
import math
import operator
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import h5py
import numpy as np

from . import _pylinerate
from ._threads import thread_count

#: HDF5's numbers of the filters of this package: DeltaRice, DeltaRice2.
OURS = frozenset({32025, 325})
#: HDF5's numbers of all filters that this module undoes: those of this package, shuffle (2) and
#: fletcher32 (3).
SUPPORTED = OURS | {2, 3}
#: Stored bytes that complete a batch of chunks, which is then decoded, if it also has at least one
#: chunk for each thread.
BATCH_BYTES = 1 << 20
#: Number of chunks that complete a batch whatever its size.
BATCH_CHUNKS = 1 << 12


def read(dataset: h5py.Dataset, selection: Any = ..., threads: int | None = None) -> Any:
    """Returns ``dataset[selection]``, but decodes chunks in parallel and outside HDF5's global
    lock.

    HDF5 decodes one chunk at a time, under a lock that blocks other threads. This function only
    reads the stored bytes of a chunk under that lock.

    Parameters
    ----------
    dataset : h5py.Dataset
        A dataset of any shape. Chunks of integers or floats with DeltaRice or DeltaRice2, also
        together with shuffle or fletcher32, are decoded here. h5py reads other filters, layouts and
        types.
    selection : integers, slices with positive steps, ``...``, or a tuple of these
        As in ``dataset[selection]``. Default: everything. If only a part of a chunk is selected,
        its segments are decoded from the first selected element to the last. h5py reads other kinds
        of selections.
    threads : int, optional
        Maximum number of decoding threads. Default: the environment variable ``LINERATE_THREADS``
        if it is set, else one for each CPU that this process may use, at most 256.

    Returns
    -------
    array or scalar
        The same as ``dataset[selection]``. Chunks that were never written have the fill value.

    Raises
    ------
    OSError
        If a chunk is damaged, as with ``dataset[selection]``.
    TypeError
        If ``dataset`` is no dataset, but for example ``dataset.astype("f4")``.
    """
    check_dataset(dataset)
    threads = _threads(threads)
    plan = _Plan.of(dataset, selection)
    try:
        return dataset[selection] if plan is None else plan.read(threads)
    except _UseH5py:
        return dataset[selection]
    except _pylinerate.Error as error:
        raise OSError(f"{dataset.name}, chunk at {getattr(error, 'chunk', None)}: {error}") from error


def check_dataset(dataset: Any) -> None:
    """Raises ``TypeError`` unless ``dataset`` is an h5py dataset."""
    if not isinstance(dataset, h5py.Dataset):
        raise TypeError(
            f"read takes a dataset of h5py, not {type(dataset).__name__}: read the dataset itself, then convert or select "
            'from the result, as in read(dataset).astype("f4")'
        )


class _UseH5py(Exception):
    """Raised while a dataset is read, if a chunk turns out to be one that only h5py can decode."""


def _threads(threads: int | None) -> int:
    if threads is None and not os.environ.get("LINERATE_THREADS"):
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return thread_count(threads)


class _Plan:
    """A selection of a dataset that this module can read, with the dataset's filters."""

    def __init__(self, dataset: h5py.Dataset, filters: list[tuple[int, list[int]]], axes: list[_Axis]):
        self.dataset = dataset
        self.filters = filters
        self.axes = axes
        self.any_stored = False
        self.chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize

    @classmethod
    def of(cls, dataset: h5py.Dataset, selection: Any) -> _Plan | None:
        """The plan, or ``None`` if h5py must read the selection."""
        filters = _filters(dataset)
        axes = _axes(selection, dataset.shape) if filters is not None else None
        return None if filters is None or axes is None else cls(dataset, filters, axes)

    def read(self, threads: int) -> Any:
        out = np.empty([axis.count for axis in self.axes], self.dataset.dtype)
        if out.size:
            self.fill(out, threads)
        out = out.reshape([axis.count for axis in self.axes if not axis.single])
        return out if out.ndim else out[()]

    def fill(self, out: np.ndarray, threads: int) -> None:
        """Reads and decodes the chunks of the selection into ``out``. While one batch is decoded,
        the next one is read."""
        data = out.reshape(-1).view(np.uint8)
        chunks = self.dataset.chunks
        axes = [(chunk, axis.start, axis.step, axis.count) for chunk, axis in zip(chunks, self.axes)]

        def decode(batch: list[tuple[tuple[int, ...], int, bytes]]) -> None:
            _pylinerate.hdf5_decode(self.filters, out.itemsize, axes, batch, data, threads)

        batches = self.batches(out, threads)
        first = next(batches, [])
        second = next(batches, None)
        if second is None:
            decode(first)
            return
        with ThreadPoolExecutor(1, "linerate-decode") as worker:
            running: Future[None] = worker.submit(decode, first)
            for batch in itertools.chain([second], batches):
                running.result()
                running = worker.submit(decode, batch)
            running.result()

    def batches(self, out: np.ndarray, threads: int) -> Iterator[list[tuple[tuple[int, ...], int, bytes]]]:
        """Yields batches of stored chunks: the offset, mask and bytes of each. For chunks that were
        never written, puts the fill value into ``out``. Raises ``_UseH5py`` for a chunk that only
        h5py can decode."""
        batch, size = [], 0
        for offset in self.offsets():
            stored = self.stored(offset)
            if stored is None:
                out[self.inside(offset)] = self.dataset.fillvalue
                continue
            if len(stored[1]) == self.chunk_bytes and self.is_partial(offset):
                raise _UseH5py  # HDF5 may store chunks at the edge unfiltered without a mask
            batch.append((offset, *stored))
            size += len(stored[1])
            if len(batch) >= BATCH_CHUNKS or (size >= BATCH_BYTES and len(batch) >= threads):
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def stored(self, offset: tuple[int, ...]) -> tuple[int, bytes] | None:
        """The mask of skipped filters and the stored bytes of the chunk at ``offset``, or ``None``
        if it was never written."""
        chunks = self.dataset.id
        # If a dataset has no stored chunks at all, HDF5 returns a meaningless size for a chunk. So
        # until one chunk was found, HDF5 is asked first whether the chunk is in the file.
        if not self.any_stored and chunks.get_chunk_info_by_coord(offset).byte_offset is None:
            return None
        self.any_stored = True
        try:
            mask, stored = chunks.read_direct_chunk(offset)
        except (RuntimeError, OSError):
            if chunks.get_chunk_info_by_coord(offset).byte_offset is None:
                return None
            raise
        return mask, stored

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """Offsets of the chunks that have selected elements: the index of the first element of each
        along every axis of the dataset."""
        along = [axis.offsets(chunk) for axis, chunk in zip(self.axes, self.dataset.chunks)]
        return itertools.product(*along)

    def is_partial(self, offset: tuple[int, ...]) -> bool:
        """Whether the chunk at ``offset`` is only partly within the dataset."""
        ends = (at + chunk for at, chunk in zip(offset, self.dataset.chunks))
        return any(end > size for end, size in zip(ends, self.dataset.shape))

    def inside(self, offset: tuple[int, ...]) -> tuple[slice, ...]:
        """The part of the output that the chunk at ``offset`` fills."""
        return tuple(
            slice(axis.before(at), axis.before(at + chunk))
            for axis, at, chunk in zip(self.axes, offset, self.dataset.chunks)
        )


class _Axis:
    """A selection along one axis: the ``count`` indices start, start + step, and so on. ``single``
    tells that an integer selected the only index, so that the result does not have this axis."""

    def __init__(self, start: int, step: int, count: int, single: bool = False):
        self.start, self.step, self.count, self.single = start, step, count, single

    def before(self, index: int) -> int:
        """Number of selected indices below ``index``."""
        return min(max(0, -((self.start - index) // self.step)), self.count)

    def offsets(self, chunk: int) -> list[int]:
        if self.step <= chunk:
            last = self.start + (self.count - 1) * self.step
            return list(range(self.start // chunk * chunk, last + 1, chunk)) if self.count else []
        return [(self.start + i * self.step) // chunk * chunk for i in range(self.count)]


def _axes(selection: Any, shape: tuple[int, ...]) -> list[_Axis] | None:
    """The selection along each axis of a dataset of this shape. ``None`` if it is of another kind
    than integers, slices with positive steps and ``...``, or not within the shape."""
    items = list(selection) if isinstance(selection, tuple) else [selection]
    if sum(item is ... for item in items) == 0:
        items.append(...)
    missing = len(shape) - (len(items) - 1)
    if sum(item is ... for item in items) != 1 or missing < 0:
        return None
    at = next(i for i, item in enumerate(items) if item is ...)
    items[at : at + 1] = [slice(None)] * missing
    axes = [axis for item, size in zip(items, shape) if (axis := _axis(item, size)) is not None]
    return axes if len(axes) == len(shape) else None


def _axis(item: Any, size: int) -> _Axis | None:
    if isinstance(item, slice):
        try:
            start, stop, step = item.indices(size)
        except (TypeError, ValueError):
            return None
        return _Axis(start, step, len(range(start, stop, step))) if step > 0 else None
    if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__") or np.ndim(item):
        return None
    index = operator.index(item)
    index += size if index < 0 else 0
    return _Axis(index, 1, 1, single=True) if 0 <= index < size else None


def _filters(dataset: h5py.Dataset) -> list[tuple[int, list[int]]] | None:
    """The numbers and values of the dataset's filters. ``None`` if h5py must read the dataset,
    because it has another filter than :data:`SUPPORTED` or none of this package, is not chunked, or
    its type is not of integers or floats in the machine's byte order."""
    if dataset.chunks is None or not dataset.shape or dataset.dtype.kind not in "iuf":
        return None
    if not h5py.h5t.py_create(dataset.dtype).equal(dataset.id.get_type()):
        return None
    plist = dataset.id.get_create_plist()
    found = [plist.get_filter(i) for i in range(plist.get_nfilters())]
    ids = {number for number, _, _, _ in found}
    if not (ids <= SUPPORTED and ids & OURS):
        return None
    return [(number, [int(v) % 2**32 for v in values]) for number, _, values, _ in found]
