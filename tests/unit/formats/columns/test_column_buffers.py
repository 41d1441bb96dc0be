"""Buffers of columns: what they become, and that they do not grow beyond what offsets can say."""

from __future__ import annotations

import pytest

from datasources.arrow_types import TIMESTAMP
from datasources.errors import RecordError
from datasources.formats.columns.column_buffers import ColumnBuffers
from datasources.formats.columns.column_tree import ColumnKind, ColumnTree
from datasources.formats.schema_text.ddl import parse_schema
from datasources.native.column_words import ColumnWord

SCHEMA = parse_schema("a INT, s STRUCT<t: STRING, l: ARRAY<TIMESTAMP>>, m MAP<STRING, BOOLEAN>")


def test_columns_are_numbered_level_by_level():
    tree = ColumnTree(SCHEMA)
    assert [field.name for field in tree.fields] == ["", "a", "s", "m", "t", "l", "key", "value", "element"]
    assert tree.first_parts[:4] == [1, 4, 4, 6]
    assert tree.table[:, ColumnWord.DOMAIN].tolist() == [0, 0, 0, 0, 0, 0, 3, 3, 5]


def test_a_wanted_struct_may_have_fewer_fields():
    (wanted,) = ColumnTree(SCHEMA).wanted(list(parse_schema("s STRUCT<l: ARRAY<TIMESTAMP>>")))
    assert [(each.index, each.kind, each.width) for each in wanted.with_all_below()] == [
        (2, ColumnKind.STRUCT, 0),
        (5, ColumnKind.ARRAY, 0),
        (8, ColumnKind.NUMBERS, 8),
    ]


def test_columns_that_nothing_was_written_to_are_null():
    tree = ColumnTree(SCHEMA)
    buffers = ColumnBuffers(tree.table, tree.wanted(list(SCHEMA)), 3, 0)
    buffers.table[0, ColumnWord.LENGTH] = 3
    found = buffers.columns()
    assert [column.to_pylist() for column in found] == [[None] * 3] * 3
    for column in found:
        column.validate(full=True)
    assert [len(is_valid) for _, is_valid in buffers.slots(TIMESTAMP)] == [0]


def test_texts_and_parts_get_more_room():
    tree = ColumnTree(parse_schema("t STRING, l ARRAY<STRING>"))
    buffers = ColumnBuffers(tree.table, tree.wanted(list(tree.fields[1:3])), 2, 100)
    before = buffers.table[:, ColumnWord.ROOM].tolist()
    buffers.table[1:3, ColumnWord.IS_FULL] = 1
    buffers.grow()
    assert buffers.table[:, ColumnWord.IS_FULL].tolist() == [0] * 4
    assert buffers.table[:, ColumnWord.ROOM].tolist() == [0, 4 * before[1], 4 * before[2], before[3]]


def test_a_column_of_more_than_two_gigabytes_is_refused():
    tree = ColumnTree(parse_schema("t STRING"))
    buffers = ColumnBuffers(tree.table, tree.wanted([tree.fields[1]]), 1, 1)
    buffers.table[1, ColumnWord.ROOM] = 2**31 - 17
    buffers.table[1, ColumnWord.IS_FULL] = 1
    with pytest.raises(RecordError, match="a column of one batch would be larger than 2 GiB"):
        buffers.grow()
