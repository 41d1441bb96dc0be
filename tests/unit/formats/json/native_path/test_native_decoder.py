"""Speed is the reason for the native path: these tests are about which documents take it."""

from __future__ import annotations

from typing import Any

import pytest

from datasources.formats.schema_text.ddl import parse_schema
from tests.support.native_documents import check


def decoded_natively(library: Any, ddl: str, document: str, zone: str | None = "UTC") -> bool:
    return check(library, parse_schema(ddl), [document.encode()], zone).tolist() == [True]


@pytest.mark.parametrize(
    ("ddl", "document"),
    [
        ("a TINYINT, b SMALLINT, c INT, d BIGINT", '{"a":-99,"b":9999,"c":-999999999,"d":999999999999999999}'),
        ("a FLOAT, b DOUBLE", '{"a":1.5,"b":-0.0}'),
        (
            "a DECIMAL(10, 2), b DECIMAL(38, 18), c DECIMAL(2, 2)",
            '{"a":12345678.05,"b":"1.000000000000000001","c":0.99}',
        ),
        ("a STRING, b STRING, c STRING", '{"a":"\\"\\u00e9\\ud83d\\ude00\\n é😀","b":17,"c":true}'),
        (
            "a DATE, b TIMESTAMP_NTZ, c BINARY, d BOOLEAN",
            '{"a":"2026-01-31","b":"2026-01-01 12:00:00","c":"AQI=","d":false}',
        ),
        (
            "a STRUCT<x: INT, y: ARRAY<STRING>>, b MAP<STRING, DATE>",
            '{"a":{"x":1,"y":["k",null]},"b":{"k":"2026-01-31"}}',
        ),
        ("a INT", ' { "a" : 1 , "other" : { "x" : [ 1 , "y" , { "z" : null } ] } } '),
        ("a INT, b INT", '{"b":2,"a":null}'),
        ("a STRUCT<x: INT>, op STRING", '{"op":"u","a":{"x":1}}'),
        ("s STRUCT<b: BINARY, i: STRUCT<c: BINARY NOT NULL>>", '{"s":{"b":"AQI=","i":{"c":"AA=="}}}'),
        ("l ARRAY<BINARY>, s ARRAY<STRUCT<b: BINARY>>", '{"l":["AQI=",null],"s":[{"b":"AA=="}]}'),
        ("m MAP<STRING, INT>", '{"m":{"k":1,"k":2}}'),
        ("a STRUCT<>", '{"a":{}}'),
    ],
)
def test_ordinary_documents_of_every_type_take_the_native_path(library, ddl, document):
    assert decoded_natively(library, ddl, document)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", '"2026-01-01T00:00:00"'),
        ("UTC", '"2026-01-01 00:00:00+01:30"'),
        ("Europe/Berlin", '"2026-01-01T00:00:00"'),
        ("Europe/Berlin", '"2026-01-01T00:00:00Z"'),
        ("Europe/Berlin", "1767225600"),
        (None, '"2026-01-01T00:00:00Z"'),
        (None, "1767225600"),
    ],
)
def test_timestamps_of_each_common_format_take_the_native_path(library, zone, text):
    assert decoded_natively(library, "a TIMESTAMP", f'{{"a":{text}}}', zone)
