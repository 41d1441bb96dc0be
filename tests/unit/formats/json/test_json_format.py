from __future__ import annotations

import pickle
import random
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.schema_text.ddl import parse_schema

pytestmark = pytest.mark.usefixtures("both_ways")

ORDERS = "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP"


def decode(
    ddl: str, *documents: str | bytes | None, zone: str | None = "UTC", columns: tuple[str, ...] | None = None
) -> Decoded:
    values = [d.encode() if isinstance(d, str) else d for d in documents]
    schema = parse_schema(ddl)
    wanted = None if columns is None else tuple(map(schema.field, columns))
    return JsonDecoder(schema, time_zone=zone, columns=wanted).decode(pa.array(values, pa.binary()))


def test_a_record_becomes_a_row_of_typed_values():
    decoded = decode(ORDERS, '{"user":123,"item":"abc-17","price":12.5,"ts":"2026-01-01T00:00:00.123Z"}')
    assert decoded.columns.schema == parse_schema(ORDERS)
    assert decoded.columns.to_pylist() == [
        {"user": 123, "item": "abc-17", "price": 12.5, "ts": datetime(2026, 1, 1, 0, 0, 0, 123_000, tzinfo=UTC)}
    ]
    assert decoded.statuses is None
    assert decoded.reasons == {}


def test_strings_are_decoded_like_bytes_and_an_empty_batch_gives_an_empty_one():
    decoder = JsonDecoder(parse_schema("a INT"), time_zone=None)
    assert decoder.decode(pa.array(['{"a":1}', None], pa.string())).columns.to_pydict() == {"a": [1, None]}
    empty = decoder.decode(pa.array([], pa.binary()))
    assert (empty.columns.num_rows, empty.statuses) == (0, None)


def test_a_slice_of_a_longer_batch_is_decoded_by_itself():
    values = pa.array([b"{}", b'{"a":1}', b'{"a":', None], pa.binary())[1:]
    decoded = JsonDecoder(parse_schema("a INT"), time_zone=None).decode(values)
    assert decoded.columns.to_pydict() == {"a": [1, None, None]}
    assert list(decoded.reasons) == [1]


def test_a_kafka_null_value_is_no_bad_record():
    decoded = decode("a INT NOT NULL", None, '{"a":1}')
    assert decoded.statuses is not None
    assert decoded.statuses.tolist() == [RecordStatus.NULL_VALUE, RecordStatus.OK]
    assert decoded.reasons == {}


@pytest.mark.parametrize(
    ("ddl", "document", "reason"),
    [
        ("a INT", "", "the value is empty"),
        ("a INT", " \n", "the value is empty"),
        ("a INT", "null", "the document is null, not an object: 'null'"),
        ("a INT", '[{"a":1}]', "the document is an array, not an object: '[{\"a\":1}]'"),
        ("a INT", "17", "the document is a single value, not an object: '17'"),
        ("a INT", '{"a":1} x', "malformed JSON at character 9, 'x': the end of the document was expected"),
        ("a INT", '{"a":1', "malformed JSON: the text ends at character 6; ',' or '}' was expected"),
        ("a INT", '{"a":01}', "malformed JSON at character 6, '01}': a value was expected"),
        ("a INT", '{"a":"1"}', "column 'a' of type INT cannot hold '1'"),
        ("a INT", '{"a":1.0}', "column 'a' of type INT cannot hold 1.0"),
        ("a INT", '{"a":2147483648}', "column 'a' of type INT cannot hold 2147483648: it is out of range"),
        ("a BOOLEAN", '{"a":"true"}', "column 'a' of type BOOLEAN cannot hold 'true'"),
        ("a DOUBLE", '{"a":true}', "column 'a' of type DOUBLE cannot hold true"),
        ("a FLOAT", '{"a":{}}', "column 'a' of type FLOAT cannot hold an object"),
        ("a DECIMAL(4, 1)", '{"a":1000}', "column 'a' of type DECIMAL(4, 1) cannot hold 1000: it has too many digits"),
        ("a DECIMAL(4, 1)", '{"a":999.95}', "column 'a' of type DECIMAL(4, 1) cannot hold 999.95: it has too many digits"),
        ("a DECIMAL(4, 1)", '{"a":1e-200000}', "column 'a' of type DECIMAL(4, 1) cannot hold 1e-200000"),
        ("a BINARY", '{"a":"AQ"}', "column 'a' of type BINARY cannot hold 'AQ': it is no base64"),
        ("a DATE", '{"a":20000}', "column 'a' of type DATE cannot hold 20000"),
        ("a TIMESTAMP", '{"a":"2026-02-30T00:00:00Z"}', "column 'a' of type TIMESTAMP cannot hold '2026-02-30T00:00:00Z': it is an invalid date or time"),
        ("a TIMESTAMP", '{"a":9223372036855}', "column 'a' of type TIMESTAMP cannot hold 9223372036855: as seconds since 1970 it is out of range"),
        ("a TIMESTAMP_NTZ", '{"a":"2026-01-01T00:00:00Z"}', "column 'a' of type TIMESTAMP_NTZ cannot hold '2026-01-01T00:00:00Z': a TIMESTAMP_NTZ has no zone"),
        ("a INT NOT NULL", "{}", "column 'a' is NOT NULL and the record has no value for it"),
        ("a INT NOT NULL", '{"a":null}', "column 'a' is NOT NULL and the record has no value for it"),
        ("a STRUCT<b: ARRAY<STRUCT<c: INT NOT NULL>>>", '{"a":{"b":[{"c":1},{}]}}', "column 'a.b[].c' is NOT NULL and the record has no value for it"),
        ("a STRUCT<b: INT>", '{"a":[]}', "column 'a' of type STRUCT cannot hold an array"),
        ("a ARRAY<INT>", '{"a":{}}', "column 'a' of type ARRAY cannot hold an object"),
        ("a MAP<STRING, INT>", '{"a":{"k":"x"}}', "column 'a[]' of type INT cannot hold 'x'"),
        ("a INT, b INT", '{"a":1,"a":"x","a":2}', "column 'a' of type INT cannot hold 'x'"),
    ],
)  # fmt: skip
def test_a_bad_record_has_a_reason(ddl, document, reason):
    decoded = decode(ddl, document)
    assert decoded.statuses is not None
    assert decoded.statuses.tolist() == [RecordStatus.BAD]
    assert decoded.reasons == {0: reason}
    assert set(decoded.columns.to_pylist()[0].values()) == {None}


