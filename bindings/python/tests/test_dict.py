"""Blocks with many dictionaries: round trips, batches, errors, and libzstd as the reference."""

import copy
import doctest
import mmap
import pickle
import random

import numpy as np
import pytest
import zstandard
from support import log_rows

import pylinerate.dict
from pylinerate import _pylinerate
from pylinerate.dict import (
    NONE,
    Decoder,
    Encoder,
    Slices,
    Store,
    UnknownId,
    content_hash,
    shrink_tables,
    train,
)


@pytest.fixture(scope="module")
def dictionaries():
    """Two trained dictionaries, one with small tables, long and short raw content, and no
    dictionary."""
    samples = [log_rows(i, 1000) for i in range(300)]
    trained = [train(samples, 2 << 10), train(samples, 16 << 10)]
    return [*trained, shrink_tables(trained[0]), log_rows(77, 5000), b"a level: info, a user", b""]


@pytest.fixture
def store(dictionaries):
    return Store()


@pytest.fixture
def ids(store, dictionaries):
    return [store.insert(d) if d else NONE for d in dictionaries]


@pytest.fixture
def rows():
    sizes = [0, 1, 100, 4096, 1000, 4096, 30_000, 200_000]
    return [log_rows(1000 + i, size) for i, size in enumerate(sizes)]


@pytest.fixture
def jobs(store, ids, rows):
    """The ID, block and content of each job, in random order."""
    encoder = Encoder(store)
    jobs = [(id, encoder.encode(id, row), row) for id in ids for row in rows]
    random.Random(1).shuffle(jobs)
    return list(zip(*jobs))


@pytest.mark.parametrize(
    "options", [{}, {"huge_pages": False}, {"table_budget": 0}, {"table_budget": 20_000}]
)
def test_blocks_round_trip_with_any_store_options(dictionaries, rows, options):
    store = Store(**options)
    ids = [store.insert(d) if d else NONE for d in dictionaries]
    decoder = Decoder(store)
    blocks = 0
    for level in (-5, 1, 3, 9, 19):
        encoder = Encoder(store, level, checksum=level == 3)
        for id in ids:
            for row in rows:
                block = encoder.encode(id, row)
                assert decoder.decode(id, block) == row
                out = bytearray(len(row) + 3)
                assert decoder.decode_into(id, block, out) == len(row)
                assert out[: len(row)] == row
                blocks += 2
    counters = decoder.counters()
    assert (counters.blocks, counters.errors) == (blocks, 0)
    assert store.stats().table_bytes <= options.get("table_budget", 1 << 20)
    assert (counters.without_tables > 0) or options.get("table_budget") != 0
    assert (counters.without_tables == 0) or "table_budget" in options


def as_zstandard(dictionary):
    """Converts the bytes of a dictionary to the object that the package zstandard takes."""
    trained = dictionary.startswith(bytes.fromhex("37a430ec"))
    mode = zstandard.DICT_TYPE_FULLDICT if trained else zstandard.DICT_TYPE_RAWCONTENT
    return zstandard.ZstdCompressionDict(dictionary, mode) if dictionary else None


def test_libzstd_decodes_our_blocks(store, dictionaries, ids, rows):
    for checksum in (False, True):
        encoder = Encoder(store, checksum=checksum)
        for id, dictionary in zip(ids, dictionaries):
            decoder = zstandard.ZstdDecompressor(dict_data=as_zstandard(dictionary))
            for row in rows:
                assert decoder.decompress(encoder.encode(id, row)) == row


def test_blocks_of_libzstd_are_decoded(store, dictionaries, ids, rows):
    decoder = Decoder(store)
    for id, dictionary in zip(ids, dictionaries):
        for options in (
            {"write_checksum": True},
            {"write_content_size": False},
            {"write_dict_id": False, "level": 12},
        ):
            encoder = zstandard.ZstdCompressor(dict_data=as_zstandard(dictionary), **options)
            for row in rows:
                block = encoder.compress(row)
                assert decoder.decode(id, block) == row
                assert bytes(decoder.decode_batch(id, [block])[0]) == row


