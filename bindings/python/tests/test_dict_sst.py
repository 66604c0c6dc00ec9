"""SST files that RocksDB wrote are read."""

import copy
import re
import shutil

import pytest
from support import REPOSITORY

import pylinerate
from pylinerate.dict import Entry, RangeDeletion, Sst, Store, multi_get

FILES = REPOSITORY / "testdata" / "sst"
#: The files that contain the entries of the fixture `entries`.
TABLES = sorted(path.stem for path in FILES.iterdir() if path.stem not in ("5-history", "5-xxh3-bzip2"))


def entries():
    """The entries that crates/dict/tests/sst/fixtures.rs wrote into the files."""
    names = ["ann", "berta", "carl", "dora", "emil", "frieda", "gustav", "hanna"]
    towns = ["Aalen", "Bremen", "Celle", "Dessau", "Essen"]
    for i in range(64):
        name, town, score = names[i * 5 % 8], towns[i * i % 5], i * 7919 % 1000
        value = f'{{"name":"{name}","town":"{town}","score":{score},"active":true}}'
        kind, value = {9: ("deletion", ""), 11: ("merge", "+1")}.get(i % 16, ("value", value))
        yield Entry(b"user/%03d" % i, 0, kind, value.encode())


@pytest.fixture
def store():
    return Store()


def test_all_test_files_are_present():
    assert len(TABLES) >= 16


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("map", [False, True])
def test_every_file_has_the_expected_entries(store, name, map):
    expected = list(entries())
    with Sst.open(FILES / f"{name}.sst", store, map=map) as sst:
        assert list(sst) == expected
        for entry in expected:
            assert sst.entry(entry.key) == entry
            assert (entry.key in sst) == (entry.kind != "deletion")
        assert [e.key for e in sst.scan(b"user/0075", b"user/010")] == [b"user/008", b"user/009"]
        assert list(sst.scan(b"user/064")) == [] == list(sst.scan(stop=b"user/000"))
        values = {e.key: e.value for e in expected if e.kind == "value"}
        keys = [*reversed(values), b"nothing", b"user/009", b"user/0015"]
        assert sst.multi_get(keys) == [*reversed(values.values()), None, None, None]
        assert [sst.get(key) for key in keys] == sst.multi_get(keys)
        stats, report = sst.stats(), sst.verify()
        assert report.is_sound and report.failures == [] and report.entries == 64
        assert (report.deletions, report.merge_operands) == (4, 4)
        assert stats.format_version == int(name[0]) and stats.checksum == name.split("-")[1]
        assert sum(count.blocks for count in stats.blocks.values()) == report.data_blocks
        assert stats.size == (FILES / f"{name}.sst").stat().st_size and stats.key_order == "bytewise"
        assert stats.properties["rocksdb.comparator"] == b"leveldb.BytewiseComparator"
        assert (stats.dictionary_size is not None) == bool(re.search("samples|trained|finalized", name))
        assert (stats.dictionary_number is not None) == bool(re.search("trained|finalized", name))
        assert (stats.index_kind == "partitioned") == name.endswith("parts")
        assert len(store) == (1 if stats.dictionary_size else 0)
    assert len(store) == 0 and sst.closed
    for work in (lambda: sst.get(b"x"), lambda: list(sst), sst.verify, sst.stats, sst.range_deletions):
        with pytest.raises(ValueError, match="the file is closed"):
            work()


def test_merge_operands_are_unsupported_by_get(store):
    sst = Sst.open(FILES / "5-xxh3-zstd.sst", store)
    with pytest.raises(pylinerate.Error, match="merge") as e:
        sst.get(b"user/011")
    assert e.value.kind == "unsupported"
    found = sst.multi_get([b"user/012", b"user/011", b"user/027"], errors="return")
    assert isinstance(found[0], bytes) and [error.index for error in found[1:]] == [1, 2]
    with pytest.raises(pylinerate.Error) as e:
        sst.multi_get([b"user/012", b"user/027", b"user/011"])
    assert e.value.index == 1


