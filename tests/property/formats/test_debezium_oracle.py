"""Debezium's events, decoded in batches, give what a few lines of plain Python give for each of them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.formats.api.decoder import ROW_KINDS, RecordStatus
from datasources.formats.debezium.debezium_json import DebeziumDecoder
from datasources.formats.schema_text.ddl import parse_schema

DDL = "id BIGINT NOT NULL, name STRING, ok BOOLEAN"
NAMES = ("id", "name", "ok")
LARGEST = 2**63 - 1

ids = st.none() | st.integers(-5, 5) | st.sampled_from([LARGEST, LARGEST + 1, "7"])
table_rows = st.none() | st.fixed_dictionaries(
    {}, optional={"id": ids, "name": st.none() | st.text(max_size=3), "ok": st.sampled_from([None, True, False, 1])}
)
events = st.fixed_dictionaries(
    {"op": st.sampled_from([*"crudt", *"crud", "x", None])},
    optional={
        "before": table_rows,
        "after": table_rows,
        "ts_ms": st.none() | st.integers(0, 10**13),
        "source": st.none() | st.just({"db": "d", "ts_ms": 3}),
        "transaction": st.none(),
    },
)
values = st.none() | events.map(json.dumps) | st.sampled_from(["", "null", "{", "[]", "1", '{"op":"c"} x'])


def fits(row: dict[str, object] | None, *, is_after: bool) -> bool:
    """Whether every value that is there has the type of its column, and `after` has an id."""
    if row is None:
        return True
    number, flag = row.get("id"), row.get("ok")
    is_number = not is_after if number is None else type(number) is int and number <= LARGEST
    return is_number and (flag is None or type(flag) is bool)


def parsed(value: str) -> dict[str, Any]:
    """The object in a text; an empty one, which is no event, if there is none."""
    try:
        found = json.loads(value)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def expected_rows(value: str | None) -> list[tuple[str, list[object]]] | None:
    """The rows of one record; None for a bad one."""
    if value is None:
        return []
    event = parsed(value)
    before, after, op = event.get("before"), event.get("after"), event.get("op")
    if not fits(before, is_after=False) or not fits(after, is_after=True):
        return None
    sides = {"c": [("+I", after)], "r": [("+I", after)], "u": [("-U", before), ("+U", after)], "d": [("-D", before)]}
    if op == "t":
        return [("T", [None] * len(NAMES))]
    wanted = sides.get(op)
    if wanted is None or any(row is None for _, row in wanted):
        return None
    return [(kind, [row.get(name) for name in NAMES]) for kind, row in wanted]


@cache
def used_decoder(*, has_schema: bool) -> DebeziumDecoder:
    """One decoder for all batches: what it learned from one must not show in the rows of another."""
    return DebeziumDecoder(parse_schema(DDL), time_zone="UTC", has_schema=has_schema)


def found_rows(decoder: DebeziumDecoder, batch: list[str | None]) -> list[list[tuple[str, list[object]]] | None]:
    decoded = decoder.decode(pa.array([None if v is None else v.encode() for v in batch], pa.binary()))
    records = range(len(batch)) if decoded.records is None else decoded.records.tolist()
    statuses = [RecordStatus.OK] * len(batch) if decoded.statuses is None else decoded.statuses.tolist()
    found = [None if status == RecordStatus.BAD else [] for status in statuses]
    rows = zip(records, decoded.kinds.tolist(), decoded.columns.to_pylist(), strict=True)
    for record, kind, row in rows:
        if statuses[record] != RecordStatus.OK:
            assert set(row.values()) == {None}
        else:
            found[record].append((ROW_KINDS[kind], list(row.values())))
    assert sorted(decoded.reasons) == [n for n, rows_of_one in enumerate(found) if rows_of_one is None]
    return found


@settings(max_examples=60, deadline=None)
@given(batch=st.lists(values, max_size=12))
def test_a_batch_of_events_gives_the_rows_of_plain_python(batch):
    assert found_rows(used_decoder(has_schema=False), batch) == [expected_rows(value) for value in batch]


@settings(max_examples=60, deadline=None)
@given(batch=st.lists(values, max_size=12), schemas=st.lists(st.sampled_from(["1", '{"a":[]}', '"ä"']), min_size=12))
def test_a_schema_around_the_events_changes_nothing(batch, schemas):
    wrapped = [
        None if value is None else f'{{"schema":{schema},"payload":{value}}}'
        for value, schema in zip(batch, schemas, strict=False)
    ]
    assert found_rows(used_decoder(has_schema=True), wrapped) == [expected_rows(value) for value in batch]
