"""Nothing but `BadRecord` leaves a decoder, whatever the record holds: `format.on-error` decides what becomes of it."""

# ruff: noqa: RUF001 - digits of other scripts are the point

from __future__ import annotations

import random
from typing import Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.api.decoder import RecordStatus
from datasources.formats.debezium.debezium_json import DebeziumDecoder
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.raw import RawDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.property.formats.test_json_paths import assert_same_as_exact

pytestmark = pytest.mark.usefixtures("both_ways")

TYPES: Final = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "STRING",
    "BINARY",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "DECIMAL(38,18)",
    "DECIMAL(38,0)",
    "DECIMAL(38,38)",
    "DECIMAL(10,2)",
    "DECIMAL(1,0)",
]
NESTINGS: Final = (
    ("{t}", "{v}"),
    ("ARRAY<{t}>", "[{v},null,{v}]"),
    ("MAP<STRING,{t}>", '{{"k":{v},"k":{v}}}'),
    ("STRUCT<x:{t}>", '{{"x":{v}}}'),
    ("ARRAY<STRUCT<x:MAP<STRING,ARRAY<{t}>>>>", '[{{"x":{{"k":[{v}]}}}}]'),
)
LENGTHS: Final = (1, 3, 10, 19, 40, 999, 1_000, 1_001, 4_300, 4_301, 5_000)
RUNS: Final = (
    "9",
    "0",
    "1",
    "7",
    "٣",
    "٠",
    "\U0001d7d8",
    "²",
    ",",
    " ",
    "A",
    "A==",
    "AA==",
    "GMT",
    "\\ud83d",
    "\\u0000",
    "-",
)
AROUND: Final = (
    ("", ""), ("-", ""), ("+", ""), ("0.", ""), ("", ".5"), ("1e", ""), ("1e-", ""), ("1E+", "1"), ("0e", ""), ("", "1"), ("", "."), ("", "e"),
    ("2026-01-01T00:00:00.", "Z"), ("2026-01-01T00:00:00.", ""), ("2026-01-01T00:00:00+", ""), ("2026-01-01T00:00:00 ../", ""),
    ("2026-01-01T00:00:00 Europe/", ""), ("", "-01-01"), ("2026-", ""), ("2026-01-", ""), ("2026-01-01T", ":00"), ("P", "Y"), ("GMT", "GMT"), (" ", "\\n"),
)  # fmt: skip
ALONE: Final = [
    "NaN",
    "Infinity",
    "-Infinity",
    "+INF",
    '"NaN"',
    '"sNaN"',
    '"Infinity"',
    "1e99999",
    "1e-99999",
    "1e100000",
    '"1e100000"',
    '"1e-100000"',
    '"1e100001"',
    "0e999999",
    '"0e-99999"',
    '"0E+99999999"',
    '"-2147483648"',
    '"-2147483649"',
    '"2147483647"',
    '"2147483648"',
    '"-141428"',
    '"999999-12-31T23:59:59"',
    '"-999999-01-01"',
    '"9999999-12-31"',
    '"-999999-01-01T00:00:00 Europe/Berlin"',
    '"999999-12-31T23:59:59 Europe/Berlin"',
    '"294247-01-10T04:00:54.775808Z"',
    '{"":null}',
    '{"a":{"a":{}}}',
    "[[[[]]]]",
    '{"\\ud83d":1}',
    '{"k":1,"k":2}',
    '"\\ud83d\\u0000\\udc00"',
    "3.5e38",
    "1e-46",
    "5e-324",
    "1.8e308",
    '"12\\n"',
    "[null]",
    "null",
    '""',
    '"\u2028"',
    "true",
    "{}",
    "[]",
]


def hostile_value(rng: random.Random) -> str:
    """Return the text of a value: long, of odd digits, beyond a limit, nested deep."""
    kind = rng.randrange(6)
    length = rng.choice(LENGTHS)
    if kind == 0:
        return rng.choice(ALONE)
    if kind == 1:
        return rng.choice(("[" * length + "]" * length, '{"a":' * length + "1" + "}" * length))
    if kind == 2:
        return rng.choice(("", "-", "0.", "1e", "1e-")) + rng.choice("90") * length + rng.choice(("", ".5", "e9"))
    before, behind = rng.choice(AROUND)
    return '"' + before + rng.choice(RUNS) * length + behind + '"'


