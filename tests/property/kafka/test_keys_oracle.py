"""Keys and values, decoded in batches and put side by side, give what a few lines of plain Python give record by record."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.reader.fetcher import Fetched
from datasources.kafka.reader.record_chunks import ChunkMaker
from datasources.source.api.reader import ReadCounts
from tests.support.kafka.kafka_records import record, source_of

Row = tuple[object, object, object, object]
"""id, region, name and the kind of the row."""

ids = st.none() | st.integers(-3, 3) | st.just("x")
keys = st.none() | st.just(b"{") | st.fixed_dictionaries({}, optional={"id": ids, "region": st.sampled_from("ab")})
values = (
    st.none()
    | st.just(b"[")
    | st.fixed_dictionaries({}, optional={"id": ids, "region": st.sampled_from("cd"), "name": st.text(max_size=2)})
)
CASES = list(product(["ALL", "EXCEPT_KEY"], [False, True], [False, True], ["null", "skip"]))


@cache
def maker(include: str, is_upsert: bool, is_required: bool, on_error: str) -> ChunkMaker:  # noqa: FBT001 - a case
    """One for all batches of a case: what its decoders learned must not show."""
    options = {"scan__upsert": "true", "primary_key": "id;region"} if is_upsert else {"key__fields": "id;region"}
    source = source_of(
        {"row_kind": "row_kind"},
        format="json",
        schema=f"id BIGINT{' NOT NULL' if is_required else ''}, region STRING, name STRING",
        key__format="json",
        value__fields_include=include,
        format__on_error=on_error,
        **options,
    )
    return ChunkMaker(source.reader_factory().chunk_format(None))


def is_bad(part: object, fields: tuple[str, ...], *, is_required: bool) -> bool:
    """Whether a key or value that is there cannot be decoded into these columns."""
    if not isinstance(part, dict):
        return True
    number = part.get("id")
    return "id" in fields and (number == "x" or (is_required and number is None))


def expected(key, value, include: str, *, is_upsert: bool, is_required: bool) -> Row | str:
    """The row of one record, or what it is counted as."""
    in_value = ("id", "region", "name") if include == "ALL" else ("name",)
    if value is None and not is_upsert:
        return "null_value"
    if value is not None and is_bad(value, in_value, is_required=is_required):
        return "bad"
    if key is None and (is_upsert or (is_required and include == "EXCEPT_KEY")):
        return "bad"
    if key is not None and is_bad(key, ("id", "region"), is_required=is_required):
        return "bad"
    found = dict.fromkeys(("id", "region", "name")) | (key or {})
    if value is not None:
        found |= {name: value.get(name) for name in in_value}
    kind = "+I" if not is_upsert else "-D" if value is None else "+U"
    return found["id"], found["region"], found["name"], kind


@pytest.mark.parametrize(("include", "is_upsert", "is_required", "on_error"), CASES)
@settings(max_examples=12, deadline=None)
@given(records=st.lists(st.tuples(keys, values), min_size=1, max_size=25))
def test_a_batch_gives_the_rows_of_plain_python(include, is_upsert, is_required, on_error, records):
    messages = [record(offset * 2, key, value) for offset, (key, value) in enumerate(records)]
    part = Fetched(topic="orders", partition=3, records=MessageRecords(messages))
    (chunk,) = maker(include, is_upsert, is_required, on_error).chunks([part])
    rows = [expected(*pair, include, is_upsert=is_upsert, is_required=is_required) for pair in records]
    shown = {offset * 2: row for offset, row in enumerate(rows) if isinstance(row, tuple)}
    if on_error == "null":
        shown |= {offset * 2: (None, None, None, None) for offset, row in enumerate(rows) if row == "bad"}
    columns = [chunk.columns.column(name).to_pylist() for name in ("id", "region", "name", "row_kind")]
    positions = [chunk.position(row) for row in range(chunk.columns.num_rows)]
    assert dict(zip(positions, zip(*columns, strict=True), strict=True)) == shown
    assert positions == sorted(shown)
    assert chunk.counts == ReadCounts(bad=rows.count("bad"), null_value=rows.count("null_value"))


def test_the_cases_know_all_outcomes():
    assert expected(None, {"name": "a"}, "EXCEPT_KEY", is_upsert=False, is_required=False) == (None, None, "a", "+I")
    assert expected({"id": 1}, None, "ALL", is_upsert=True, is_required=True) == (1, None, None, "-D")
    assert expected({"id": 1}, {"name": "a"}, "ALL", is_upsert=True, is_required=False) == (None, None, "a", "+U")
    assert expected(None, None, "ALL", is_upsert=False, is_required=False) == "null_value"
    assert expected(None, {"id": 1}, "ALL", is_upsert=True, is_required=False) == "bad"