def buffers_of(block, tmp_path):
    """Yields the same bytes in several types of buffers."""
    path = tmp_path / "blocks"
    path.write_bytes(b"123" + block + b"4")
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    yield block
    yield bytearray(block)
    yield memoryview(b"??" + block)[2:]
    yield memoryview(mapped)[3:-1]
    yield np.frombuffer(block, np.uint8)
    yield np.frombuffer(b"?" + block, np.int8)[1:]


def test_any_contiguous_buffer_is_accepted(store, ids, dictionaries, tmp_path):
    row = log_rows(3, 4096)
    block = Encoder(store).encode(ids[0], row)
    decoder = Decoder(store)
    for buffer in buffers_of(block, tmp_path):
        assert decoder.decode(ids[0], buffer) == row
        assert decoder.decode_batch(ids[0], [buffer, block, buffer])[2] == row
    for buffer in buffers_of(dictionaries[0], tmp_path):
        assert store[store.insert(buffer)] == dictionaries[0]
    for buffer in buffers_of(row, tmp_path):
        assert Encoder(store).encode(ids[0], buffer) == block
    # An array of two axes whose items have two bytes.
    shorts = np.frombuffer(row, np.int16).reshape(2, -1)
    assert Encoder(store).encode(ids[0], shorts) == block


@pytest.mark.parametrize("order", ["as_given", "by_dictionary", "any"])
def test_batches_are_returned_in_the_given_order(store, jobs, order):
    ids, blocks, rows = jobs
    decoder = Decoder(store)
    for count in (0, 1, 2, 3, len(blocks)):
        batch = decoder.decode_batch(ids[:count], blocks[:count], order=order)
        assert [bytes(content) for content in batch] == list(rows[:count])
        assert batch.errors == {} and batch.ok.all() and len(batch) == count
        assert batch.lengths.tolist() == [len(row) for row in rows[:count]]
        assert batch.data.size == batch.lengths.sum()
    assert bytes(batch[-1]) == rows[-1]
    assert [bytes(content) for content in batch[1:9:3]] == list(rows[1:9:3])
    with pytest.raises(IndexError):
        batch[len(batch)]


def test_ids_may_be_any_sequence_of_integers_or_one_integer(store, ids):
    encoder, decoder = Encoder(store), Decoder(store)
    blocks = [encoder.encode(id, b"some content") for id in ids]
    for numbers in (ids, tuple(ids), iter(ids), np.array(ids, np.uint64), np.array(ids, np.int64)):
        assert decoder.decode_batch(numbers, iter(blocks)).ok.all()
    for number in (ids[0], np.uint64(ids[0])):
        assert decoder.decode_batch(number, [blocks[0]] * 3).ok.all()
    for number in (-1, np.int64(-1), [-1], np.array([-1]), np.array([-1], np.int8)):
        with pytest.raises(ValueError, match="ids are -1 to -1, but must be 0 to"):
            decoder.decode_batch(number, [blocks[0]])
    for number in (2**70, [2**70], np.array([2**70])):
        with pytest.raises(ValueError, match=f"ids are {2**70} to {2**70}, but must be 0 to"):
            decoder.decode_batch(number, [blocks[0]])
    # NumPy makes floats of these.
    assert list(decoder.decode_batch([ids[0], 2**63], [blocks[0]] * 2).errors) == [1]
    with pytest.raises(ValueError, match="ids are -1 to 9223372036854775808, but must be 0 to"):
        decoder.decode_batch([-1, 2**63], [blocks[0]] * 2)
    with pytest.raises(TypeError, match="ids are bool, but must be integers"):
        decoder.decode_batch([True], [blocks[0]])
    with pytest.raises(ValueError, match="sizes are 9223372036854775808 to"):
        decoder.decode_batch(ids[0], [blocks[0]], np.array([2**63], np.uint64))


