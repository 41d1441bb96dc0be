"""Records as Flink 2.2 reads them: the rows of its CsvRowDataDeserializationSchema, and what is refused here instead."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from datasources.formats.api.format import DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema

BAD = None
"""Flink fails."""

RESULTS = [
    (
        "a INT, b STRING",
        {},
        {
            b"1,x": ["1", "x"],
            b"1,x\n": ["1", "x"],
            b"1,x\r\n": ["1", "x"],
            b"1,x\r": ["1", "x"],
            b"1,x\n2,y": ["1", "x"],
            b"1,x\n2": ["1", "x"],
            b"1,": ["1", ""],
            b"1": BAD,
            b"": BAD,
            b"\n": BAD,
            b" ": BAD,
            b",": BAD,
            b'"1","x"': ["1", "x"],
            b'1,"x""y"': ["1", 'x"y'],
            b'1,"x"z': BAD,
            b'1,"x" \t': ["1", "x"],
            b'1,x"y': ["1", 'x"y'],
            b'1, "x"': ["1", ' "x"'],
            b'1,"x': BAD,
            b"1,x,": ["1", "x"],
            b"1,x, ": ["1", "x"],
            b"1,x,y": BAD,
            b"1,x,,": BAD,
            b" 1 ,x": ["1", "x"],
            b'1,"a\nb"': ["1", "a\nb"],
            b"1,x\n\n": ["1", "x"],
            b"#1,x": BAD,
            b"\xef\xbb\xbf1,x": ["1", "x"],
            b"1,\xff": BAD,
            b"1,null": ["1", "null"],
            b"null,x": BAD,
            b"NULL,x": BAD,
            b'1,""': ["1", ""],
            b'"",x': BAD,
            b"1,x\n ": ["1", "x"],
            b"+1,x": ["1", "x"],
            b"1.0,x": BAD,
            b"0x1,x": BAD,
            b"\xe2\x80\x871\xe2\x80\x87,x": BAD,
            b"2147483648,x": BAD,
            b"-2147483648,x": ["-2147483648", "x"],
            b'1,"x"\n': ["1", "x"],
            b'1,"x"\r\n2,y': ["1", "x"],
        },
    ),
    (
        "a BOOLEAN",
        {},
        {
            b"true": [True],
            b"TRUE": [True],
            b"True": [True],
            b"false": [False],
            b"1": [False],
            b"yes": [False],
            b" true ": [True],
            b"": BAD,
            b"t": [False],
            b"null": [False],
        },
    ),
    (
        "a BIGINT",
        {},
        {
            b"1": ["1"],
            b"9223372036854775808": BAD,
            b"1e3": BAD,
            b"-0": ["0"],
            b"00012": ["12"],
            b"": BAD,
            b"--1": BAD,
            b"1_0": BAD,
        },
    ),
    (
        "a TINYINT",
        {},
        {
            b"1": ["1"],
            b"128": BAD,
            b"-128": ["-128"],
            b"255": BAD,
            b"": BAD,
        },
    ),
    (
        "a DOUBLE",
        {},
        {
            b"1": ["1.0"],
            b"1e3": ["1000.0"],
            b"NaN": ["NaN"],
            b"Infinity": ["Infinity"],
            b"-Infinity": ["-Infinity"],
            b"+Infinity": ["Infinity"],
            b"nan": BAD,
            b"inf": BAD,
            b"1d": ["1.0"],
            b"1f": ["1.0"],
            b"1D": ["1.0"],
            b"0x1p3": ["8.0"],
            b"1e400": ["Infinity"],
            b"1e-400": ["0.0"],
            b".5": ["0.5"],
            b"5.": ["5.0"],
            b"": BAD,
            b"1,5": BAD,
            b" 1 ": ["1.0"],
            b"-0.0": ["-0.0"],
            b"1_0": BAD,
            b"0x10": BAD,
        },
    ),
    (
        "a FLOAT",
        {},
        {
            b"1.1": ["1.1"],
            b"1e40": ["Infinity"],
            b"16777217": ["1.6777216E7"],
            b"1f": ["1.0"],
            b"NaN": ["NaN"],
            b"1.00000017881393421514957253748434595763683319091796875001": ["1.0000001"],
            b"0x1p3": ["8.0"],
        },
    ),
    (
        "a DECIMAL(5,2)",
        {},
        {
            b"1": ["1.00"],
            b"1.005": ["1.01"],
            b"1.015": ["1.02"],
            b"999.994": ["999.99"],
            b"999.995": [None],
            b"1000": [None],
            b"1e2": ["100.00"],
            b"1e-3": ["0.00"],
            b" 1": BAD,
            b"1 ": BAD,
            b"": BAD,
            b"-1.005": ["-1.01"],
            b"1E+2": ["100.00"],
            b"1,000": BAD,
            b"0x1": BAD,
            b"NaN": BAD,
            b"+1.5": ["1.50"],
            b".5": ["0.50"],
            b"5.": ["5.00"],
            b"-.5e1": ["-5.00"],
            b"1e5000000": [None],
        },
    ),
    (
        "a DATE",
        {},
        {
            b"2026-01-02": ["20455"],
            b"2026-1-2": ["20455"],
            b"2026-02-30": ["20514"],
            b"2026-13-01": BAD,
            b" 2026-01-02": BAD,
            b"2026-01-02 ": BAD,
            b"": BAD,
            b"10000-01-01": BAD,
            b"0001-01-01": ["-719162"],
            b"2026-02-29": ["20513"],
            b"999-01-01": BAD,
            b"2026-01-32": BAD,
            b"1500-02-28": ["-171606"],
            b"0000-01-01": ["-719162"],
            b"2026-01-02T00:00": BAD,
            b"+2026-01-02": BAD,
            b"2026-001-02": BAD,
            b"2026--1-02": BAD,
        },
    ),
    (
        "a TIMESTAMP_NTZ",
        {},
        {
            b"2026-01-02 03:04:05": ["2026-01-02T03:04:05"],
            b"2026-01-02T03:04:05": BAD,
            b"2026-01-02 03:04:05.1": ["2026-01-02T03:04:05.100"],
            b"2026-01-02 03:04:05.123456789": ["2026-01-02T03:04:05.123456789"],
            b"2026-01-02 03:04:05.": ["2026-01-02T03:04:05"],
            b"2026-01-02 3:4:5": BAD,
            b"2026-1-2 03:04:05": BAD,
            b"2026-01-02 03:04": BAD,
            b"2026-01-02": BAD,
            b"2026-02-30 00:00:00": ["2026-02-28T00:00"],
            b"2026-01-02 24:00:00": ["2026-01-03T00:00"],
            b"2026-01-02 23:59:60": BAD,
            b"2026-01-02 03:04:05Z": BAD,
            b" 2026-01-02 03:04:05": ["2026-01-02T03:04:05"],
            b"2026-01-02 03:04:05 ": ["2026-01-02T03:04:05"],
            b"": BAD,
            b"2026-01-02 03:04:05.1234567890": BAD,
            b"0001-01-01 00:00:00": ["0001-01-01T00:00"],
            b"9999-12-31 23:59:59.999999": ["9999-12-31T23:59:59.999999"],
            b"12026-01-02 03:04:05": BAD,
            b"1500-01-01 00:00:00": ["1500-01-01T00:00"],
            b"2026-01-02 99:00:00": BAD,
            b"2026-01-02 03:61:05": BAD,
            b"2026-01-32 00:00:00": BAD,
            b"2026-02-29 00:00:00": ["2026-02-28T00:00"],
            b"2026-04-31 00:00:00": ["2026-04-30T00:00"],
        },
    ),
    (
        "a TIMESTAMP",
        {},
        {
            b"2026-01-02 03:04:05": BAD,
            b"2026-01-02 03:04:05Z": ["2026-01-02T03:04:05"],
            b"2026-01-02T03:04:05Z": BAD,
            b"2026-01-02 03:04:05.123456Z": ["2026-01-02T03:04:05.123456"],
            b"2026-01-02": BAD,
            b"": BAD,
            b"2026-01-02 03:04:05+01:00": BAD,
            b"0001-01-01 00:00:00": BAD,
            b"2026-02-30 00:00:00Z": ["2026-02-28T00:00"],
            b"2026-01-02 3:04:05Z": BAD,
            b"2026-01-02 03:04:05.1Z": ["2026-01-02T03:04:05.100"],
        },
    ),
    (
        "a BINARY",
        {},
        {
            b"YWJj": [[97, 98, 99]],
            b"YWI=": [[97, 98]],
            b"YWI": BAD,
            b"YQ==": [[97]],
            b"YQ": BAD,
            b"": BAD,
            b"!": BAD,
            b"YW Jj": BAD,
            b"YWJj\n": [[97, 98, 99]],
            b"_-__": BAD,
            b"YR==": [[97]],
        },
    ),
    (
        "a ARRAY<INT>",
        {},
        {
            b"1;2": [["1", "2"]],
            b"1": [["1"]],
            b"": BAD,
            b"  ": [[]],
            b";": BAD,
            b"1;": BAD,
            b";1": BAD,
            b"1;;2": BAD,
            b'"1;2"': [["1", "2"]],
            b"1; 2": [["1", "2"]],
            b"1;x": BAD,
        },
    ),
    (
        "a ARRAY<STRING>",
        {},
        {
            b"a;b": [["a", "b"]],
            b"a": [["a"]],
            b"": BAD,
            b" ": [[]],
            b";": [["", ""]],
            b"a;": [["a", ""]],
            b"a; b ": [["a", " b "]],
            b'"a;b"': [["a", "b"]],
        },
    ),
    (
        "a STRUCT<x: INT, y: STRING>",
        {},
        {
            b"1;a": [["1", "a"]],
            b"1": BAD,
            b"": BAD,
            b"1;a;b": [["1", "a"]],
            b"1;": [["1", ""]],
            b";a": BAD,
            b";": BAD,
        },
    ),
    (
        "a INT, b STRING, c ARRAY<STRING>",
        {"null-literal": "n/a"},
        {
            b"n/a,n/a,n/a": [None, None, [None]],
            b'1,"n/a",n/a;x': ["1", None, [None, "x"]],
            b"1,x, n/a": ["1", "x", [" n/a"]],
            b"1,x,": ["1", "x", []],
            b"n/a ,x,y": BAD,
        },
    ),
    (
        "a INT, b STRING, c ARRAY<STRING>",
        {"null-literal": ""},
        {
            b",,": [None, None, []],
            b'1,"",a;;b': ["1", None, ["a", None, "b"]],
            b"": BAD,
        },
    ),
    (
        "a INT, b STRING",
        {"escape-character": "\\"},
        {
            b"1,a\\,b": ["1", "a,b"],
            b"1,\\n\\t\\r\\0\\x": ["1", "\n\t\r\x00x"],
            b'1,"a\\"b"': ["1", 'a"b'],
            b"1,a\\": BAD,
            b"\\1,x": ["1", "x"],
            b'1,"a\\"': BAD,
            b'1,\\"a"': ["1", '"a"'],
            b'1,"\\n"': ["1", "\n"],
        },
    ),
    (
        "a INT, b STRING",
        {"disable-quote-character": True},
        {
            b'1,"x"': ["1", '"x"'],
            b'"1",x': BAD,
        },
    ),
    (
        "a INT, b STRING",
        {"quote-character": "'"},
        {
            b"1,'x,y'": ["1", "x,y"],
            b'1,"x"': ["1", '"x"'],
        },
    ),
    (
        "a INT, b STRING",
        {"allow-comments": True},
        {
            b"#1,x": BAD,
            b"# c\n1,x": ["1", "x"],
            b"1,x#y": ["1", "x#y"],
            b"  #1,x": BAD,
            b"  1,x": ["1", "x"],
            b"\n\n1,x": ["1", "x"],
            b"1,#x": ["1", "#x"],
            b"": BAD,
            b'1,"#x"': ["1", "#x"],
        },
    ),
    (
        "a INT, b STRING",
        {"field-delimiter": "\t"},
        {
            b"1\tx": ["1", "x"],
            b"1\t": ["1", ""],
            b'1\t"x"\t': ["1", "x"],
            b"1\tx\t": ["1", "x"],
        },
    ),
    (
        "a INT, b STRING",
        {"field-delimiter": "|", "array-element-delimiter": "::"},
        {
            b"1|x|": ["1", "x"],
        },
    ),
    (
        "a ARRAY<STRING>",
        {"array-element-delimiter": "::"},
        {
            b"a::b": [["a", "b"]],
            b"a:::b": [["a", ":b"]],
            b"a::::b": [["a", "", "b"]],
        },
    ),
    (
        "a STRING",
        {},
        {
            b"": BAD,
            b" ": [" "],
            b"\n": [""],
            b"\t": ["\t"],
            b" x ": [" x "],
            b'""': [""],
            b"a": ["a"],
            b'"a': BAD,
            b'a"': ['a"'],
            b"\r\n": [""],
            b'""""': ['"'],
            b'"\n"': ["\n"],
        },
    ),
    (
        "a STRING, b STRING",
        {},
        {
            b"": BAD,
            b" ": BAD,
            b"\n": BAD,
            b"x": BAD,
            b"x\n": BAD,
            b"\n\n": BAD,
            b'"x"': BAD,
            b"x\r\ny": BAD,
            b"\nx,y": BAD,
        },
    ),
]
"""Schema, options, and of each record the row as Flink writes its values."""

