"""Several threads use decoders and their store."""

import threading

import pytest
from support import log_rows, releases_the_interpreter_lock

from pylinerate.dict import Decoder, Encoder, Store, UnknownId, train


def in_threads(count, work):
    """Runs ``work(i)`` in ``count`` threads at once. Raises the first exception."""
    raised = []
    barrier = threading.Barrier(count)

    def run(i):
        try:
            barrier.wait(timeout=60)
            work(i)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    if raised:
        raise raised[0]


@pytest.fixture(scope="module")
def dictionaries():
    return [train([log_rows(97 * i + j, 700) for j in range(150)], 4096) for i in range(8)]


def blocks_of(store, dictionaries):
    """Encodes blocks with each dictionary. Returns the ID, the blocks and their contents for
    each."""
    encoder = Encoder(store)
    made = []
    for i, dictionary in enumerate(dictionaries):
        id = store.insert(dictionary)
        rows = [log_rows(1000 * i + j, 2000) for j in range(20)]
        made.append((id, [encoder.encode(id, row) for row in rows], rows))
    return made


@pytest.mark.parametrize("budget", [None, 20_000, 0])
@pytest.mark.parametrize("shared", [False, True])
def test_threads_decode_their_own_blocks(dictionaries, budget, shared):
    store = Store(table_budget=budget)
    made = blocks_of(store, dictionaries)
    common = Decoder(store)
    for id, blocks, rows in made * 2:
        assert common.decode(id, blocks[0]) == rows[0]

    def work(i):
        decoder = common if shared else Decoder(store)
        for turn in range(12):
            id, blocks, rows = made[(i + turn) % len(made)]
            batch = decoder.decode_batch(id, blocks)
            assert all(content == row for content, row in zip(batch, rows))
            assert decoder.decode(id, blocks[turn]) == rows[turn]

    in_threads(4, work)
    stats = store.stats()
    assert budget is None or stats.table_bytes <= budget
    assert (stats.evictions > 0) == (budget == 20_000)


def test_released_dictionaries_decode_or_are_unknown(dictionaries):
    """While one thread releases dictionaries, others decode their blocks or get UnknownId."""
    store = Store(table_budget=30_000)
    made = blocks_of(store, dictionaries)
    content = {id: (blocks, rows) for id, blocks, rows in made}
    current = [id for id, _, _ in made]
    stop = threading.Event()
    seen = set()

    def work(i):
        if i == 0:
            for turn in range(60):
                at = turn % len(current)
                old = current[at]
                # Released first: inserting the same bytes would otherwise return the old ID.
                released = store.release(old)
                new = store.insert(dictionaries[at])
                content[new] = content[old]
                current[at] = new
                if not released:
                    stop.set()
                    raise AssertionError("the dictionary has more than one user")
            stop.set()
            return
        decoder = Decoder(store)
        turn = 0
        while not stop.is_set() or turn < 20:
            id = current[(i + turn) % len(current)]
            turn += 1
            blocks, rows = content[id]
            batch = decoder.decode_batch(id, blocks)
            for at, row in enumerate(rows):
                if at in batch.errors:
                    assert type(batch.errors[at]) is UnknownId
                    seen.add("unknown")
                else:
                    assert batch[at] == row
                    seen.add("decoded")

    in_threads(3, work)
    assert "decoded" in seen and len(store) == len(dictionaries)


def test_threads_can_share_an_encoder(dictionaries):
    store = Store()
    ids = [store.insert(dictionary) for dictionary in dictionaries]
    encoder, decoder = Encoder(store), Decoder(store)

    def work(i):
        for turn in range(20):
            id, row = ids[(i + turn) % len(ids)], log_rows(turn, 1500)
            assert decoder.decode(id, encoder.encode(id, row)) == row

    in_threads(4, work)


def test_the_interpreter_lock_is_released(dictionaries):
    store = Store()
    id = store.insert(dictionaries[0])
    row = log_rows(1, 100_000)
    block = Encoder(store).encode(id, row)
    decoder = Decoder(store)
    samples = [log_rows(i, 1000) for i in range(1000)]
    for work in (
        lambda: decoder.decode_batch(id, [block] * 1000),
        lambda: Encoder(store, 19).encode(id, row * 5),
        lambda: train(samples, 16 << 10),
    ):
        assert releases_the_interpreter_lock(work)