def document(rng: random.Random, around: str) -> bytes:
    return ('{"a":' + around.format(v=hostile_value(rng)) + "}").encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("spark_type", TYPES)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32), nesting=st.sampled_from(NESTINGS), zone=st.sampled_from(["UTC", "Europe/Berlin", None])
)
def test_hostile_values_of_every_type_are_decoded_or_bad(spark_type, seed, nesting, zone):
    rng = random.Random(seed)
    ddl = "a " + nesting[0].format(t=spark_type)
    batch = [document(rng, nesting[1]) for _ in range(12)]
    decoded = JsonDecoder(parse_schema(ddl), time_zone=zone).decode(pa.array(batch, pa.binary()))
    assert_same_as_exact(decoded, batch, ddl, zone)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), has_schema=st.booleans(), spark_type=st.sampled_from(TYPES))
def test_hostile_change_events_are_decoded_or_bad(seed, has_schema, spark_type):
    rng = random.Random(seed)
    row = parse_schema(f"a {spark_type}")
    keys = ("ingestion-timestamp", "source.timestamp", "source.properties", "source.database")
    decoder = DebeziumDecoder(row, metadata=keys[: rng.randrange(5)], time_zone="UTC", has_schema=has_schema)
    events = [
        f'{{"before":{rng.choice(["null", "{}", hostile_value(rng)])},"after":{{"a":{hostile_value(rng)}}},'
        f'"op":{hostile_value(rng) if rng.random() < 0.3 else rng.choice(OPS)},'
        f'"ts_ms":{hostile_value(rng)},"source":{{"ts_ms":{hostile_value(rng)},"db":{hostile_value(rng)}}}}}'
        for _ in range(8)
    ]
    wrapped = [f'{{"schema":{rng.choice(HEADS)},"payload":{event}}}' if has_schema else event for event in events]
    values = [text.encode("utf-8", "surrogatepass") for text in wrapped]
    decoded = decoder.decode(pa.array(values, pa.binary()))
    assert decoded.columns.schema.names[: len(row)] == row.names
    assert set(decoded.reasons) == set(bad_ones(decoded))


OPS: Final = ('"c"', '"u"', '"d"', '"r"', '"t"', '"\\ud83d"')
HEADS: Final = ("{}", "null", '{"x":' + "9" * 5_000 + "}", "[" * 900 + "]" * 900, '"\\ud83d"', "{")


def bad_ones(decoded):
    statuses = decoded.statuses
    return [] if statuses is None else np.flatnonzero(statuses == RecordStatus.BAD).tolist()


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.none() | st.binary(max_size=20), max_size=8), spark_type=st.sampled_from(TYPES[:9]))
def test_any_bytes_are_a_raw_value_or_bad(values, spark_type):
    decoded = RawDecoder(parse_schema(f"a {spark_type}")).decode(pa.array(values, pa.binary()))
    assert set(decoded.reasons) == set(bad_ones(decoded))
    for at, value in enumerate(values):
        is_bad = at in decoded.reasons
        assert decoded.columns.column(0)[at].is_valid == (value is not None and not is_bad)


@pytest.mark.parametrize("digits", ["9" * 5_000, "-" + "9" * 5_000, "9" * 1_000_000, "٩" * 5_000])
def test_a_date_of_thousands_of_digits_is_a_bad_record(digits):
    decoder = JsonDecoder(parse_schema("a DATE, b INT"), time_zone="UTC")
    values = [f'{{"a":"{digits}","b":1}}', '{"a":"2026-01-01","b":2}']
    decoded = decoder.decode(pa.array([value.encode() for value in values], pa.binary()))
    assert bad_ones(decoded) == [0]
    assert "beyond the range" in decoded.reasons[0]


@pytest.mark.parametrize(
    ("text", "days"), [("0" * 5_000 + "7", 7), ("-" + "0" * 5_000, 0), ("٠" * 5_000 + "٣", 3), ("+7", 7)]
)
def test_zeros_before_a_count_of_days_mean_nothing(text, days):
    decoder = JsonDecoder(parse_schema("a DATE"), time_zone="UTC")
    decoded = decoder.decode(pa.array([f'{{"a":"{text}"}}'.encode()], pa.binary()))
    assert decoded.columns.column(0).cast(pa.int32()).to_pylist() == [days]
