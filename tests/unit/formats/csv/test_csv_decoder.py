"""The decoder of CSV: statuses, reasons, columns that are not wanted, types that no field can have."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.format import DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema

FORMAT = FORMATS["csv"]


def decode(ddl: str, *payloads: bytes | None, zone: str | None = "UTC", columns: Any = None, **options: Any) -> Decoded:
    given = {key.replace("_", "-"): value for key, value in options.items()}
    schema = parse_schema(ddl)
    wanted = None if columns is None else tuple(pa.field(name, pa.int32()) for name in columns)
    settings = DecoderSettings(schema=schema, columns=wanted, time_zone=zone, options=given)
    FORMAT.check(settings)
    decoder = pickle.loads(pickle.dumps(FORMAT.decoder(settings)))
    return decoder.decode(pa.array(payloads, pa.binary()))


def reason(ddl: str, payload: bytes, **options: Any) -> str:
    found = decode(ddl, payload, **options)
    assert found.columns.to_pylist() == [dict.fromkeys(parse_schema(ddl).names)]
    return found.reasons[0]


def test_each_record_has_a_status():
    found = decode("id INT, note STRING", b"1,a", None, b"2", b'3,"b,c"', b"x,d")
    empty = {"id": None, "note": None}
    assert found.columns.to_pylist() == [{"id": 1, "note": "a"}, empty, empty, {"id": 3, "note": "b,c"}, empty]
    ok, null_value, bad = RecordStatus.OK, RecordStatus.NULL_VALUE, RecordStatus.BAD
    assert found.statuses.tolist() == [ok, null_value, bad, ok, bad]
    assert dict(found.reasons) == {
        2: "it has 1 field, and the table 2",
        4: "column 'id' of type INT cannot hold 'x'",
    }
    assert decode("id INT", b"1").statuses is None
    assert decode("id INT").columns.num_rows == 0
    assert decode("id INT", None).statuses.tolist() == [null_value]


@pytest.mark.parametrize("columns", [("b",), ("a",), ()])
def test_columns_that_are_not_wanted_are_null_and_still_make_a_record_bad(columns):
    found = decode("a INT NOT NULL, b DATE", b"1,2026-01-01", b"x,2026-01-01", b"1,x", columns=columns)
    assert sorted(found.reasons) == [1, 2]
    wanted = {"a": 1, "b": dt.date(2026, 1, 1)}
    assert found.columns.to_pylist()[0] == {name: wanted[name] if name in columns else None for name in "ab"}
    with pytest.raises(SchemaError, match="the schema has no column z"):
        decode("a INT", columns=("z",))


@pytest.mark.parametrize(
    ("ddl", "payload", "options", "why"),
    [
        ("a INT", b"", {}, "the value is empty"),
        ("a INT", b"# c", {"allow_comments": True}, "it has no fields: '# c'"),
        ("a INT, b INT", b"1,2,3", {}, "it has 3 fields, and the table 2"),
        ("a STRING", b"a\xff", {}, "it is not UTF-8: byte 1 is 0xff"),
        ("a STRING", b'"a', {}, "a quote at the end of a field is missing"),
        ("a STRING", b'"a" b', {}, "behind a field in quotes there is 'b'"),
        ("a STRING", b"a\\", {"escape_character": "\\"}, "it ends with the escape character"),
        ("a STRING", b"a\nb", {}, "it has more than one line: 'b'"),
        ("a STRING", b"a\n#b\nc", {"allow_comments": True}, "it has more than one line: '#b\\nc'"),
        ("a TINYINT", b"128", {}, "column 'a' of type TINYINT cannot hold '128': it is out of range"),
        ("a INT", b"2147483648", {}, "column 'a' of type INT cannot hold '2147483648': it is out of range"),
        ("a BIGINT", b"1" * 30, {}, f"column 'a' of type BIGINT cannot hold '{'1' * 30}'"),
        ("a BINARY", b"?", {}, "column 'a' of type BINARY cannot hold '?': it is no base64"),
        ("a INT NOT NULL", b"-", {"null_literal": "-"}, "column 'a' is NOT NULL and the record has no value for it"),
        ("a STRUCT<x: INT NOT NULL>", b"-", {"null_literal": "-"}, "column 'a' has a field 'x' that is NOT NULL"),
        ("a ARRAY<INT>", b"1;x", {}, "column 'a' of type INT cannot hold 'x'"),
    ],
)
def test_the_reason_of_a_bad_record(ddl, payload, options, why):
    assert reason(ddl, payload, **options).startswith(why)


def test_the_first_column_that_a_field_does_not_fit_is_named():
    assert reason("a INT, b INT, c INT NOT NULL", b"1,x,y") == "column 'b' of type INT cannot hold 'x'"


def test_a_time_without_a_zone_is_of_the_session():
    autumn = [b"2026-10-25 02:30:00", b"2026-10-25 02:30:00Z", b"2026-03-29 02:30:00", b"2026-07-01 00:00:00.25"]
    found = decode("at TIMESTAMP", *autumn, zone="Europe/Berlin").columns.column("at").to_pylist()
    assert found == [
        dt.datetime(2026, 10, 25, 0, 30, tzinfo=dt.UTC),
        dt.datetime(2026, 10, 25, 2, 30, tzinfo=dt.UTC),
        dt.datetime(2026, 3, 29, 1, 30, tzinfo=dt.UTC),
        dt.datetime(2026, 6, 30, 22, 0, 0, 250_000, tzinfo=dt.UTC),
    ]
    assert "it names no zone" in decode("at TIMESTAMP", autumn[0], zone=None).reasons[0]
    assert decode("at TIMESTAMP", autumn[1], zone=None).statuses is None


def test_comments_may_follow_the_line_where_they_are_allowed():
    assert decode("a INT", b"# one\n\n 1\n# two\n", allow_comments=True).columns.to_pylist() == [{"a": 1}]


def test_a_slice_of_a_batch_is_decoded():
    payloads = pa.array([b"%d,x" % n for n in range(20)], pa.binary())
    decoder = FORMAT.decoder(DecoderSettings(schema=parse_schema("a INT, b STRING")))
    assert decoder.decode(payloads[7:15]).columns.column("a").to_pylist() == list(range(7, 15))


def test_many_columns_and_quotes():
    names = [f"c{n}" for n in range(300)]
    line = ",".join(f'"{n}"' for n in range(300)).encode()
    found = decode(", ".join(f"{name} INT" for name in names), line, line.replace(b'"', b""))
    assert found.columns.to_pylist() == [dict(zip(names, range(300), strict=True))] * 2


@pytest.mark.parametrize("ddl", ["a MAP<STRING, INT>", "a ARRAY<ARRAY<INT>>", "a STRUCT<x: ARRAY<INT>>"])
def test_types_that_no_field_can_have_are_refused(ddl):
    with pytest.raises(SchemaError, match="column 'a': a field of CSV is one value, an ARRAY of values or a STRUCT"):
        decode(ddl)


def test_a_zone_that_does_not_exist_is_refused():
    with pytest.raises(OptionError, match="there is no time zone 'Nowhere'"):
        decode("a INT", zone="Nowhere")