def test_batches_decode_between_slices_without_copies(store, jobs):
    ids, blocks, rows = jobs
    stored = np.frombuffer(b"".join(blocks), np.uint8)
    lengths = np.array([len(block) for block in blocks])
    given = Slices(stored, np.cumsum(lengths) - lengths, lengths)
    assert [bytes(block) for block in given] == list(blocks)
    assert np.shares_memory(given.data, stored) and given.data.base is not None
    # Output slices from the end to the start, with gaps of three bytes.
    sizes = np.array([len(row) for row in rows])
    ends = np.cumsum((sizes + 3)[::-1])[::-1]
    out = np.full(ends[0], 255, np.uint8)
    batch = Decoder(store).decode_batch(ids, given, out=Slices(out, ends - 3 - sizes, sizes))
    assert np.shares_memory(batch.data, out) and np.array_equal(batch.starts, ends - 3 - sizes)
    assert all(content == row for content, row in zip(batch, rows))
    gaps = (ends[:, None] - [3, 2, 1]).reshape(-1)
    assert (out[gaps] == 255).all()
    # Consecutive outputs in a larger bytearray.
    out = bytearray(int(sizes.sum()) + 5)
    batch = Decoder(store).decode_batch(ids, given, sizes, out=out)
    assert out[:-5] == b"".join(rows) and not any(out[-5:])
    assert batch[3] == rows[3]
    out[batch.starts[3]] ^= 1
    assert rows[3] == b"" or batch[3] != rows[3]


def test_buffers_in_use_cannot_be_resized(store, jobs):
    ids, blocks, rows = jobs
    block, out = bytearray(blocks[0]), bytearray(len(rows[0]))
    held = _pylinerate.DictBlocks([block])
    with pytest.raises(BufferError):
        block.append(0)
    del held
    block.append(0)
    batch = Decoder(store).decode_batch(ids[:1], blocks[:1], out=out)
    with pytest.raises(BufferError):
        out.append(0)
    del batch
    out.append(0)


def test_bad_blocks_do_not_affect_others_in_a_batch(store, dictionaries, ids):
    row = log_rows(5, 3000)
    good = Encoder(store, checksum=True).encode(ids[0], row)
    other = store.insert(train([log_rows(i, 500) for i in range(500, 800)], 2048))
    damaged = bytearray(good)
    damaged[100] ^= 4
    bad = {
        1: (ids[0], damaged, "corrupt"),
        3: (ids[0], good[:-5], "truncated"),
        4: (999, good, "bad argument"),
        6: (other, good, "bad argument"),
        7: (NONE, good, "bad argument"),
        8: (ids[0], b"no frame at all", "corrupt"),
        9: (ids[0], b"", "truncated"),
        11: (ids[0], good + b"\0", "corrupt"),
    }
    numbers = [bad.get(i, (ids[0],))[0] for i in range(14)]
    blocks = [bad.get(i, (0, good))[1] for i in range(14)]
    decoder = Decoder(store)
    for order in ("as_given", "by_dictionary", "any"):
        for sizes in (None, [3000] * 14):
            batch = decoder.decode_batch(numbers, blocks, sizes, order=order)
            assert batch.errors.keys() == bad.keys()
            assert (~batch.ok).nonzero()[0].tolist() == sorted(bad)
            for i in range(14):
                if i in bad:
                    assert batch.lengths[i] == 0
                    with pytest.raises(pylinerate.Error) as e:
                        batch[i]
                    assert (e.value.kind, e.value.index) == (bad[i][2], i)
                    assert isinstance(e.value, UnknownId) == (i == 4)
                    with pytest.raises(pylinerate.Error):
                        decoder.decode(numbers[i], blocks[i])
                else:
                    assert batch[i] == row
    with pytest.raises(pylinerate.Error) as e:
        decoder.decode_batch(numbers, blocks, errors="raise")
    assert e.value.index == 1
    part = batch[3:5]
    assert part.errors.keys() == {0, 1} and type(part[:0]) is type(batch)


