"""Dictionaries are trained and save bytes."""

import doctest

import pytest
from support import log_rows

import pylinerate
from pylinerate import _training
from pylinerate.dict import SIZES, Store, cluster, savings, search, shrink_tables, train


def test_trained_dictionaries_save_bytes():
    samples = [log_rows(i, 1000) for i in range(200)]
    dictionary = train((memoryview(sample) for sample in samples), 4096)
    assert dictionary == train(samples, 4096) and 1000 < len(dictionary) <= 4096
    small = train(samples, 4096, small_tables=True)
    assert small == shrink_tables(small) != dictionary and len(small) <= 4096
    assert len(train(samples, 4096, level=9)) <= 4096
    assert shrink_tables(samples[0]) == samples[0]
    rows = [log_rows(i, 1000) for i in range(3000, 3100)]
    found, smaller = savings(dictionary, rows), savings(small, rows)
    assert found.content == 100_000 and found.dictionary == len(dictionary)
    assert found.with_dictionary < found.without_dictionary
    assert found.ratio_without == found.content / found.without_dictionary
    assert found.ratio == found.content / (found.with_dictionary + found.dictionary)
    assert smaller.tables < found.tables <= 9 << 10
    # A maximum size far above the size of the samples does not exhaust the memory.
    assert len(train(samples, 1 << 62)) < 1 << 20
    for bad in ([], [b"x"], [b""] * 100):
        with pytest.raises(pylinerate.Error):
            train(bad, 4096)
    with pytest.raises(pylinerate.Error):
        train(samples, 10)
    with pytest.raises(pylinerate.Error):
        shrink_tables(dictionary[:50])
    with pytest.raises(pylinerate.Error):
        savings(dictionary[:50], rows)


def test_search_finds_the_size_with_the_smallest_total():
    samples = [log_rows(i, 1000) for i in range(400)]
    found = search(samples)
    assert [c.size for c in found.candidates] == sorted(SIZES)[: len(found.candidates)]
    best = found.candidates[found.best]
    assert found.expected == 400_000 and best.total < found.without_dictionary
    assert best.total == min(c.total for c in found.candidates)
    assert found.dictionary == train(samples, best.size)
    assert search(samples, threads=3) == found
    # A larger dictionary pays if there is much data. If there is little, no dictionary pays.
    more = search(iter(samples), expected=1 << 40)
    saved = more.candidates[more.best].savings
    assert more.dictionary is not None and saved.dictionary >= best.savings.dictionary
    few = search(samples, [4096, 4096, 2048], expected=1000, small_tables=True)
    assert (few.dictionary, few.best, len(few.candidates)) == (None, None, 2)
    assert all(c.savings.dictionary <= c.size for c in few.candidates)
    for bad in ([], [b"x"] * 3):
        with pytest.raises(pylinerate.Error):
            search(bad)
    with pytest.raises(pylinerate.Error):
        search(samples, [])
    with pytest.raises(ValueError):
        search(samples, threads=0)
    assert search(samples, [1 << 62, 1024]).best is not None


def other_rows(seed, size):
    """Makes rows unlike those of `log_rows`."""
    return log_rows(seed, size).swapcase().replace(b",", b" | ")[:size]


def test_cluster_separates_two_kinds_of_rows():
    kinds = [log_rows if i % 2 else other_rows for i in range(12)]
    sets = [[rows(100 * i + j, 700) for j in range(60)] for i, rows in enumerate(kinds)]
    sets += [[], [b"x"]]
    found = cluster(sets, max_count=2, size=2048)
    assert len(found.dictionaries) == 2 == found.shared.dictionaries
    assert all(len(dictionary) <= 2048 for dictionary in found.dictionaries)
    by_kind = [{c.dictionary for c in found.sets[i:12:2]} for i in (0, 1)]
    assert sorted(map(sorted, by_kind)) == [[0], [1]]
    assert found.sets[12].reason == "empty" and found.sets[13].dictionary is None
    assert found.shared.total < found.without.total and found.shared.total < found.own.total
    assert found.one.dictionaries == 1 and found.without[1:] == (0, 0)
    assert found.sets[0].content == 60 * 700
    assert found.sets[0].chosen < found.sets[0].without_dictionary
    assert cluster(map(iter, sets), 2, 2048, threads=3) == found
    store = Store()
    assert len({store.insert(dictionary) for dictionary in found.dictionaries}) == 2
    # Now most sets represent more bytes than their samples have.
    larger = cluster(sets, 2, 2048, set_bytes=[10**9] * 12 + [0, 1])
    assert larger.sets[0].content == 10**9
    with pytest.raises(ValueError):
        cluster(sets, 2, 2048, set_bytes=[1])
    assert cluster([], 2, 2048).dictionaries == []
    assert cluster(sets, 1, 1 << 62).one.dictionaries == 1


def test_doctests_pass():
    done = doctest.testmod(_training)
    assert done.attempted > 3 and done.failed == 0
