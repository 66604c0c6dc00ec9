"""Packs of dictionaries: creating, editing, compacting, damage, loading into stores."""

import copy
import doctest
import pickle

import pytest
from support import log_rows

import pylinerate
from pylinerate import _pack
from pylinerate.dict import (
    BlockFile,
    Compacted,
    Decoder,
    Encoder,
    FileError,
    Pack,
    Store,
    UnknownId,
    content_hash,
    train,
)


@pytest.fixture(scope="module")
def dictionaries():
    trained = [train([log_rows(97 * i + j, 700) for j in range(150)], 4096) for i in range(6)]
    return [*trained, log_rows(5, 3000), b"few words"]


@pytest.fixture
def path(dictionaries, tmp_path):
    path = tmp_path / "pack"
    with Pack.create(path) as editor:
        for i, dictionary in enumerate(dictionaries):
            id = editor.add(dictionary, cluster=i % 2)
            assert editor.retain(id, f"file {i}") is True and editor.retain(id, f"file {i}") is False
    return path


@pytest.mark.parametrize("uncompressed", [False, True])
@pytest.mark.parametrize("map", [False, True])
def test_dictionaries_round_trip(dictionaries, tmp_path, uncompressed, map):
    path = tmp_path / "pack"
    with Pack.create(str(path), uncompressed=uncompressed, level=9) as editor:
        ids = [editor.add(memoryview(dictionary)) for dictionary in dictionaries]
        assert editor.add(dictionaries[2]) == ids[2]
        assert not path.exists()
    with Pack.open(str(path), map=map) as pack:
        assert len(pack) == len(ids) and list(pack) == ids == sorted(set(ids))
        for id, dictionary in zip(ids, dictionaries):
            entry = pack.entry(id)
            assert pack[id] == dictionary and id in pack
            assert (entry.size, entry.hash, entry.users) == (len(dictionary), content_hash(dictionary), 0)
            assert pack.find(entry.hash) == id and pack.users(id) == []
            assert (entry.number > 0) == (max(entry.table_logs) > 0) == (len(dictionary) > 3500)
        assert pack.entries() == [pack.entry(id) for id in ids]
        stats = pack.verify()
        assert stats == pack.stats() and pack.generation == stats.generation == 1
        assert (stats.dictionaries, stats.unused, stats.ignored) == (len(ids), len(ids), 0)
        assert stats.dictionary_bytes == sum(len(dictionary) for dictionary in dictionaries) and stats.uncompressed == uncompressed
        assert (stats.stored_bytes == stats.dictionary_bytes) == uncompressed
        for absent in (0, 99, -1, 2**70, "x", None):
            assert absent not in pack
        for work in (pack.__getitem__, pack.users):
            with pytest.raises(UnknownId, match="^the pack has no dictionary 99$"):
                work(99)
        assert pack.entry(99) is None and pack.find(1) is None
    assert pack.closed
    for work in (pack.entries, pack.stats, pack.verify, lambda: pack[ids[0]], lambda: pack.load(Store())):
        with pytest.raises(ValueError, match="the file is closed"):
            work()


@pytest.mark.parametrize("lazy", [False, True])
def test_loaded_dictionaries_live_until_they_are_released(path, dictionaries, lazy):
    store = Store()
    there = store.insert(dictionaries[3])
    pack = Pack.open(path)
    with pack.load(store, lazy=lazy) as ids:
        pack.close()
        assert len(ids) == len(store) == len(dictionaries) and list(ids.values()).count(there) == 1
        encoder, decoder = Encoder(store), Decoder(store)
        for id, dictionary in zip(ids, dictionaries):
            row = log_rows(id, 2000)
            block = encoder.encode(ids[id], row)
            assert decoder.decode(ids[id], block) == row
            assert store[ids[id]] == dictionary and store.hash(ids[id]) == content_hash(dictionary)
        kept = list(ids.values())
        assert repr(ids) == f"<Loaded: {len(kept)} dictionaries>"
        with pytest.raises(TypeError, match="^a Loaded cannot"):
            copy.copy(ids)
    assert len(ids) == 0 and len(store) == 1 and there in store
    with pytest.raises(UnknownId):
        decoder.decode(kept[0], block)
    again = Pack.open(path).load(store)
    assert len(store) == len(dictionaries)
    del again
    assert len(store) == 1


def test_edits_are_visible_to_later_readers_only(path, dictionaries):
    before = Pack.open(path)
    ids = list(before)
    with Pack.edit(path) as editor:
        added = editor.add(b"another dictionary")
        assert added > max(ids)
        assert editor.release(ids[0], "file 0") is True and editor.release(ids[0], "file 0") is False
        editor.remove(ids[0])
        assert editor.retain(added, 77)
        for id in (ids[1], ids[0], 12345):
            with pytest.raises(pylinerate.Error) as e:
                editor.remove(id)
            assert e.value.kind == "bad argument"
        assert len(Pack.open(path)) == len(ids)
    assert list(before) == ids and before[ids[0]] == dictionaries[0]
    after = Pack.open(path)
    assert list(after) == [*ids[1:], added] and after.users(added) == [77]
    assert after.generation == before.generation + 1
    assert [after[id] for id in after] == [*dictionaries[1:], b"another dictionary"]
    with pytest.raises(ZeroDivisionError), Pack.edit(path) as editor:
        editor.remove(added) if editor.release(added, 77) else None
        raise ZeroDivisionError
    editor = Pack.edit(path)
    editor.add(b"one more of them")
    with pytest.raises(FileError, match="another process"):
        Pack.edit(path)
    editor.discard()
    for work in (lambda: editor.add(b"one more of them"), editor.commit):
        with pytest.raises(pylinerate.Error):
            work()
    assert list(Pack.open(path)) == [*ids[1:], added]
    with pytest.raises(TypeError, match="^a PackEditor cannot"):
        pickle.dumps(editor)