def test_flipped_bits_and_truncations_decode_or_are_errors(store, ids):
    row = log_rows(8, 1500)
    for checksum in (False, True):
        block = Encoder(store, checksum=checksum).encode(ids[1], row)
        flipped = []
        for bit in range(8 * len(block)):
            flipped.append(bytearray(block))
            flipped[-1][bit // 8] ^= 1 << bit % 8
        batch = Decoder(store).decode_batch(ids[1], flipped)
        assert len(batch.errors) > len(block)
        if checksum:
            # One bit of the frame header descriptor is unused (RFC 8878, 3.1.1.1.1).
            assert all(batch[i] == row for i in np.flatnonzero(batch.ok)) and batch.ok.sum() < 3
        cut = Decoder(store).decode_batch(ids[1], [block[:n] for n in range(len(block))])
        assert not cut.ok.any()


def test_huge_declared_sizes_are_errors_without_allocation(store):
    """Frames of a few bytes whose headers declare a huge content size."""
    single = bytes.fromhex("28b52ffde0") + (1 << 50).to_bytes(8, "little")
    endless = single + b"\3\0\0x"
    decoder = Decoder(store)
    for block in (single, endless):
        for max_size in (100, 1 << 20, 1 << 62):
            with pytest.raises(pylinerate.Error):
                decoder.decode(NONE, block, max_size)
            batch = decoder.decode_batch(NONE, [block] * 5, max_size=max_size)
            assert len(batch.errors) == 5 and batch.data.size <= 5 * (5 << 17)
    million = zstandard.compress(bytes(1 << 20))
    assert decoder.decode(NONE, million) == bytes(1 << 20)
    with pytest.raises(pylinerate.Error) as e:
        decoder.decode(NONE, million, (1 << 20) - 1)
    assert e.value.kind == "output too small"
    batch = decoder.decode_batch(NONE, [million, zstandard.compress(b"little")], max_size=1000)
    assert list(batch.errors) == [0] and batch[1] == b"little" and batch.data.size == 6
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))
    with pytest.raises(pylinerate.Error):
        decoder.decode(NONE, unsized, 1000)


def test_unsuitable_outputs_are_rejected(store, ids):
    row = bytes(range(256)) * 4
    block = Encoder(store).encode(ids[0], row)
    decoder = Decoder(store)
    shared = bytearray(block + bytes(3000))
    for out in (
        bytes(2000),
        memoryview(bytearray(2000)).toreadonly(),
        np.zeros(4000, np.uint8)[::2],
        shared,
        memoryview(shared)[10:2000],
        memoryview(shared)[len(block) - 1 :],
    ):
        with pytest.raises(ValueError):
            decoder.decode_into(ids[0], memoryview(shared)[: len(block)], out)
    after = memoryview(shared)[len(block) :]
    assert decoder.decode_into(ids[0], memoryview(shared)[: len(block)], after) == 1024
    for out in (np.full(2000, None), np.zeros(2000, np.float64), "text", None):
        with pytest.raises(TypeError):
            decoder.decode_into(ids[0], block, out)
    with pytest.raises(pylinerate.Error) as e:
        decoder.decode_into(ids[0], block, bytearray(1023))
    assert e.value.kind == "output too small"
    for out in (bytearray(0), bytearray(2047)):
        with pytest.raises(ValueError):
            decoder.decode_batch(ids[0], [block, block], out=out)
    with pytest.raises(ValueError):
        decoder.decode_batch(ids[0], [memoryview(shared)[: len(block)]], out=shared)


