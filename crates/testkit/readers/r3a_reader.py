"""Reads an R3A archive of the profile r3a-2.0-doc, from the description of the format alone, and compares
it with a folder, as pack_reader.py does for Nx.

r3a_reader.py ARCHIVE FOLDER: prints the same line of counts, and has the same requirements and exit
statuses. Dictionaries and user data are read, but not printed.
"""

import struct
import subprocess
import tempfile

import pack_reader
from pack_reader import lz4

MAGIC = bytes.fromhex("28B52FFD")


def zstd(frame, dictionary=None):
    """Decodes a zstd frame that is given without its magic number."""
    command = ["zstd", "-dcq", "--memory=512MB"]
    with tempfile.NamedTemporaryFile() as file:
        if dictionary is not None:
            file.write(dictionary)
            file.flush()
            command += ["-D", file.name]
        return subprocess.run(command, input=MAGIC + frame, stdout=subprocess.PIPE, check=True).stdout


def bits(word, low, count):
    return word >> low & (1 << count) - 1


def aligned(at, to):
    return at + -at % to


class Archive(pack_reader.Archive):
    def __init__(self, data):
        self.data, self.decoded = data, {}
        assert data[:4] == b"R3A\0"
        word, table = struct.unpack_from("<IQ", data, 4)
        self.chunk, pages, flags = 512 << bits(word, 20, 5), bits(word, 4, 16), bits(word, 0, 4)
        assert bits(word, 25, 7) == 1 and flags & 3 == 0 and bits(table, 63, 1) == 0
        preset = bits(table, 61, 2)
        assert preset in (0, 2, 3)
        if preset == 3:
            assert bits(table, 60, 1) == 1, "there are hashes"
            files, blocks, pool_size = bits(table, 8, 16), bits(table, 24, 16), bits(table, 40, 20)
        else:
            files, blocks, pool_size = bits(table, 0, 18), bits(table, 18, 22), bits(table, 40, 21)
        at, self.entries = 16, []
        form = struct.Struct({0: "<QIQ", 2: "<QQQ", 3: "<QII"}[preset])
        for _ in range(files):
            hash_, size, place = form.unpack_from(data, at)
            if preset == 3:
                self.entries.append((hash_, size, 0, bits(place, 16, 16), bits(place, 0, 16)))
            else:
                self.entries.append((hash_, size, bits(place, 40, 24), bits(place, 22, 18), bits(place, 0, 22)))
            at += form.size
        words = struct.unpack_from(f"<{blocks}I", data, at)
        at += 4 * blocks
        (length,) = struct.unpack_from("<I", data, at)
        names = zstd(data[at + 4:at + pool_size])
        assert len(names) == length and names.count(b"\0") == files
        self.names = names.decode().split("\0")[:files]
        assert len(set(self.names)) == files and sorted(e[3] for e in self.entries) == list(range(files))
        at += pool_size
        self.dictionaries, self.of_block, self.extensions = [], {}, {}
        if flags & 4:
            at = self.read_dictionaries(aligned(at, 8))
        if flags & 8:
            at = self.read_user_data(aligned(at, 8))
        assert not any(data[at:pages * 4096]), "zeros up to the first block"
        self.blocks, offset = [], pages * 4096
        for word in words:
            self.blocks.append((offset, word >> 3, word & 7))
            offset += aligned(word >> 3, 4096)
        assert offset == len(data), "the last block is padded, and nothing follows"

    def read_dictionaries(self, at):
        (word,) = struct.unpack_from("<Q", self.data, at)
        packed, length = bits(word, 28, 27), bits(word, 0, 28)
        assert bits(word, 55, 4) == 0, "the version"
        end = at + 8 + (packed or length)
        payload = zstd(self.data[at + 8:end]) if packed else self.data[at + 8:end]
        assert len(payload) == length
        (word,) = struct.unpack_from("<Q", payload)
        hashed, count, mappings = bits(word, 52, 1), bits(word, 44, 8), bits(word, 22, 22)
        numbers, runs = payload[8:8 + mappings], payload[8 + mappings:8 + 2 * mappings]
        place = aligned(8 + 2 * mappings, 4)
        sizes = struct.unpack_from(f"<{count}I", payload, place)
        place = aligned(place + 4 * count, 8)
        assert hashed == 1
        hashes = struct.unpack_from(f"<{count}Q", payload, place)
        place += 8 * count
        for size, hash_ in zip(sizes, hashes):
            self.dictionaries.append(payload[place:place + size])
            if pack_reader.xxh3_64_intdigest:
                assert pack_reader.xxh3_64_intdigest(self.dictionaries[-1]) == hash_
            place += size
        block = 0
        for number, run in zip(numbers, runs):
            assert run > 0
            if number != 255:
                self.of_block.update(dict.fromkeys(range(block, block + run), self.dictionaries[number]))
            block += run
        return end

    def read_user_data(self, at):
        (word,) = struct.unpack_from("<Q", self.data, at)
        packed, length = bits(word, 30, 28), bits(word, 0, 30)
        payload = zstd(self.data[at + 8:at + 8 + packed])
        assert len(payload) == length and bits(word, 62, 2) == 0
        place = 0
        for _ in range(bits(word, 58, 4) + 1):
            number, size = struct.unpack_from("<II", payload, place)
            self.extensions[number] = payload[place + 8:place + 8 + size]
            place = aligned(place + 8 + size, 8)
        assert place == len(payload)
        return at + 8 + packed

    def block(self, number):
        if number not in self.decoded:
            offset, size, codec = self.blocks[number]
            raw = self.data[offset:offset + size]
            dictionary = self.of_block.get(number)
            self.decoded[number] = (bytes, lambda raw: zstd(raw, dictionary), lz4)[codec](raw)
        return self.decoded[number]


if __name__ == "__main__":
    pack_reader.main(Archive)