REFUSED = {
    (b"1,x\n2,y", "more than one line: '2,y'"),
    (b"1,x\n2", "more than one line: '2'"),
    (b'1,"x"\r\n2,y', "more than one line: '2,y'"),
    *((each, "of type BOOLEAN cannot hold") for each in (b"1", b"yes", b"t", b"null")),
    *((each, "cannot hold '0x1p3'") for each in (b"0x1p3",)),
    *((each, "it has too many digits") for each in (b"999.995", b"1000")),
    (b"1e5000000", "cannot hold '1e5000000'"),
    *((each, "of type DATE cannot hold") for each in (b"2026-02-30", b"2026-02-29", b"0000-01-01")),
    *(
        (each, "it is an invalid date or time")
        for each in (
            b"2026-02-30 00:00:00",
            b"2026-02-29 00:00:00",
            b"2026-04-31 00:00:00",
            b"2026-01-02 24:00:00",
            b"2026-02-30 00:00:00Z",
        )
    ),
    (b"1;a;b", "has 2 fields, and '1;a;b' has 3"),
}
"""Of which Flink makes another value, or drops what is too much, without an error."""
ACCEPTED = {
    b"2026-01-02T03:04:05": "2026-01-02T03:04:05",
    b"2026-01-02T03:04:05Z": "2026-01-02T03:04:05",
    b"2026-01-02 03:04:05+01:00": "2026-01-02T02:04:05",
    b"2026-01-02 03:04:05": "2026-01-02T03:04:05",
    b"0001-01-01 00:00:00": "0001-01-01T00:00",
}
"""Times that Flink refuses: with a `T`, and a TIMESTAMP with another zone than Z, or none."""


