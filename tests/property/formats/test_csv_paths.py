"""CSV: the paths of whole batches give what the paths of single records and fields give; and rows survive a writer."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.formats.api.format import DecoderSettings
from datasources.formats.csv.dialect import Dialect
from datasources.formats.csv.field_columns import FieldColumn
from datasources.formats.csv.field_values import BadField, field_converter
from datasources.formats.csv.split_batch import BatchSplitter
from datasources.formats.csv.split_line import BadRecord, line_splitter
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.zones import find_zone
from tests.support.decoded_values import plain

DIALECTS = (
    Dialect(),
    Dialect(quote=None),
    Dialect(delimiter="\t", quote="'"),
    Dialect(delimiter="|", has_comments=True),
    Dialect(delimiter=" ", has_comments=True),
    Dialect(escape="\\"),
    Dialect(delimiter="é"),
)
SPECIAL = "\",'|\t\r\n\\ #\x00é\ufeff\U0001f600;a1"
RECORDS = st.lists(
    st.one_of(st.none(), st.text(SPECIAL, max_size=9).map(str.encode), st.binary(max_size=4)), max_size=9
)


@settings(deadline=None)
@given(records=RECORDS, dialect=st.sampled_from(DIALECTS), columns=st.integers(1, 4), skipped=st.integers(0, 2))
def test_a_batch_is_split_as_its_records_are(records, dialect, columns, skipped):
    found = BatchSplitter(dialect, columns).split(pa.array(records, pa.binary())[skipped:])
    split = line_splitter(dialect, columns)
    rows, reasons = [], {}
    for index, record in enumerate(records[skipped:]):
        try:
            rows.append([None] * columns if record is None else split(record))
        except BadRecord as reason:
            rows.append([None] * columns)
            reasons[index] = str(reason)
    assert found.reasons == reasons
    assert [column.to_pylist() for column in found.columns] == [[row[at] for row in rows] for at in range(columns)]


NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.integers(-300, 300).map(str),
    st.floats().map(repr),
    st.integers(-2_000_000, 2_000_000).map(lambda n: str(Decimal(n).scaleb(-3))),
    st.from_regex(r"[+-]?[0-9]{0,3}\.?[0-9]{0,3}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)
TIMES = st.one_of(
    st.datetimes(dt.datetime(1, 1, 1)).map(str),
    st.dates().map(str),
    st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2040, 1, 1)).map(lambda at: f"{at:%Y-%m-%d %H:%M:%S}Z"),
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9]([ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,8})?Z?)?", fullmatch=True
    ),
)
TEXTS = st.lists(
    st.one_of(st.none(), NUMBERS, TIMES, st.sampled_from(["", "null", "true", "FALSE", " 1 ", "YQ==", "1;2"])),
    max_size=9,
)
TYPES = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(5, 2)",
    "DECIMAL(38, 0)",
    "DECIMAL(3, 3)",
    "STRING",
    "BINARY",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "ARRAY<INT>",
    "STRUCT<x: INT, y: STRING>",
)


@pytest.mark.parametrize("ddl", TYPES)
@settings(deadline=None, max_examples=30)
@given(texts=TEXTS, null=st.sampled_from([None, "null", ""]), zone=st.sampled_from(["UTC", "Europe/Berlin", "+05:30"]))
def test_a_column_has_the_values_of_its_fields(ddl, texts, null, zone):
    arrow = parse_schema(f"x {ddl}").types[0]
    dialect = Dialect(null_literal=null)
    column, reasons = FieldColumn(arrow, dialect, find_zone(zone)).values(pa.array(texts, pa.string()))
    column.validate(full=True)
    convert = field_converter(arrow, dialect, find_zone(zone))
    values: list[object] = []
    expected = {}
    for row, text in enumerate(texts):
        try:
            values.append(None if text is None else convert(text))
        except BadField as reason:
            values.append(None)
            expected[row] = str(reason)
    assert reasons == expected
    assert plain(column) == plain(pa.array(values, arrow))


DDL = "b BOOLEAN, i INT, l BIGINT, d DOUBLE, n DECIMAL(20, 4), s STRING, day DATE, at TIMESTAMP_NTZ, list ARRAY<STRING>"
ELEMENT = st.text(st.characters(exclude_characters=";", exclude_categories=["Cs"]), min_size=1).filter(str.strip)
ROW = st.tuples(
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.integers(-(10**19), 10**19).map(lambda n: Decimal(n).scaleb(-4)),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.dates(),
    st.datetimes(),
    st.lists(ELEMENT, max_size=3),
)


def written(row: tuple[object, ...], quoting: int) -> bytes:
    """The record of a row by Python's writer."""
    texts = [str(value).lower() if isinstance(value, bool) else value for value in row]
    texts[3] = str(row[3]).replace("inf", "Infinity")
    texts[-1] = ";".join(row[-1])  # type: ignore[arg-type]
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator="\r\n").writerow(texts)  # type: ignore[arg-type]
    return out.getvalue().encode()


@settings(deadline=None, max_examples=30)
@given(
    rows=st.lists(ROW, max_size=6), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
)
def test_rows_survive_pythons_writer(rows, quoting):
    decoder = FORMATS["csv"].decoder(DecoderSettings(schema=parse_schema(DDL)))
    found = decoder.decode(pa.array([written(row, quoting) for row in rows], pa.binary()))
    assert found.statuses is None, found.reasons
    assert [tuple(row.values()) for row in found.columns.to_pylist()] == rows
    signs = [math.copysign(1, row[3]) for row in rows]
    assert [math.copysign(1, each) for each in found.columns.column("d").to_pylist()] == signs