def test_a_reason_shows_little_of_a_large_payload():
    text = "secret" * 1000
    for document in (f'{{"a":"{text}"}}', text, f'{{"a":{text}'):
        assert len(decode("a INT", document).reasons[0]) < 200


def test_the_error_of_a_text_without_a_zone_has_a_hint():
    assert "set scan.session.time-zone" in decode("a TIMESTAMP", '{"a":"2026-01-01T00:00:00"}', zone=None).reasons[0]
    row = decode("a TIMESTAMP", '{"a":"2026-01-01T00:00:00+01:00"}', zone=None).columns.to_pylist()[0]
    assert row["a"] == datetime(2025, 12, 31, 23, tzinfo=UTC)


def test_nested_values_and_the_last_of_several_members_are_taken():
    ddl = "s STRUCT<x: INT, y: ARRAY<DECIMAL(5, 2)>>, m MAP<STRING, INT>, t STRING"
    decoded = decode(
        ddl, '{"t":"x","s":{"x":1},"s":{"y":[1.005,null]},"m":{"k":1,"k":2},"t":{"b" : [1.50, 1e3]},"other":[]}'
    )
    assert decoded.columns.to_pylist() == [
        {"s": {"x": None, "y": [Decimal("1.01"), None]}, "m": [("k", 1), ("k", 2)], "t": '{"b":[1.5,1000.0]}'}
    ]


def test_only_the_wanted_columns_are_filled_and_the_others_still_decide_what_is_bad():
    decoded = decode(
        "a INT, b INT, c INT NOT NULL", '{"a":1,"b":2,"c":3}', '{"a":1,"b":"x","c":3}', '{"a":1}', columns=("a",)
    )
    assert decoded.columns.to_pydict() == {"a": [1, None, None], "b": [None] * 3, "c": [None] * 3}
    assert list(decoded.reasons) == [1, 2]


def test_no_column_at_all_may_be_wanted():
    decoded = decode("a INT", '{"a":1}', '{"a":"x"}', columns=())
    assert decoded.columns.to_pydict() == {"a": [None, None]}
    assert list(decoded.reasons) == [1]


def test_a_record_of_a_megabyte_and_one_nested_a_thousand_deep_are_decoded():
    large, deep = "x" * 1_000_000, '{"a":' * 999 + "{}" + "}" * 999
    decoded = decode(
        "a STRING, b INT",
        f'{{"a":"{large}","b":1}}',
        deep,
        '{"a":' + deep + "}",
        f'{{"z":{"[" * 999}{"]" * 999},"b":2}}',
    )
    assert decoded.columns.column(0).to_pylist() == [large, deep[5:-1], None, None]
    assert decoded.columns.column(1).to_pylist() == [1, None, None, 2]
    assert decoded.reasons == {2: "objects and arrays are nested more than 1000 deep"}


def test_wrong_utf8_is_replaced_as_java_replaces_it():
    decoded = decode("a STRING", b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xc0\x80"}', b"\xff{}")
    assert decoded.columns.column(0).to_pylist() == ["\ufffd", "\ufffd", "\ufffd\ufffd", None]
    assert list(decoded.reasons) == [3]


def test_a_decoder_travels_by_pickle_also_after_use():
    decoder = JsonDecoder(parse_schema(ORDERS), time_zone="Europe/Berlin", columns=(parse_schema(ORDERS).field("ts"),))
    values = pa.array([b'{"ts":"2026-07-01T00:00:00"}'], pa.binary())
    before = decoder.decode(values).columns
    copy = pickle.loads(pickle.dumps(decoder))
    assert copy == decoder
    assert copy.decode(values).columns == before


def test_local_times_are_right_around_every_change_of_the_clocks():
    texts = [
        f"2026-{day}T{h:02}:{m:02}:30" for day in ("03-29", "10-25", "07-01") for h in range(5) for m in range(0, 60, 7)
    ]
    random.Random(1).shuffle(texts)
    fast = decode("a TIMESTAMP", *(f'{{"a":"{text}"}}' for text in texts), zone="Europe/Berlin").columns.column(0)
    # A document in single quotes never takes the quick way.
    exact = decode("a TIMESTAMP", *(f"{{'a':'{text}'}}" for text in texts), zone="Europe/Berlin").columns.column(0)
    assert fast == exact


def test_an_unknown_zone_an_unknown_column_and_a_map_without_text_keys_are_errors():
    with pytest.raises(OptionError, match=r"no time zone 'Mars'.*scan.session.time-zone"):
        JsonDecoder(parse_schema("a INT"), time_zone="Mars")
    with pytest.raises(SchemaError, match="no column b"):
        JsonDecoder(parse_schema("a INT"), time_zone=None, columns=(pa.field("b", pa.int32()),))
    with pytest.raises(SchemaError, match=r"column 's\.m\[\]'.*MAP<STRING"):
        JsonDecoder(parse_schema("s STRUCT<m: ARRAY<MAP<INT, INT>>>"), time_zone=None)
