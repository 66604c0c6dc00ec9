"""Reads an Nx 1.x archive, from the description of the format alone, and compares it with a folder.

pack_reader.py ARCHIVE FOLDER: prints one line and exits with 0 if every file of the archive is in the
folder with the same bytes, and every file of the folder is in the archive. The line has the number of
files and of blocks, and how many blocks are stored, zstd and LZ4. Otherwise an exception ends the
program. The program `zstd` must be installed. If the Python package xxhash is installed, the hashes
that the archive has of its files are checked too.
"""

import struct
import subprocess
import sys
from pathlib import Path

try:
    from xxhash import xxh3_64_intdigest
except ImportError:
    xxh3_64_intdigest = None


def zstd(frame):
    return subprocess.run(["zstd", "-dcq", "--memory=512MB"], input=frame, stdout=subprocess.PIPE, check=True).stdout


def lz4(block):
    """Decodes a raw LZ4 block, in which literals and matches alternate. It ends with literals."""
    out, at = bytearray(), 0

    def length(start, nibble):
        while nibble >= 15:
            more = block[start]
            nibble, start = nibble + more, start + 1
            if more != 255:
                break
        return start, nibble

    while True:
        token = block[at]
        at, literals = length(at + 1, token >> 4)
        out += block[at:at + literals]
        at += literals
        if at == len(block):
            return bytes(out)
        back = block[at] | block[at + 1] << 8
        at, match = length(at + 2, token & 15)
        assert 0 < back <= len(out)
        for _ in range(match + 4):
            out.append(out[-back])


class Archive:
    def __init__(self, data):
        self.data = data
        assert data[:4] == b"NXUS"
        word, table = struct.unpack_from("<IQ", data, 4)
        self.version, self.chunk, pages, flags = word >> 25, 512 << (word >> 20 & 31), word >> 4 & 0xFFFF, word & 15
        form, pool_size = table >> 62, table >> 38 & 0xFFFFFF
        blocks, files = table >> 20 & 0x3FFFF, table & 0xFFFFF
        assert self.version == 1 and flags == 0 and form in (0, 1)
        size, at = (20, 24)[form], 16
        self.entries = []
        for _ in range(files):
            hash_, length = struct.unpack_from("<QI" if form == 0 else "<QQ", data, at)
            (place,) = struct.unpack_from("<Q", data, at + size - 8)
            self.entries.append((hash_, length, place >> 38, place >> 18 & 0xFFFFF, place & 0x3FFFF))
            at += size
        words = struct.unpack_from(f"<{blocks}I", data, at)
        at += 4 * blocks
        names = zstd(data[at:at + pool_size])
        assert names.count(b"\0") == files and (not names or names.endswith(b"\0"))
        self.names = names.decode().split("\0")[:files]
        assert sorted(names.split(b"\0")[:files]) == names.split(b"\0")[:files], "the pool is sorted"
        assert len(set(self.names)) == files and sorted(e[3] for e in self.entries) == list(range(files))
        # Up to the first block there are zeros, or Linerate's metadata, which a reader may ignore.
        spare = data[at + pool_size:pages * 4096]
        assert not any(spare) or b"LNX-META" in spare[:16], "zeros up to the first block, or metadata"
        self.blocks, offset = [], pages * 4096
        for word in words:
            self.blocks.append((offset, word >> 3, word & 7))
            offset += (word >> 3) + -(word >> 3) % 4096
        assert offset == len(data), "the last block is padded, and nothing follows"
        self.decoded = {}

    def block(self, number):
        if number not in self.decoded:
            offset, size, codec = self.blocks[number]
            raw = self.data[offset:offset + size]
            self.decoded[number] = (bytes, zstd, lz4)[codec](raw)
            if codec != 0:
                assert len(raw) < len(self.decoded[number]), "blocks that do not shrink are stored"
        return self.decoded[number]

    def read(self, entry):
        _, size, offset, _, first = entry
        if size == 0:
            return b""
        if size <= self.chunk:
            content = self.block(first)[offset:offset + size]
        else:
            assert offset == 0
            count = -(-size // self.chunk)
            pieces = [self.block(first + i)[:self.chunk] for i in range(count)]
            content = b"".join(pieces)[:size]
        assert len(content) == size
        return content


def main(kind=Archive):
    archive, folder = kind(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2])
    for entry in archive.entries:
        name, content = archive.names[entry[3]], archive.read(entry)
        assert (folder / name).read_bytes() == content, f"{name} differs"
        if xxh3_64_intdigest:
            assert xxh3_64_intdigest(content) == entry[0], f"the hash of {name}"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == set(archive.names), there ^ set(archive.names)
    codecs = [sum(codec == n for _, _, codec in archive.blocks) for n in range(3)]
    print(len(archive.entries), "files", len(archive.blocks), "blocks", *codecs)


if __name__ == "__main__":
    main()
