"""A slow decoder of version 2 streams, written from docs/waveforms/rice-v2.md alone.

python3 decode.py [FILE.rice ...]: decodes each file (all files beside this one, unless told) and
compares it with its .raw. Prints the name and OK or BAD; exit status 1 if any is BAD. Checksums
are not checked.
"""

import sys
from pathlib import Path


def number(data, at, size):
    return int.from_bytes(data[at : at + size], "little")


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class Bits:
    """Bits of `data` from byte `at` on, the least significant of each byte first."""

    def __init__(self, data, at):
        self.data, self.at = data, 8 * at

    def take(self, count):
        value = 0
        for i in range(count):
            value |= (self.data[self.at >> 3] >> (self.at & 7) & 1) << i
            self.at += 1
        return value

    def unary(self):
        zeros = 0
        while not self.take(1):
            zeros += 1
            if zeros > 15:
                raise ValueError("sixteen zeros")
        return zeros


def part(data, samples, width, before, flip):
    """The samples of a part of a segment. `before` has those of the channels before it; `flip` is 2^(8 W - 1)
    if samples are unsigned, else 0."""
    bits = 8 * width
    kind, at = data[4], 5
    if kind == 4:
        return [number(data, at + width * i, width) for i in range(samples)]
    low, packed = data[5], data[6]
    mode_bits, order, at = packed & 7, packed >> 3, 7
    centre, at = number(data, at, width), at + width
    step, escapes, shift, taps = 1, 0, 0, {0: [], 1: [1], 2: [2, -1]}.get(kind & 15)
    if kind & 0x10:
        step, at = number(data, at, width), at + width
    if kind & 0x20:
        escapes, at = number(data, at, 2) + 1, at + 2
    if kind & 15 == 3:
        shift, at = data[at], at + 1
        taps = [signed(number(data, at + 2 * i, 2), 16) for i in range(order)]
        at += 2 * order
    references, reference_shift = [], 0
    if kind & 0x40:
        count, reference_shift, at = data[at] & 15, data[at] >> 4, at + 1
        for i in range(count):
            weight = signed(number(data, at + count + 2 * i, 2), 16)
            references.append((before[-data[at + i]], weight))
        at += 3 * count
    blocks = -(-samples // 32)
    modes = Bits(data, at)
    modes = [low + modes.take(mode_bits) for _ in range(blocks)]
    at += -(-blocks * mode_bits // 8)
    sizes = [min(32, samples - 32 * i) for i in range(blocks)]
    fixed = []
    for mode, size in zip(modes, sizes):
        k = max(mode - 1, 0)
        reader = Bits(data, at)
        fixed.append([reader.take(k) for _ in range(size)])
        at += -(-size * k // 8)
    escaped = [number(data, at + width * i, width) for i in range(escapes)]
    unary = Bits(data, at + width * escapes)
    out, history = [], []
    for mode, values in zip(modes, fixed):
        for z in values:
            if 0 < mode <= bits:
                q = unary.unary()
                z |= (escaped.pop(0) if q == 15 else q) << (mode - 1)
            z &= (1 << bits) - 1
            residual = z >> 1 if z & 1 == 0 else -(z + 1) // 2
            products = sum(c * h for c, h in zip(taps, reversed(history)))
            prediction = signed(products + ((1 << shift) >> 1), 2 * bits) >> shift
            history = (history + [signed(residual + prediction, bits)])[-8:]
            products = sum(w * signed(x[len(out)] ^ flip, bits) for x, w in references)
            other = signed(products + ((1 << reference_shift) >> 1), 2 * bits) >> reference_shift
            out.append(centre + step * history[-1] + other & (1 << bits) - 1)
    rest = 8 * len(data) - unary.at
    if escaped or rest >= 32 or unary.take(rest):
        raise ValueError("a segment that does not end after its last code")
    return out


def shape(data):
    """The shape that a stream keeps, or None."""
    if data[6] & 1 == 0:
        return None
    channels = number(data, 20, 4) if data[6] & 2 else 1
    segments = -(-number(data, 8, 8) // (channels * number(data, 16, 4)))
    start, length = 28 + 4 * (segments * channels + 1), 4 * number(data, 28, 4)
    return tuple(number(data, at, 8) for at in range(start + 4, start + length, 8))


def decode(data):
    """The samples of a stream as little-endian bytes."""
    features = {0: (0, 1), 1: (0, 1, 2, 3), 2: (4,)}
    if data[:5] != b"\x89LR2\x02" or data[6] not in features.get(data[7], ()):
        raise ValueError("not a version 2 stream")
    width = 2 if data[5] < 2 else 4
    flip = 1 << (8 * width - 1) if data[5] % 2 else 0
    samples, length = number(data, 8, 8), number(data, 16, 4)
    channels = number(data, 20, 4) if data[6] & 2 else 1
    segments = -(-samples // (channels * length))
    has_record = int(data[6] & 5 != 0)  # of the shape, or of a file
    entries = segments * channels + has_record
    ends = [4 * number(data, 28 + 4 * i, 4) for i in range(entries)]
    payload = data[28 + 4 * entries :]
    if len(payload) != (ends[-1] if ends else 0):
        raise ValueError("a stream of another length than it says")
    out, parts = [], []
    for i, (start, end) in enumerate(list(zip([0, *ends], ends))[has_record:]):
        frames = min(length, samples // channels - i // channels * length)
        parts.append(part(payload[start:end], frames, width, parts, flip))
        if len(parts) == channels:
            out += [x for frame in zip(*parts) for x in frame]
            parts = []
    return b"".join(value.to_bytes(width, "little") for value in out)


def main():
    beside = sorted(Path(__file__).resolve().parent.glob("*.rice"))
    paths = [Path(name) for name in sys.argv[1:]] or beside
    bad = len(paths) == 0
    for path in paths:
        same = decode(path.read_bytes()) == path.with_suffix(".raw").read_bytes()
        print(path.name, "OK" if same else "BAD")
        bad += not same
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
