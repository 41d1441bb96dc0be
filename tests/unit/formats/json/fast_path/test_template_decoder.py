"""Speed is the reason for the fast path: these tests are about which documents take it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.formats.json.fast_path.template_decoder import TemplateDecoder
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.zones import find_zone

ORDERS = "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP"


def fast_decoder(ddl: str, zone: str | None = "UTC") -> TemplateDecoder:
    schema = parse_schema(ddl)
    return TemplateDecoder(schema, schema.names, find_zone(zone) if zone else None)


def done(decoder: TemplateDecoder, *documents: str | None) -> list[bool]:
    part = decoder.decode(pa.array(documents, pa.string()))
    return [False] * len(documents) if part is None else part.is_done.tolist()


def order(i: int) -> str:
    return f'{{"user":{i},"item":"abc-{i}","price":{i}.5,"ts":"2026-01-01T00:00:00.{i % 1000:03}Z"}}'


def test_the_documents_of_one_producer_all_take_it_from_the_first_batch_on():
    decoder = fast_decoder(ORDERS)
    assert all(done(decoder, *map(order, range(1000))))
    assert all(done(decoder, *map(order, range(5000, 5100))))


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
    ],
)
def test_ordinary_documents_of_every_type_take_it(ddl, document):
    assert done(fast_decoder(ddl), document) == [True]


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
def test_timestamps_take_it_in_each_of_the_usual_forms(zone, text):
    assert done(fast_decoder("a TIMESTAMP", zone), f'{{"a":{text}}}') == [True]


@pytest.mark.parametrize(
    "document",
    ['{"user":1,"user":2}', '{"user":-0}', '{"user":1.0}', '{"user":12345678901234567890}', '{"item":1.50}', '{"item":{"a":1}}', '{"item":"\\ud83d"}', '{"ts":"2026-02-29T00:00:00Z"}',
     '{"ts":"0999-01-01T00:00:00Z"}', '{"user":1,}', '{"user":01}', "{'user':1}", '{"price":NaN}', "[]", "null", "", '{"user":1} x', '{"\\u0075ser":1}'],
)  # fmt: skip
def test_documents_that_duckdb_reads_differently_are_excluded(document):
    decoder = fast_decoder(ORDERS)
    done(decoder, *map(order, range(10)), '{"user":1}', '{"item":"x"}', '{"price":1}', '{"ts":"2026-01-01T00:00:00Z"}')
    assert done(decoder, document) == [False]


def test_members_that_come_and_go_share_one_template():
    decoder = fast_decoder("a INT, b INT, c INT")
    assert all(done(decoder, '{"a":1,"b":2,"c":3}', '{"a":1}', '{"b":2}', '{"c":3}', "{}", '{"a":1,"c":3}'))
    assert done(decoder, '{"a":1,"b":2}') == [True]
    assert len(decoder._templates) == 1


def test_a_not_null_column_is_never_left_out():
    decoder = fast_decoder("a INT NOT NULL, b INT")
    assert done(decoder, '{"a":1,"b":2}', '{"b":2}', '{"a":null,"b":1}', '{"a":1}') == [True, False, False, True]


def test_one_document_that_stops_duckdb_does_not_stop_the_others():
    decoder = fast_decoder("m MAP<STRING, INT>")
    documents = ['{"m":{"k":1,"l":2}}'] * 1000
    documents[700] = '{"m":{"k":1,"k":2}}'
    assert done(decoder, *documents).count(True) >= 1000 - 16
    assert not done(decoder, *documents)[700]


def test_documents_that_change_for_good_are_learned_anew():
    decoder = fast_decoder("a TIMESTAMP", "Europe/Berlin")
    assert all(done(decoder, *['{"a":"2026-01-01T00:00:00"}'] * 200))
    batches = [done(decoder, *['{"a":"2026-01-01T00:00:00Z"}'] * 200) for _ in range(5)]
    assert all(batches[-1])


def test_a_batch_of_nothing_but_nulls_and_a_schema_without_a_counterpart_in_duckdb_are_left_alone():
    assert fast_decoder(ORDERS).decode(pa.array([None, None], pa.string())) is None
    assert fast_decoder("a STRUCT<>").decode(pa.array(['{"a":{}}'], pa.string())) is None


def test_hopelessly_nested_documents_are_not_learned():
    decoder = fast_decoder("a INT")
    deep = [
        '{"z":' + "[" * 900 + "]" * 900 + "}",
        '{"z":' * 900 + "1" + "}" * 900,
        '{"z":' + "[[1]," * 15 + "1" + "]" * 15 + "}",
    ]
    assert done(decoder, *deep) == [False] * 3
    assert np.all(done(decoder, '{"a":1}'))
