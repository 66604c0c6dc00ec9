"""Block files: building, reading, damage, closing, threads."""

import copy
import doctest
import pickle
import sys
import threading

import pytest
from support import log_rows, run_python

import pylinerate
from pylinerate import _files
from pylinerate.dict import NONE, BlockFile, Decoder, Store, UnknownId, content_hash, multi_get, train


@pytest.fixture(scope="module")
def records():
    """Records in the order of their keys, some of them with long values."""
    sizes = [0, 300, 20, 700, 300]
    return [(b"key/%05d" % (3 * i), log_rows(i, 9000 if i % 500 == 7 else sizes[i % 5])) for i in range(3000)]


@pytest.fixture(scope="module")
def path(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "records"
    BlockFile.build(path, records, dictionary=8192)
    return path


@pytest.fixture
def store():
    return Store()


@pytest.mark.parametrize("map", [False, True])
def test_records_round_trip(path, records, store, map):
    with BlockFile.open(str(path), store, map=map) as file:
        assert len(file) == len(records) and list(file) == records
        for key, value in records[::97]:
            assert file.get(key) == file[memoryview(key)] == value and key in file
        for absent in (b"", b"key/00001", b"key/99999", b"zzz"):
            assert file.get(absent) is None and absent not in file
            with pytest.raises(KeyError):
                file[absent]
        wanted = [key for key, _ in records[::-7]]
        wanted[5:5] = [b"no key", wanted[0]]
        expected = dict(records)
        assert file.multi_get(wanted) == [expected.get(key) for key in wanted]
        assert file.multi_get(iter([bytearray(wanted[0])])) == [expected[wanted[0]]]
        assert file.multi_get([]) == []


def test_scans_return_the_keys_of_their_range(path, records, store):
    file = BlockFile.open(path, store)
    keys = [key for key, _ in records]
    for start in (None, b"", b"key/00000", b"key/00001", b"key/04500", b"z"):
        for stop in (None, b"", b"key/00003", b"key/04499", b"key/08997", b"z"):
            expected = [k for k in keys if (start is None or k >= start) and (stop is None or k < stop)]
            assert [key for key, _ in file.scan(start, stop)] == expected
    few = file.scan(b"key/001")
    assert next(few)[0] == b"key/00102" and next(few)[0] == b"key/00105"


def test_files_with_one_dictionary_share_it_in_the_store(path, store):
    first, second = BlockFile.open(path, store), BlockFile.open(path, store)
    id = first.dictionary
    assert second.dictionary == id and len(store) == 1 and first.store is store
    stats = first.stats()
    assert stats.dictionary_size == len(store[id]) and stats.dictionary_hash == content_hash(store[id])
    assert stats.size == path.stat().st_size and stats.counts == first.verify()
    assert (stats.block_size, stats.level, stats.checksums) == (4096, 3, True)
    first.close()
    assert first.closed and not second.closed and id in store
    first.close()
    for work in (
        lambda: first.get(b"x"),
        lambda: first[b"x"],
        lambda: first.multi_get([b"x"]),
        lambda: list(first.scan()),
        first.stats,
        first.verify,
        first.__enter__().__len__,
    ):
        with pytest.raises(ValueError, match="the file is closed"):
            work()
    half = second.scan()
    next(half)
    second.close()
    assert len(store) == 0
    with pytest.raises(UnknownId):
        Decoder(store).decode(id, b"")
    with pytest.raises(ValueError):
        list(half)
    third = BlockFile.open(path, store)
    assert len(store) == 1
    del third
    assert len(store) == 0


def test_files_with_any_options_round_trip(records, store, tmp_path):
    dictionary = train([value for _, value in records], 4096)
    sizes = {}
    for name, options in {
        "plain": {},
        "given": {"dictionary": dictionary},
        "trained": {"dictionary": 4096},
        "small tables": {"dictionary": 4096, "small_tables": True},
        "large blocks": {"block_size": 32 << 10, "level": 19},
        "no checksums": {"checksums": False},
    }.items():
        path = tmp_path / name
        BlockFile.build(path, records, **options)
        sizes[name] = path.stat().st_size
        with BlockFile.open(path, store) as file:
            assert list(file) == records
            stats = file.stats()
            assert stats.checksums == (name != "no checksums")
            assert (file.dictionary == NONE) == (stats.dictionary_size == 0) == ("dictionary" not in options)
            if name == "given":
                assert store[file.dictionary] == dictionary
    assert sizes["given"] < sizes["plain"] and sizes["large blocks"] < sizes["plain"]
    shuffled = sorted(records, key=lambda record: record[0][::-1])
    BlockFile.build(tmp_path / "sorted", shuffled, sort=True)
    assert (tmp_path / "sorted").read_bytes() == (tmp_path / "plain").read_bytes()


def test_invalid_records_leave_the_old_file_unchanged(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old content")
    for records in ([(b"b", b""), (b"a", b"")], [(b"a", b""), (b"a", b"")], [(bytes(1 << 16), b"")]):
        with pytest.raises(pylinerate.Error) as e:
            BlockFile.build(path, records)
        assert e.value.kind == "bad argument"
    with pytest.raises(pylinerate.Error):
        BlockFile.build(path, [(b"a", b""), (b"b", b""), (b"a", b"")], sort=True)
    for options in ({"level": 99}, {"block_size": 0}, {"dictionary": b"short"}):
        with pytest.raises(pylinerate.Error):
            BlockFile.build(path, [], **options)
    for records in ([b"ab"], [("a", "b")], [(b"a",)], 7):
        with pytest.raises((TypeError, ValueError)):
            BlockFile.build(path, records)

    def failing():
        yield b"a", b"b"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        BlockFile.build(path, failing())
    assert path.read_bytes() == b"old content" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError):
        BlockFile.build(tmp_path / "no folder" / "file", [])


def test_missing_and_damaged_files_are_errors(path, store, tmp_path):
    with pytest.raises(FileNotFoundError):
        BlockFile.open(tmp_path / "nothing", store)
    with pytest.raises(IsADirectoryError):
        BlockFile.open(tmp_path, store)
    with pytest.raises(UnknownId):
        BlockFile.open(path, Store()).store[12345]
    with pytest.raises(TypeError):
        BlockFile()
    whole = path.read_bytes()
    damaged = tmp_path / "damaged"
    for data in (b"", b"x" * 1000, whole[:-1], whole[:5000], whole + b"\0", b"\0" + whole[1:]):
        damaged.write_bytes(data)
        for map in (True, False):
            with pytest.raises(pylinerate.Error):
                BlockFile.open(damaged, store, map=map)
    assert len(store) == 0


def test_damage_affects_only_the_records_of_its_block(path, records, store, tmp_path):
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 1
    damaged = tmp_path / "damaged"
    damaged.write_bytes(whole)
    file = BlockFile.open(damaged, store)
    keys = [key for key, _ in records]
    found = file.multi_get(keys, errors="return")
    bad = [i for i, value in enumerate(found) if isinstance(value, pylinerate.Error)]
    assert 0 < len(bad) < 100 and bad == list(range(bad[0], bad[-1] + 1))
    assert all(found[i] == records[i][1] for i in range(len(keys)) if i not in bad)
    assert found[bad[0]].kind == "corrupt" and found[bad[0]].index == bad[0]
    with pytest.raises(pylinerate.Error) as e:
        file.multi_get(keys)
    assert e.value.index == bad[0]
    with pytest.raises(pylinerate.Error):
        file.get(keys[bad[0]])
    with pytest.raises(pylinerate.Error):
        file.verify()
    with pytest.raises(ValueError):
        file.multi_get(keys, errors="ignore")
    # A scan returns all records before the damage.
    seen = []
    with pytest.raises(pylinerate.Error):
        seen.extend(key for key, _ in file.scan())
    before = []
    with pytest.raises(pylinerate.Error):
        for key, _ in file.scan():
            before.append(key)
    assert before == keys[: bad[0]]


def test_multi_get_reads_several_files(records, store, tmp_path):
    files, expected = [], {}
    for i in range(6):
        path = tmp_path / str(i)
        BlockFile.build(path, [(key, b"%d " % i + value) for key, value in records[i::6]], dictionary=2048)
        files.append(BlockFile.open(path, store))
        expected[i] = {key: b"%d " % i + value for key, value in records[i::6]}
    assert len(store) == 6
    wanted = [(i % 6, records[i * 11 % len(records)][0]) for i in range(900)]
    found = multi_get((files[i], key) for i, key in wanted)
    assert found == [expected[i].get(key) for i, key in wanted]
    assert None in found and found.count(None) < len(found)
    assert multi_get([]) == []
    # An error affects only its own request.
    other = BlockFile.open(tmp_path / "0", Store())
    key = records[0][0]
    found = multi_get([(files[0], key), (other, key), (files[0], key)], errors="return")
    assert found[0] == found[2] == expected[0][key] and found[1].kind == "bad argument"
    with pytest.raises(pylinerate.Error) as e:
        multi_get([(files[0], key), (other, key)])
    assert e.value.index == 1
    files[3].close()
    with pytest.raises(ValueError, match="the file is closed"):
        multi_get([(files[0], key), (files[3], key)])
    for bad in ([(files[0], "text")], [(7, key)], [7], 7):
        with pytest.raises(TypeError):
            multi_get(bad)


def test_threads_can_share_a_file(path, records, store):
    file = BlockFile.open(path, store)
    expected = dict(records)
    raised = []

    def work(i):
        try:
            for turn in range(10):
                wanted = [key for key, _ in records[(i + turn) :: 23]]
                assert file.multi_get(wanted) == [expected[key] for key in wanted]
                assert file.get(wanted[0]) == expected[wanted[0]]
            assert sum(1 for _ in file.scan()) == len(records)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    assert not raised


def test_repr_and_no_pickling(path, store):
    file = BlockFile.open(path, store)
    assert repr(file) == f"<BlockFile {str(path)!r}>"
    for work in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="^a BlockFile cannot be pickled or copied"):
            work(file)
    file.close()
    assert repr(file) == f"<BlockFile {str(path)!r}, closed>"


def test_doctests_pass():
    done = doctest.testmod(_files)
    assert done.attempted > 4 and done.failed == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SKIP: not Linux")
def test_missing_memory_for_a_value_is_a_memory_error(tmp_path):
    run_python(
        f"""
import resource
from pylinerate.dict import BlockFile, Store

BlockFile.build({str(tmp_path / "x")!r}, [(b"a", bytes(range(256)) * (1 << 14))])
file = BlockFile.open({str(tmp_path / "x")!r}, Store())
kept = [file.get(b"a")]
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
try:
    for _ in range(100):
        kept.append(file.get(b"a"))
except MemoryError:
    kept.clear()
else:
    raise AssertionError("no limit")
"""
    )
