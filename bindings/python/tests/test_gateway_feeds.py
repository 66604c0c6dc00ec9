"""Feeds that compress each message on its own: payloads and verdicts equal those of zlib and
zstandard."""

import gzip
import random
import zlib

import pytest
import zstandard
from gateways import traffic

from pylinerate import Error
from pylinerate.gateway import Decompressor, Dictionaries, GatewayError

PAYLOADS = traffic()[:200]


def raw(payload):
    made = zlib.compressobj(6, zlib.DEFLATED, -15)
    return made.compress(payload) + made.flush()


ENCODERS = {
    "zlib": zlib.compress,
    "gzip": gzip.compress,
    "raw-deflate": raw,
    "zstd-frame": zstandard.ZstdCompressor(write_content_size=False).compress,
}


@pytest.mark.parametrize("kind", ENCODERS)
def test_messages_decode_in_any_order_and_after_damaged_ones(kind):
    decompressor = Decompressor(kind, checks="json")
    order = list(range(len(PAYLOADS)))
    random.Random(7).shuffle(order)
    for at in order:
        message = ENCODERS[kind](PAYLOADS[at])
        with pytest.raises(GatewayError):
            decompressor.decompress(message[:-1])
        assert decompressor.error is None
        assert decompressor.decompress(message) == PAYLOADS[at]
    assert decompressor.messages == 2 * len(PAYLOADS)


@pytest.mark.parametrize("kind", ENCODERS)
def test_a_message_that_is_not_delivered_does_not_stop_the_next(kind):
    decompressor = Decompressor(kind)
    message = ENCODERS[kind](b"\xff\xfe")
    for _ in range(2):
        with pytest.raises(UnicodeDecodeError):
            decompressor.decompress_text(message)
    assert decompressor.decompress(message) == b"\xff\xfe"
    with pytest.raises(Error, match="payload of 2 bytes"):
        decompressor.decompress_into(message, bytearray(1))
    assert decompressor.decompress_text(ENCODERS[kind](b"after")) == "after"
    assert decompressor.messages == 3


def trained(seed, dict_id):
    samples = list(PAYLOADS) * 3
    random.Random(seed).shuffle(samples)
    return zstandard.train_dictionary(8 << 10, samples, dict_id=dict_id)


def test_dictionaries_are_found_by_their_ids():
    first, second = trained(1, 1001), trained(2, 1002)
    dictionaries = Dictionaries(second.as_bytes(), first.as_bytes())
    assert dictionaries.ids == [1001, 1002]
    assert dictionaries.memory > 1000
    assert repr(dictionaries) == "<Dictionaries: [1001, 1002]>"
    decompressor = Decompressor("zstd-frame", dictionaries=dictionaries)
    for dictionary in first, second, None:
        compressor = zstandard.ZstdCompressor(dict_data=dictionary)
        for payload in PAYLOADS:
            assert decompressor.decompress(compressor.compress(payload)) == payload
    with pytest.raises(GatewayError, match="dictionary"):
        Decompressor("zstd-frame").decompress(zstandard.ZstdCompressor(dict_data=first).compress(PAYLOADS[0]))


def test_wrong_dictionaries_are_refused():
    one = trained(3, 5).as_bytes()
    with pytest.raises(Error, match="same id"):
        Dictionaries(one, one)
    with pytest.raises(Error):
        Dictionaries(one[:40])
    with pytest.raises(ValueError, match="zstd-frame"):
        Decompressor("zstd-stream", dictionaries=Dictionaries(one))
    with pytest.raises(ValueError, match="raw-deflate"):
        Decompressor("lz4")
