"""STRUCTs of which only some fields are read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.arrow_types import narrowed, paths_of, pruned, widened
from datasources.formats.schema_text.ddl import parse_schema

SCHEMA = parse_schema("a INT, s STRUCT<x: INT NOT NULL, t: STRUCT<y: STRING, z: ARRAY<STRUCT<q: INT>>>>, e STRUCT<>")
ROWS = [
    {"x": 1, "t": {"y": "a", "z": [{"q": 1}]}},
    None,
    {"x": 2, "t": None},
    {"x": 3, "t": {"y": None, "z": []}},
]


@pytest.mark.parametrize(
    ("paths", "ddl"),
    [
        ([], ""),
        ([("a",)], "a INT"),
        ([("s", "x")], "s STRUCT<x: INT NOT NULL>"),
        ([("s", "t", "z"), ("a",)], "a INT, s STRUCT<t: STRUCT<z: ARRAY<STRUCT<q: INT>>>>"),
        ([("s", "t", "z"), ("s", "t")], "s STRUCT<t: STRUCT<y: STRING, z: ARRAY<STRUCT<q: INT>>>>"),
        ([("s",), ("s", "x")], "s STRUCT<x: INT NOT NULL, t: STRUCT<y: STRING, z: ARRAY<STRUCT<q: INT>>>>"),
        ([("e",)], "e STRUCT<>"),
    ],
)
def test_a_schema_has_what_paths_lead_to_in_its_order(paths, ddl):
    assert pruned(SCHEMA, paths) == (parse_schema(ddl) if ddl else pa.schema([]))


def test_the_paths_of_a_schema_lead_to_all_of_it():
    assert list(paths_of(SCHEMA)) == [("a",), ("s", "x"), ("s", "t", "y"), ("s", "t", "z"), ("e",)]
    assert pruned(SCHEMA, paths_of(SCHEMA)) == SCHEMA


@pytest.mark.parametrize("at", [slice(None), slice(1, None), slice(1, 3), slice(2, 2)])
def test_fields_are_left_out_and_come_back_as_null(at):
    whole = SCHEMA.field("s").type
    narrow = pruned(SCHEMA, [("s", "t", "y")]).field("s").type
    column = pa.array(ROWS, whole)[at]
    found = narrowed(column, narrow)
    found.validate(full=True)
    assert found.type == narrow
    assert found.to_pylist() == [row and {"t": row["t"] and {"y": row["t"]["y"]}} for row in ROWS[at]]
    again = widened(found, whole)
    assert again.type == whole
    assert again.to_pylist() == [
        row and {"x": None, "t": row["t"] and {"y": row["t"]["y"], "z": None}} for row in ROWS[at]
    ]


def test_a_struct_without_fields_keeps_its_nulls():
    column = pa.array(ROWS, SCHEMA.field("s").type)
    assert narrowed(column, pa.struct([])).to_pylist() == [{}, None, {}, {}]
    assert widened(narrowed(column, pa.struct([])), column.type).is_null().to_pylist() == [False, True, False, False]


def test_a_column_of_the_type_already_is_the_same():
    column = pa.array(ROWS, SCHEMA.field("s").type)
    assert narrowed(column, column.type) is column
    assert widened(column, column.type) is column
