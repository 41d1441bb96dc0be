"""Which way a document takes, C's or Python's, must never be visible in its row."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.json.slow_path import BadRecord, SlowPathDecoder
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.zones import find_zone
from tests.support.decoded_values import plain
from tests.support.format_documents import SCHEMAS, batch_of, document_of, hostile_documents, written_alike

pytestmark = pytest.mark.usefixtures("both_ways")

ZONES = ("UTC", "Europe/Berlin", "-03:30", None)


def one_by_one(exact: SlowPathDecoder, value: bytes | None) -> tuple[RecordStatus, list[object] | None, str | None]:
    if value is None:
        return RecordStatus.NULL_VALUE, None, None
    try:
        return RecordStatus.OK, exact.row(value), None
    except BadRecord as reason:
        return RecordStatus.BAD, None, str(reason)


def assert_same_as_exact(decoded: Decoded, values: list[bytes | None], ddl: str, zone: str | None) -> None:
    schema = parse_schema(ddl)
    exact = SlowPathDecoder(schema, find_zone(zone) if zone else None)
    rows: list[list[object]] = []
    for index, value in enumerate(values):
        status, row, reason = one_by_one(exact, value)
        found = RecordStatus.OK if decoded.statuses is None else RecordStatus(int(decoded.statuses[index]))
        assert (found, decoded.reasons.get(index)) == (status, reason), value
        rows.append(row or [None] * len(schema))
    assert decoded.columns.schema.equals(schema)
    for at, field in enumerate(schema):
        expected = plain(pa.array([row[at] for row in rows], field.type))
        found = plain(decoded.columns.column(at))
        different = [(values[i], e, f) for i, (e, f) in enumerate(zip(expected, found, strict=True)) if e != f]
        assert not different, (field, different[:3])


@pytest.mark.parametrize("ddl", SCHEMAS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), zone=st.sampled_from(ZONES))
def test_a_batch_gives_the_rows_that_its_documents_give_one_by_one(ddl, seed, zone):
    rng = random.Random(seed)
    decoder = JsonDecoder(parse_schema(ddl), time_zone=zone)
    for _ in range(2):
        batch = batch_of(rng, ddl, 60)
        assert_same_as_exact(decoder.decode(pa.array(batch, pa.binary())), batch, ddl, zone)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.datetimes().map(str)
    | st.decimals().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcxyzqr"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("ddl", SCHEMAS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), is_ascii=st.booleans(), zone=st.sampled_from(ZONES))
def test_documents_of_any_shape_give_the_same_rows_in_a_batch(ddl, data, is_ascii, zone):
    names = parse_schema(ddl).names
    shape = st.fixed_dictionaries({}, optional=dict.fromkeys([*names, "other"], JSON_VALUES))
    documents = data.draw(st.lists(shape, min_size=1, max_size=8))
    batch = [json.dumps(document, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass") for document in documents] * 2
    decoder = JsonDecoder(parse_schema(ddl), time_zone=zone)
    assert_same_as_exact(decoder.decode(pa.array(batch, pa.binary())), batch, ddl, zone)


@pytest.mark.parametrize("ddl", SCHEMAS)
def test_hand_made_documents_give_the_same_rows_among_ordinary_ones(ddl):
    rng = random.Random(1)
    batch = [*written_alike(rng, ddl, 300), *hostile_documents()]
    decoder = JsonDecoder(parse_schema(ddl), time_zone="Europe/Berlin")
    decoder.decode(pa.array(batch[:300], pa.binary()))
    assert_same_as_exact(decoder.decode(pa.array(batch, pa.binary())), batch, ddl, "Europe/Berlin")


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("ddl", SCHEMAS)
def test_many_generated_documents_give_the_same_rows_in_batches(ddl):
    for seed in range(40):
        rng = random.Random(seed)
        zone = rng.choice(ZONES)
        decoder = JsonDecoder(parse_schema(ddl), time_zone=zone)
        for _ in range(3):
            batch = [*batch_of(rng, ddl, 300), *(document_of(rng, ddl) for _ in range(50))]
            assert_same_as_exact(decoder.decode(pa.array(batch, pa.binary())), batch, ddl, zone)