def test_inconsistent_batches_are_rejected(store, ids):
    block = Encoder(store).encode(ids[0], b"some content")
    decoder = Decoder(store)
    out = bytearray(100)
    for slices in (
        Slices(out, [0, 11], [12, 12]),
        Slices(out, [30, 20], [12, 12]),
        Slices(out, [50], [12]),
    ):
        with pytest.raises(pylinerate.Error, match="overlap|differ"):
            decoder.decode_batch(ids[0], [block, block], out=slices)
    assert decoder.decode_batch(ids[0], [block, block], out=Slices(out, [12, 0], [12, 12])).ok.all()
    # An empty output overlaps nothing.
    inside = decoder.decode_batch(ids[0], [block, block], out=Slices(out, [0, 5], [12, 0]))
    assert list(inside.errors) == [1] and inside[0] == b"some content"
    for starts, lengths in (
        ([0], [101]),
        ([-1], [1]),
        ([101], [0]),
        ([2**63 - 1], [1]),
        ([0], [1, 1]),
        ([[0]], [[1]]),
    ):
        with pytest.raises(ValueError):
            Slices(out, starts, lengths)
    for arguments, options in (
        (([ids[0]] * 3, [block]), {}),
        ((ids[0], [block], [1, 2]), {}),
        ((ids[0], [block], [-1]), {}),
        ((ids[0], [block]), {"order": "sorted"}),
        ((ids[0], [block]), {"errors": "ignore"}),
        ((ids[0], [np.zeros((4, 4), np.uint8)[:, 1]]), {}),
    ):
        with pytest.raises(ValueError):
            decoder.decode_batch(*arguments, **options)
    for arguments, options in (
        (([1.0], [block]), {}),
        ((ids[0], [block], [12.0]), {}),
        ((ids[0], ["text"]), {}),
        ((ids[0], [None]), {}),
        ((ids[0], [block], [12]), {"out": Slices(out, [0], [12])}),
    ):
        with pytest.raises(TypeError):
            decoder.decode_batch(*arguments, **options)


def test_a_store_supports_len_in_and_indexing(dictionaries):
    store = Store()
    assert len(store) == 0 and 7 not in store and NONE not in store
    first, second = store.insert(dictionaries[0]), store.insert(dictionaries[3])
    assert first != second and len(store) == 2
    assert store[first] == dictionaries[0] and store[second] == dictionaries[3]
    assert first in store and np.uint64(first) in store
    assert "x" not in store and -1 not in store and 2**70 not in store and None not in store
    with pytest.raises(TypeError):
        iter(store)
    store.retain(first)
    assert store.release(first) is False and store.release(first) is True
    assert first not in store and len(store) == 1
    third = store.insert(dictionaries[0])
    assert third != first
    for work in (store.__getitem__, store.retain, store.release, store.hash):
        with pytest.raises(UnknownId, match=f"^the store has no dictionary {first}$"):
            work(first)
    with pytest.raises(KeyError):
        Decoder(store).decode(first, b"")
    with pytest.raises(KeyError):
        Encoder(store).encode(first, b"")


def test_dictionaries_are_found_by_their_hash(dictionaries):
    store = Store()
    expected = content_hash(dictionaries[0])
    assert store.find(expected) is None
    id = store.insert(dictionaries[0], expected)
    assert store.find(expected) == id and store.hash(id) == expected
    with pytest.raises(pylinerate.Error) as e:
        store.insert(dictionaries[1], expected)
    assert e.value.kind == "corrupt" and len(store) == 1
    store.release(id)
    assert store.find(expected) is None
    # XXH3-64 of empty input, as published by its authors.
    assert content_hash(b"") == 0x2D06800538D394C2