def shown(value: Any, arrow: pa.DataType) -> Any:
    """A value as Flink shows it; of numbers with a fraction and of times the value."""
    if value is None or pa.types.is_boolean(arrow) or pa.types.is_floating(arrow):
        return value
    if pa.types.is_binary(arrow):
        return list(value)
    if pa.types.is_list(arrow):
        return [shown(each, arrow.value_type) for each in value]
    if pa.types.is_struct(arrow):
        return [shown(value[each.name], each.type) for each in arrow]
    if pa.types.is_date(arrow):
        return str((value - dt.date(1970, 1, 1)).days)
    return value.replace(tzinfo=None) if pa.types.is_timestamp(arrow) else str(value)


def expected(text: Any, arrow: pa.DataType) -> Any:
    """The same of Flink's text."""
    if text is None:
        return None
    if pa.types.is_floating(arrow):
        return pa.scalar(text).cast(arrow).as_py()
    if pa.types.is_timestamp(arrow):
        return dt.datetime.fromisoformat(text[:26])
    return text


@pytest.mark.parametrize(("ddl", "options", "results"), RESULTS)
def test_the_rows_are_flinks(ddl, options, results):
    schema = parse_schema(ddl)
    decoder = FORMATS["csv"].decoder(DecoderSettings(schema=schema, options=options, time_zone="UTC"))
    found = decoder.decode(pa.array(list(results), pa.binary()))
    refused = dict(REFUSED)
    for record, (payload, row) in enumerate(results.items()):
        if row is not BAD and payload in refused and record in found.reasons:
            assert refused[payload] in found.reasons[record]
        elif row is BAD and not (pa.types.is_timestamp(schema.types[0]) and payload in ACCEPTED):
            assert record in found.reasons, payload
        else:
            values = [ACCEPTED[payload]] if row is BAD else row
            assert record not in found.reasons, (payload, found.reasons)
            types = schema.types
            assert [
                shown(column[record].as_py(), kind) for column, kind in zip(found.columns.columns, types, strict=True)
            ] == [
                pytest.approx(each, abs=0, rel=0, nan_ok=True) if isinstance(each, float) else each
                for each in map(expected, values, types)
            ], payload


def test_what_is_refused_is_among_the_results():
    rows = {payload: row for _, _, results in RESULTS for payload, row in results.items()}
    assert {payload for payload, _ in REFUSED} <= set(rows)