def test_compact_drops_removed_dictionaries(path, dictionaries):
    before = Pack.open(path)
    ids = list(before)
    with pytest.raises(pylinerate.Error, match="in use"):
        Pack.compact(path, [ids[0]])
    with pytest.raises(UnknownId):
        Pack.compact(path, [99])
    assert list(Pack.open(path)) == ids
    with Pack.edit(path) as editor:
        editor.release(ids[0], "file 0")
        editor.release(ids[1], "file 1")
        editor.remove(ids[1])
    done = Pack.compact(path, drop={ids[0]})
    assert done == Compacted(len(ids) - 2, 1, done.before, path.stat().st_size)
    after = Pack.open(path)
    assert list(after) == ids[2:] and [after[id] for id in ids[2:]] == dictionaries[2:]
    assert after.verify().removed_bytes == 0 and after.users(ids[2]) == before.users(ids[2]) != []
    # An open pack still reads the old file.
    assert before[ids[0]] == dictionaries[0]
    Pack.compact(path, uncompressed=True)
    stats = Pack.open(path).stats()
    assert stats.uncompressed and stats.stored_bytes == stats.dictionary_bytes
    Pack.compact(path)
    assert Pack.open(path).stats().uncompressed


def test_damaged_bytes_are_found(path, dictionaries, tmp_path):
    whole = path.read_bytes()
    damaged = tmp_path / "damaged"
    found = 0
    steps = range(0, len(whole), 61)
    for at in steps:
        data = bytearray(whole)
        data[at] ^= 0x55
        damaged.write_bytes(data)
        try:
            pack = Pack.open(damaged, map=False)
            for id, dictionary in zip(pack, dictionaries):
                try:
                    assert pack[id] == dictionary
                except pylinerate.Error:
                    with pytest.raises(pylinerate.Error):
                        pack.verify()
            pack.verify()
        except pylinerate.Error:
            found += 1
    assert found > 0.8 * len(steps)
    for data in (b"", b"x" * 500, whole[: len(whole) // 2]):
        damaged.write_bytes(data)
        with pytest.raises(pylinerate.Error):
            Pack.open(damaged)
        with pytest.raises(pylinerate.Error):
            Pack.edit(damaged)


def test_a_damaged_dictionary_fails_only_its_blocks(dictionaries, tmp_path):
    path = tmp_path / "pack"
    with Pack.create(path, uncompressed=True) as editor:
        ids = [editor.add(dictionary) for dictionary in dictionaries]
    data = path.read_bytes()
    at = data.index(dictionaries[1][-100:])
    path.write_bytes(data[:at] + b"?" + data[at + 1 :])
    plain = Store()
    blocks = [Encoder(plain).encode(plain.insert(dictionary), b"content" * 9) for dictionary in dictionaries]
    store = Store()
    loaded = Pack.open(path).load(store)
    batch = Decoder(store).decode_batch([loaded[id] for id in ids], blocks)
    assert list(batch.errors) == [1] and batch.errors[1].kind == "corrupt"
    assert all(batch[i] == b"content" * 9 for i in range(len(ids)) if i != 1)
    with pytest.raises(pylinerate.Error):
        Pack.open(path).load(Store(), lazy=False)


def test_missing_existing_and_invalid_packs_are_errors(path, tmp_path):
    for work in (Pack.open, Pack.edit, Pack.compact):
        with pytest.raises(FileNotFoundError):
            work(tmp_path / "nothing")
    with pytest.raises(TypeError):
        Pack()
    with pytest.raises(FileError, match="exists already") as e:
        Pack.create(path)
    assert isinstance(e.value, OSError) and isinstance(e.value, pylinerate.Error)
    assert e.value.kind == "cannot write" and str(e.value) == "the file exists already"
    assert isinstance(FileError.__new__(FileError, *e.value.args), OSError)  # tblib, which Dask uses, unpickles errors this way
    again = pickle.loads(pickle.dumps(e.value))
    assert type(again) is FileError and str(again) == str(e.value) and again.kind == e.value.kind
    with pytest.raises(pylinerate.Error):
        Pack.create(tmp_path / "new", level=99)
    editor = Pack.create(tmp_path / "new")
    for bad in (b"short", b"\x37\xa4\x30\xec" + bytes(50)):
        with pytest.raises(pylinerate.Error):
            editor.add(bad)
    with pytest.raises(TypeError):
        editor.add("text")
    with pytest.raises(OverflowError):
        editor.add(b"a dictionary", cluster=-1)
    del editor
    assert list(tmp_path.iterdir()) == [path]
    assert repr(Pack.open(path)) == f"<Pack {str(path)!r}>"
    with pytest.raises(TypeError, match="^a Pack cannot be pickled"):
        pickle.dumps(Pack.open(path))


def test_block_files_and_packs_share_a_store(path, dictionaries, tmp_path):
    rows = [(b"%04d" % i, log_rows(i, 300)) for i in range(500)]
    BlockFile.build(tmp_path / "rows", rows, dictionary=dictionaries[0])
    store = Store()
    with Pack.open(path).load(store) as ids, BlockFile.open(tmp_path / "rows", store) as file:
        assert file.dictionary in ids.values() and len(store) == len(ids)
        assert list(file) == rows
    assert len(store) == 0


def test_doctests_pass():
    done = doctest.testmod(_pack)
    assert done.attempted > 5 and done.failed == 0
