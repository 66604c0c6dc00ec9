from numpy import int16, uint8
from numpy.typing import NDArray

VERSION: str

_Numbers = tuple[int, int, tuple[int, ...] | list[int]]  # m, segment or -1, filter

class Error(ValueError):
    """Data or parameters that cannot be used."""

    kind: str
    offset: int

def rice_bound(params: _Numbers, samples: int) -> int: ...
def rice_len(params: _Numbers, samples: NDArray[int16], threads: int) -> int: ...
def rice_encode(params: _Numbers, samples: NDArray[int16], out: NDArray[uint8], threads: int) -> int: ...
def rice_samples(params: _Numbers, chunk: NDArray[uint8]) -> tuple[int, int]: ...
def rice_decode(params: _Numbers, chunk: NDArray[uint8], out: NDArray[int16], threads: int) -> int: ...
def rice_decode_segments(
    params: _Numbers, chunk: NDArray[uint8], start: int, stop: int, out: NDArray[int16], threads: int
) -> int: ...
def rice_best(samples: NDArray[int16], segment: int, filter: list[int] | None) -> tuple[int, list[int]]: ...
def hdf5_class(id: int) -> int: ...
def hdf5_decode(
    filters: list[tuple[int, list[int]]],
    itemsize: int,
    axes: list[tuple[int, int, int, int]],  # chunk, start, step, count
    chunks: list[tuple[tuple[int, ...], int, bytes]],  # offset, mask, stored bytes
    out: NDArray[uint8],
    threads: int,
) -> None: ...
