"""Reads HDF5 datasets into device memory: copies compressed chunks there and decodes them."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Iterator
from typing import Any

from ._optional import require

require("h5py", extra="hdf5")

import numpy as np

from . import _pylinerate
from ._read import SUPPORTED, _axes, _filters, _Plan, check_dataset
from .gpu import DeviceArray, _device

#: Maximum size of a batch in decoded bytes, unless a single chunk is larger.
BATCH_BYTES = 64 << 20
#: Maximum number of chunks in a batch.
BATCH_CHUNKS = 1 << 14
#: Maximum number of queued batches: one is decoded and one is copied while the next is read.
BATCHES_AHEAD = 3


def read_dataset(dataset: Any, selection: Any, stream: int, device: int) -> DeviceArray:
    """Implements :func:`pylinerate.gpu.read`."""
    check_dataset(dataset)
    filters = _filters(dataset)
    if filters is None:
        raise TypeError(
            f"{dataset.name}: {_why_not(dataset)}; read it by h5py and copy the array to the device"
        )
    axes = _axes(selection, dataset.shape)
    if axes is None or any(axis.step != 1 and axis.count > 1 for axis in axes):
        raise TypeError(
            f"{dataset.name}: the selection {selection!r} is not of integers, slices of step 1 and ..."
        )
    reader = _Reader(_Plan(dataset, filters, axes), stream, device)
    out = DeviceArray([axis.count for axis in axes], dataset.dtype, device)
    if out.size:
        reader.read(out)
    out.shape = tuple(axis.count for axis in axes if not axis.single)
    return out


def _why_not(dataset: Any) -> str:
    if dataset.chunks is None or not dataset.shape:
        return "the dataset is not chunked"
    plist = dataset.id.get_create_plist()
    found = {plist.get_filter(i)[0] for i in range(plist.get_nfilters())}
    if other := found - SUPPORTED:
        numbers = ", ".join(map(str, sorted(other)))
        return f"its filters include number {numbers}, which is not decoded here"
    if not found - {2, 3}:
        return "it has no Delta-Rice filter"
    return f"its type {dataset.dtype} is not of integers or floats in the machine's byte order"


class _Reader:
    """Reads the chunks of a plan, and queues their decoding on a stream."""

    def __init__(self, plan: _Plan, stream: int, device: int) -> None:
        self.plan = plan
        self.stream = stream
        self.device = _device(device)
        self.dataset = plan.dataset
        self.chunk_bytes = plan.chunk_bytes
        #: Device memory for decoded chunks that do not fill a contiguous part of the output. All
        #: batches reuse it, since the stream does their work in order.
        self.scratch: Any = None
        #: A chunk of the fill value in device memory.
        self.fill_chunk: Any = None
        #: Batches in progress, with the offsets of their chunks.
        self.queued: collections.deque[tuple[Any, list[tuple[int, ...]]]] = collections.deque()

    def read(self, out: DeviceArray) -> None:
        shape = tuple(axis.count for axis in self.plan.axes)
        try:
            for batch in self.batches():
                if len(self.queued) == BATCHES_AHEAD:
                    self.finish()
                self.queue(batch, out, shape)
            while self.queued:
                self.finish()
        finally:
            # After an error too: memory that the stream still uses must not be freed.
            self.device.synchronize(self.stream)

    def batches(self) -> Iterator[list[tuple[tuple[int, ...], tuple[int, bytes] | None]]]:
        """Yields batches of chunks with their offsets; ``None`` for a chunk that was never
        written."""
        most = max(1, min(BATCH_CHUNKS, BATCH_BYTES // max(1, self.chunk_bytes)))
        chunks = ((offset, self.plan.stored(offset)) for offset in self.plan.offsets())
        while batch := list(itertools.islice(chunks, most)):
            yield batch

    def queue(
        self, batch: list[tuple[tuple[int, ...], Any]], out: DeviceArray, shape: tuple[int, ...]
    ) -> None:
        stored: list[tuple[int, bytes, int]] = []
        offsets, crops = [], []
        for offset, chunk in batch:
            if chunk is None:
                crops.append((offset, self.fill_address()))
                continue
            mask, data = chunk
            if len(data) == self.chunk_bytes and self.plan.is_partial(offset):
                # HDF5 may store chunks at the edge unfiltered, and does not say so.
                self.from_h5py(offset, out, shape)
                continue
            address = self.direct(offset, out, shape)
            if address is None:
                address = self.scratch_address(len(stored), len(batch))
                crops.append((offset, address))
            stored.append((mask, data, address))
            offsets.append(offset)
        try:
            decoding = _pylinerate.gpu_decode_stored(
                self.device, self.plan.filters, self.chunk_bytes, stored, self.stream
            )
        except _pylinerate.Error as error:
            raise self.named(error, offsets) from error
        for offset, address in crops:
            self.crop(offset, address, self.dataset.chunks, out, shape)
        self.queued.append((decoding, offsets))

    def finish(self) -> None:
        """Waits for the oldest batch."""
        decoding, offsets = self.queued.popleft()
        try:
            decoding.wait()
        except _pylinerate.Error as error:
            raise self.named(error, offsets) from error

    def named(self, error: Any, offsets: list[tuple[int, ...]]) -> OSError:
        index = getattr(error, "index", None)
        chunk = offsets[index] if index is not None else None
        return OSError(f"{self.dataset.name}, chunk at {chunk}: {error}")

    def box(self, offset: tuple[int, ...]) -> tuple[list[int], list[int], list[int]]:
        """The chunk's selected part: its position in the output, its position in the chunk, its
        shape."""
        position, skip, shape = [], [], []
        for axis, at, chunk in zip(self.plan.axes, offset, self.dataset.chunks):
            start, stop = max(at, axis.start), min(at + chunk, axis.start + axis.count)
            position.append(start - axis.start)
            skip.append(start - at)
            shape.append(stop - start)
        return position, skip, shape

    def direct(self, offset: tuple[int, ...], out: DeviceArray, shape: tuple[int, ...]) -> int | None:
        """The address in the output if the whole chunk fills a contiguous part of it, else
        ``None``."""
        position, _, box = self.box(offset)
        chunks = self.dataset.chunks
        if tuple(box) != tuple(chunks):
            return None
        first = next((i for i, size in enumerate(box) if size > 1), len(box))
        if any(box[i] != shape[i] for i in range(first + 1, len(box))):
            return None
        strides = itertools.accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=1)
        elements = sum(at * stride for at, stride in zip(reversed(position), strides))
        return out.pointer + elements * out.dtype.itemsize

    def crop(
        self,
        offset: tuple[int, ...],
        address: int,
        held: tuple[int, ...],
        out: DeviceArray,
        shape: tuple[int, ...],
    ) -> None:
        position, skip, box = self.box(offset)
        size = out.dtype.itemsize
        self.device.copy_region(
            out.pointer, shape, position, address, held, skip, box, size, self.stream
        )

    def scratch_address(self, index: int, most: int) -> int:
        if self.scratch is None or self.scratch.nbytes < most * self.chunk_bytes:
            self.device.synchronize(self.stream)
            self.scratch = None
            self.scratch = self.device.allocate(most * self.chunk_bytes)
        address: int = self.scratch.pointer + index * self.chunk_bytes
        return address

    def fill_address(self) -> int:
        """The address of a chunk of the fill value."""
        if self.fill_chunk is None:
            content = np.full(math.prod(self.dataset.chunks), self.dataset.fillvalue, self.dataset.dtype)
            self.fill_chunk = self.device.allocate(content.nbytes)
            self.device.upload(self.fill_chunk.pointer, content.view(np.uint8), self.stream)
        return int(self.fill_chunk.pointer)

    def from_h5py(self, offset: tuple[int, ...], out: DeviceArray, shape: tuple[int, ...]) -> None:
        """Lets HDF5 read and decode a chunk, and copies it into the output."""
        inside = tuple(
            slice(at, min(at + chunk, size))
            for at, chunk, size in zip(offset, self.dataset.chunks, self.dataset.shape)
        )
        content = np.zeros(self.dataset.chunks, self.dataset.dtype)
        content[tuple(slice(0, s.stop - s.start) for s in inside)] = self.dataset[inside]
        memory = self.device.allocate(content.nbytes)
        self.device.upload(memory.pointer, content.reshape(-1).view(np.uint8), self.stream)
        self.crop(offset, memory.pointer, self.dataset.chunks, out, shape)
        self.device.synchronize(self.stream)  # before the memory is freed
