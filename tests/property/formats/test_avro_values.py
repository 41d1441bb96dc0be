"""Records that fastavro has written, of any schema: both paths decode the values that fastavro reads."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.avro.avro_decoder import AvroDatumDecoder
from datasources.formats.avro.schema.avro_columns import columns_of
from tests.support.avro_records import Generator, expected_row, parsed, read, row_of, without_logical, written

pytestmark = pytest.mark.usefixtures("both_ways")

ALL = settings(deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32)


def check(decoder, writer, reader, raws) -> None:
    decoded = decoder.decode(pa.array(raws, pa.binary()))
    assert dict(decoded.reasons) == {}
    decoded.columns.validate(full=True)
    shown = writer if reader is None else reader
    plain_reader = None if reader is None else without_logical(reader)
    for row, raw in enumerate(raws):
        record = read(raw, without_logical(writer), plain_reader)
        assert row_of(decoded.columns, row) == expected_row(shown, decoder.columns, record)


@ALL
@given(seed=SEEDS)
def test_values_of_any_schema(seed):
    made = Generator(random.Random(seed))
    schema = made.record()
    raws = [written(without_logical(schema), made.value(schema)) for _ in range(12)]
    check(AvroDatumDecoder(parsed(schema), columns_of(parsed(schema))), schema, None, raws)


@ALL
@given(seed=SEEDS)
def test_values_that_a_readers_schema_has_evolved(seed):
    made = Generator(random.Random(seed))
    schema = made.record()
    reader = made.evolved(schema)
    raws = [written(without_logical(schema), made.value(schema)) for _ in range(8)]
    decoder = AvroDatumDecoder(parsed(schema), columns_of(parsed(reader)), parsed(reader))
    check(decoder, schema, reader, raws)