def test_invalid_dictionaries_are_rejected(dictionaries):
    store = Store()
    for bad, kind in (
        (b"1234567", "bad argument"),
        (dictionaries[0][:20], "truncated"),
        (dictionaries[0][:8] + b"\xff" * 200, "corrupt"),
    ):
        with pytest.raises(pylinerate.Error) as e:
            store.insert(bad)
        assert e.value.kind in (kind, "corrupt")
    assert len(store) == 0
    small = Store(raw_limit=10_000)
    small.insert(bytes(9000))
    with pytest.raises(pylinerate.Error) as e:
        small.insert(bytes(2000))
    assert e.value.kind == "limit exceeded"
    with pytest.raises(OverflowError):
        Store(table_budget=-1)


def test_stats_count_dictionaries_digests_and_table_bytes(dictionaries):
    store = Store()
    id = store.insert(dictionaries[0])
    before = store.stats()
    assert (before.dictionaries, before.digested, before.digests) == (1, 0, 0)
    assert len(dictionaries[0]) <= before.raw_bytes < len(dictionaries[0]) + 64
    block = Encoder(store).encode(id, b"content")
    decoder = Decoder(store)
    for _ in range(3):
        decoder.decode(id, block)
    after = store.stats()
    assert (after.digested, after.digests, after.evictions) == (1, 1, 0)
    assert 0 < after.table_bytes <= 9 << 10
    assert decoder.counters()[:4] == (3, 3, 0, 0) and decoder.store is store
    assert Store(huge_pages=False).stats().huge_pages == "off"
    assert before.huge_pages in ("advised", "refused")


def test_equal_dictionaries_share_an_id_and_trim_returns_their_memory(dictionaries):
    store = Store()
    id = store.insert(dictionaries[0])
    assert store.insert(dictionaries[0]) == id and len(store) == 1
    assert not store.release(id) and store.trim() == 0
    mapped = store.stats().mapped_bytes
    assert store.release(id)
    assert store.trim() == mapped > 0 and store.stats().mapped_bytes == 0


def test_stores_and_coders_cannot_be_pickled_or_copied(store):
    for thing in (store, Decoder(store), Encoder(store)):
        for work in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"^a {type(thing).__name__} cannot be pickled or copied"):
                work(thing)


def test_errors_survive_pickling(store):
    with pytest.raises(UnknownId) as e:
        store[5]
    again = pickle.loads(pickle.dumps(e.value))
    assert type(again) is UnknownId and str(again) == str(e.value) == "the store has no dictionary 5"
    assert (again.kind, again.offset) == ("bad argument", 0)


def test_reprs_name_the_contents(dictionaries):
    store = Store()
    store.insert(bytes(128))
    assert repr(store) == "<Store: 1 dictionaries, 128 bytes>"
    assert repr(Decoder(store)) == f"<Decoder of {store!r}>"
    assert repr(Encoder(store, 9)) == f"<Encoder at level 9 of {store!r}>"
    assert repr(Encoder(store, checksum=True)) == f"<Encoder at level 3, with checksums, of {store!r}>"
    batch = Decoder(store).decode_batch(7, [b"?"])
    assert repr(batch) == "<Batch: 1 blocks, 1 of them with an error>"
    assert repr(Slices(b"abc", [1], [2])) == "<Slices: 1 of 3 bytes>"


def test_a_decoder_keeps_its_store_alive(dictionaries):
    store = Store()
    id = store.insert(dictionaries[0])
    block = Encoder(store).encode(id, b"content")
    decoder = Decoder(store)
    del store
    assert decoder.decode(id, block) == b"content"


def test_higher_levels_give_smaller_blocks_and_bad_levels_are_errors(store, ids):
    row = log_rows(9, 4096)
    sizes = [len(Encoder(store, level).encode(ids[0], row)) for level in (-7, 3, 22)]
    assert sizes[0] > sizes[1] > sizes[2]
    for level in (-8, 23):
        with pytest.raises(pylinerate.Error):
            Encoder(store, level)
    assert len(Encoder(store, 3, True).encode(ids[0], row)) == sizes[1] + 4


def test_doctests_pass():
    done = doctest.testmod(pylinerate.dict)
    assert done.attempted > 8 and done.failed == 0
