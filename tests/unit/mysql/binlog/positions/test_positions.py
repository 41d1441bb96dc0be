from __future__ import annotations

import uuid

import pytest

from datasources.errors import OptionError
from datasources.mysql.binlog.positions.positions import BinlogPosition, encode_gtid_set

A = "00000000-0000-0000-0000-0000000000aa"


def _number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def test_positions_order_by_file_number_then_by_offset():
    ordered = [
        BinlogPosition("b.000999", 5),
        BinlogPosition("b.999999", 4),
        BinlogPosition("b.1000000", 4),
        BinlogPosition("b.1000000", 1 << 33),
    ]
    shuffled = [ordered[index] for index in (2, 0, 3, 1)]
    assert sorted(shuffled) == ordered
    assert str(ordered[3]) == "b.1000000:8589934592"


def test_a_gtid_set_is_encoded_with_ends_exclusive():
    encoded = encode_gtid_set(f"{A}:7:1-5,\n{A}:9-9")
    intervals = [(1, 6), (7, 8), (9, 10)]
    expected = _number(1) + uuid.UUID(A).bytes + _number(3) + b"".join(_number(a) + _number(b) for a, b in intervals)
    assert encoded == expected
    assert encode_gtid_set("") == _number(0)


def test_tags_change_the_form_of_the_set():
    encoded = encode_gtid_set(f"{A}:1-2:Tag_1:3")
    head = (1 << 56 | 2 << 8 | 1).to_bytes(8, "little")
    plain = uuid.UUID(A).bytes + b"\0" + _number(1) + _number(1) + _number(3)
    tagged = uuid.UUID(A).bytes + bytes([10]) + b"tag_1" + _number(1) + _number(3) + _number(4)
    assert encoded == head + plain + tagged


@pytest.mark.parametrize(("text", "expected"), [("nonsense:1", "nonsense"), (f"{A}:1-", "1-"), (f"{A}:x y", "x y")])
def test_an_invalid_gtid_set_is_refused_by_name(text, expected):
    with pytest.raises(OptionError, match=expected):
        encode_gtid_set(text)
