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

#: Maximum size of a batch of chunks in decoded bytes, unless a single chunk is larger.
BATCH_BYTES = 64 << 20
#: Maximum number of chunks in a batch.
BATCH_CHUNKS = 1 << 14
#: Maximum number of batches that are queued on the stream at the same time. While one is decoded
#: and one is copied to the device, the next is read from the file.
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
    """The reason why a dataset cannot be read into device memory, for the message of an error."""
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
    """Reads the chunks of a selection from the file, and queues their decoding on a CUDA stream."""

    def __init__(self, plan: _Plan, stream: int, device: int) -> None:
        self.plan = plan
        self.stream = stream
        self.device = _device(device)
        self.dataset = plan.dataset
        self.chunk_bytes = plan.chunk_bytes
        #: Device memory for decoded chunks that do not fill a contiguous part of the output. From
        #: here they are copied to the output. All batches reuse this memory, since the stream does
        #: their work in order.
        self.scratch: Any = None
        #: A chunk full of the dataset's fill value in device memory; ``None`` until it is needed.
        self.fill_chunk: Any = None
        #: Batches that are queued on the stream, with the offsets of their chunks.
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
            # This is done after an error too, because memory that the stream still uses must not be
            # freed.
            self.device.synchronize(self.stream)

    def batches(self) -> Iterator[list[tuple[tuple[int, ...], tuple[int, bytes] | None]]]:
        """Yields batches of chunks: the offset of each, and its mask of skipped filters and stored
        bytes, or ``None`` if it was never written."""
        most = max(1, min(BATCH_CHUNKS, BATCH_BYTES // max(1, self.chunk_bytes)))
        chunks = ((offset, self.plan.stored(offset)) for offset in self.plan.offsets())
        while batch := list(itertools.islice(chunks, most)):
            yield batch

    def queue(
        self, batch: list[tuple[tuple[int, ...], Any]], out: DeviceArray, shape: tuple[int, ...]
    ) -> None:
        """Queues the decoding of a batch of chunks, and the copies to the output of those that are
        not decoded there directly."""
        stored: list[tuple[int, bytes, int]] = []
        offsets, crops = [], []
        for offset, chunk in batch:
            if chunk is None:
                crops.append((offset, self.fill_address()))
                continue
            mask, data = chunk
            if len(data) == self.chunk_bytes and self.plan.is_partial(offset):
                # HDF5 may store chunks at the edge of the dataset unfiltered, without setting the
                # mask.
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
        """Waits until the oldest queued batch is decoded. Raises ``OSError`` if a chunk of it is
        damaged."""
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
        """The selected part of the chunk at ``offset``: the index of its first element in the
        output, the index of this element in the chunk, and the shape of the part."""
        position, skip, shape = [], [], []
        for axis, at, chunk in zip(self.plan.axes, offset, self.dataset.chunks):
            start, stop = max(at, axis.start), min(at + chunk, axis.start + axis.count)
            position.append(start - axis.start)
            skip.append(start - at)
            shape.append(stop - start)
        return position, skip, shape

    def direct(self, offset: tuple[int, ...], out: DeviceArray, shape: tuple[int, ...]) -> int | None:
        """The device address within the output to which the chunk at ``offset`` can be decoded
        directly, because the whole chunk fills a contiguous part of the output. Else ``None``."""
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
        """Queues the copy of the selected part of the decoded chunk at ``offset`` from the device
        address ``address`` to the output. ``held`` is the shape of the memory there."""
        position, skip, box = self.box(offset)
        size = out.dtype.itemsize
        self.device.copy_region(
            out.pointer, shape, position, address, held, skip, box, size, self.stream
        )

    def scratch_address(self, index: int, most: int) -> int:
        """The device address for decoded chunk number ``index`` of a batch of ``most`` chunks."""
        if self.scratch is None or self.scratch.nbytes < most * self.chunk_bytes:
            self.device.synchronize(self.stream)
            self.scratch = None
            self.scratch = self.device.allocate(most * self.chunk_bytes)
        address: int = self.scratch.pointer + index * self.chunk_bytes
        return address

    def fill_address(self) -> int:
        """The device address of a chunk full of the dataset's fill value, made on first use."""
        if self.fill_chunk is None:
            content = np.full(math.prod(self.dataset.chunks), self.dataset.fillvalue, self.dataset.dtype)
            self.fill_chunk = self.device.allocate(content.nbytes)
            self.device.upload(self.fill_chunk.pointer, content.view(np.uint8), self.stream)
        return int(self.fill_chunk.pointer)

    def from_h5py(self, offset: tuple[int, ...], out: DeviceArray, shape: tuple[int, ...]) -> None:
        """Lets HDF5 read and decode the chunk at ``offset``, and copies its selected part into the
        output."""
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