def test_multi_get_reads_several_files(store):
    files = [Sst.open(FILES / f"{name}.sst", store) for name in TABLES]
    values = {e.key: e.value for e in entries() if e.kind == "value"}
    wanted = [(files[i % len(files)], key) for i, key in enumerate([*values, b"user/009"] * 5)]
    assert multi_get(wanted) == [values.get(key) for _, key in wanted]
    merged = multi_get([wanted[0], (files[1], b"user/011"), wanted[0]], errors="return")
    assert merged[0] == merged[2] == values[b"user/000"] and merged[1].kind == "unsupported"


def test_versions_and_deletions_are_resolved_by_sequence_number(store):
    sst = Sst.open(FILES / "5-history.sst", store)
    versions = [(b"a", 13, "deletion", b"")]
    for i, key in enumerate([b"a", b"b", b"c", b"d"]):
        versions += [(key, 4 * round + i + 1, "value", key + b"%d" % round) for round in (2, 1, 0)]
    assert list(sst.scan()) == versions
    # Reads in chunks of one entry, some of which begin between versions of a key, give the same entries.
    few = []
    start, skip = None, 0
    while rows := sst._file.scan(start, skip, None, 1):
        few += rows
        skip = skip + 1 if rows[-1][0] == start else 1
        start = rows[-1][0]
    assert few == versions
    assert sst.range_deletions() == [RangeDeletion(b"b", b"cc", 14)]
    assert sst.get(b"a") is None and sst.get(b"b") is None and sst.get(b"d") == b"d2"
    assert b"b" not in sst and b"bb" not in sst and b"d" in sst
    assert sst.entry(b"bb") == (b"bb", 14, "range deletion", b"")
    assert sst.entry(b"b", sequence=7) == (b"b", 6, "value", b"b1")
    assert sst.entry(b"b", sequence=1) is None


def test_scans_in_small_chunks_return_every_entry_once(store, monkeypatch):
    monkeypatch.setattr("pylinerate._files.CHUNK", 1)
    for name in ("5-history", *TABLES):
        sst = Sst.open(FILES / f"{name}.sst", store)
        all_at_once = [Entry(*row) for row in sst._file.scan(None, 0, None, 1 << 30)]
        assert list(sst) == all_at_once and len(all_at_once) > 12
        assert list(sst.scan(b"b")) == [entry for entry in all_at_once if entry.key >= b"b"]


def test_unsupported_and_missing_files_are_errors(store, tmp_path):
    bzip2 = Sst.open(FILES / "5-xxh3-bzip2.sst", store)
    for work in (lambda: bzip2.get(b"user/001"), lambda: list(bzip2), lambda: bzip2.multi_get([b"user/001"])):
        with pytest.raises(pylinerate.Error) as e:
            work()
        assert e.value.kind == "unsupported"
    report = bzip2.verify()
    assert not report.is_sound and report.failed == len(report.failures) > 0
    assert report.failures[0].kind == "unsupported" and list(bzip2.stats().blocks) == ["bzip2"]
    with pytest.raises(FileNotFoundError):
        Sst.open(tmp_path / "nothing.sst", store)
    with pytest.raises(TypeError):
        Sst()
    with pytest.raises(TypeError, match="^a Sst cannot be pickled or copied"):
        copy.copy(bzip2)
    other = tmp_path / "other.sst"
    other.write_bytes(bytes(1000))
    with pytest.raises(pylinerate.Error):
        Sst.open(other, store)


@pytest.mark.parametrize("name", ["5-crc32c-zstd-trained", "7-xxh3-zstd-trained", "6-xxhash-stored"])
def test_damaged_bytes_are_found(store, name, tmp_path):
    whole = (FILES / f"{name}.sst").read_bytes()
    expected = list(entries())
    path = tmp_path / "damaged.sst"
    shutil.copy(FILES / f"{name}.sst", path)
    found = 0
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        path.write_bytes(damaged)
        try:
            with Sst.open(path, store, map=False) as sst:
                report = sst.verify()
                found += not report.is_sound
                try:
                    assert list(sst) == expected
                except pylinerate.Error:
                    assert not report.is_sound
        except pylinerate.Error:
            found += 1
    # The footer's padding has no checksum.
    assert found > 0.95 * len(range(0, len(whole), 7)) and len(store) == 0
