"""Records that Google's package has written, of any message: both paths decode the values that Google's package reads."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.protobuf.linking.link import LinkRules
from datasources.formats.protobuf.protobuf_decoder import ProtobufDecoder
from datasources.formats.protobuf.schema.protobuf_columns import columns_of
from tests.support.decoded_values import plain
from tests.support.protobuf_records import Generator, expected_row, in_map_order, parsed

pytestmark = pytest.mark.usefixtures("both_ways")

ALL = settings(deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32)


def row_of(batch: pa.RecordBatch, row: int) -> list[object]:
    return [in_map_order(plain(column.slice(row, 1))[0], column.type) for column in batch.columns]


@ALL
@given(seed=SEEDS, reads_defaults=st.booleans())
def test_values_of_any_message(seed, reads_defaults):
    made = Generator(random.Random(seed))
    message = made.message()
    columns = columns_of(message.descriptor, reads_defaults=reads_defaults)
    raws = [made.record(message).SerializeToString() for _ in range(8)]
    raws += [raws[0] + raws[1], raws[2] + raws[2]]  # a message in two pieces is merged
    decoded = ProtobufDecoder(message, columns, LinkRules(reads_defaults=reads_defaults)).decode(pa.array(raws))
    assert dict(decoded.reasons) == {}
    decoded.columns.validate(full=True)
    for row, raw in enumerate(raws):
        expected = expected_row(parsed(message, raw), columns, reads_defaults=reads_defaults)
        assert row_of(decoded.columns, row) == expected


@ALL
@given(seed=SEEDS)
def test_a_reader_of_another_version_of_the_message(seed):
    """Fields that only the writer has are skipped, those that only the reader has are absent."""
    rng = random.Random(seed)
    made = Generator(rng)
    message = made.message()
    raws = [made.record(message).SerializeToString() for _ in range(6)]
    whole = columns_of(message.descriptor)
    some = pa.schema([f for f in whole if rng.random() < 0.6] or [whole.field(0)])
    decoded = ProtobufDecoder(message, some).decode(pa.array(raws))
    every = ProtobufDecoder(message, whole).decode(pa.array(raws))
    assert dict(decoded.reasons) == {}
    expected = [plain(column) for column in every.columns.select(some.names).columns]
    assert [plain(column) for column in decoded.columns.columns] == expected
    longer = pa.schema([*some, pa.field("new", pa.string())])
    found = ProtobufDecoder(message, longer, LinkRules(lacks_fields=True)).decode(pa.array(raws))
    assert [plain(column) for column in found.columns.select(some.names).columns] == expected
    assert found.columns.column("new").null_count == len(raws)
