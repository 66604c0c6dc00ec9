"""Damaged chunks raise an error with an offset. They never crash, hang or pass unnoticed where it shows."""

import pickle
import struct

import numpy as np
import pytest
from support import waves

import linerate
from linerate.rice import Params, decode, decode_segments, encode


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


CRAFTED = {
    "nothing": b"",
    "three bytes": b"\x01\x00\x00",
    "samples that are not there": words(0xFFFFFFFF),
    "many samples in one word": words(0xFFFFFFFF, 1, 0x88888888),
    "no length": words(7),
    "a length beyond the end": words(7, 2, 0x88888880),
    "a huge length": words(7, 0xFFFFFFFF, 0x88888880),
    "a length of nothing": words(7, 0, 0x88888880),
    "an endless run of zeros": words(7, 1, 0),
    "nine zeros": words(1, 1, 0x00400000),
    "a code that ends early": words(8, 1, 0x88888880),
    "bits behind the last code": words(7, 1, 0x88888881),
    "a word too many": words(7, 2, 0x88888880, 0),
    "words behind the end": words(7, 1, 0x88888880, 0),
    "a byte behind the end": words(7, 1, 0x88888880) + b"\x00",
    "words behind no samples": words(0, 0),
}


@pytest.mark.parametrize("chunk", CRAFTED.values(), ids=CRAFTED)
def test_crafted(chunk):
    with pytest.raises(linerate.Error) as e:
        decode(chunk, m=8)
    assert e.value.kind in ("truncated", "corrupt")
    assert 0 <= e.value.offset <= len(chunk)
    assert f"(at byte {e.value.offset})" in str(e.value)


def test_errors_go_from_process_to_process():
    with pytest.raises(linerate.Error) as e:
        decode(b"", m=8)
    again = pickle.loads(pickle.dumps(e.value))
    assert type(again) is linerate.Error and str(again) == str(e.value)
    assert (again.kind, again.offset) == ("truncated", 0)


def test_what_is_crafted_is_nearly_right():
    assert np.array_equal(decode(words(7, 1, 0x88888880), m=8), np.zeros(7))
    assert decode(words(0), m=8).size == 0


def test_m_1_is_decoded():
    assert decode(words(3, 1, 0b1_01_001 << 26), m=1, segment=-1).tolist() == [0, -1, 0]


def test_every_truncation(goldens):
    for g in goldens:
        if len(g.chunk) < 1000:
            for n in range(len(g.chunk)):
                with pytest.raises(linerate.Error):
                    decode(g.chunk[:n], params=g.params)


def test_every_flipped_bit(goldens):
    caught = 0
    for g in goldens:
        for bit in range(8 * len(g.chunk) if len(g.chunk) < 200 else 0):
            damaged = bytearray(g.chunk)
            damaged[bit // 8] ^= 1 << bit % 8
            try:
                decode(damaged, params=g.params)
            except linerate.Error:
                caught += 1
    assert caught > 100


def test_a_lie_costs_no_memory():
    chunk = words(0x7FFFFFFF, 0x03000000) + bytes(1000)
    with pytest.raises(linerate.Error):
        decode(chunk, m=2)
    with pytest.raises(linerate.Error):
        decode_segments(chunk, 0, 1, m=2)


def test_other_parameters_rarely_fit():
    array = waves()
    chunk = bytes(encode(array, m=16))
    for params in (Params(2, 1000), Params(16, 999), Params(16), Params(4096, 1000)):
        with pytest.raises(linerate.Error):
            decode(chunk, params=params)
