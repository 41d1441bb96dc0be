"""JSON behind the id of a schema: the rows are those of the documents without their headers."""

from __future__ import annotations

import pickle
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.format import ColumnsRequest, DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema

FORMAT = FORMATS["json-confluent"]
COLUMNS = parse_schema("id INT NOT NULL, note STRING")


def framed(document: bytes, schema_id: int = 7) -> bytes:
    """As Confluent's serializer writes it."""
    return struct.pack(">bI", 0, schema_id) + document


def decode(*payloads: bytes | None, format_name: str = FORMAT.name, columns: pa.Schema = COLUMNS) -> Decoded:
    decoder = FORMATS[format_name].decoder(DecoderSettings(schema=columns, time_zone="UTC"))
    return pickle.loads(pickle.dumps(decoder)).decode(pa.array(payloads, pa.binary()))


def test_each_record_has_a_status():
    found = decode(framed(b'{"id":1,"note":"a"}', 2**32 - 1), None, b'{"id":2}', framed(b'{"id":3}'), framed(b"["), b"")
    assert found.columns.to_pylist() == [
        {"id": 1, "note": "a"},
        {"id": None, "note": None},
        {"id": None, "note": None},
        {"id": 3, "note": None},
        {"id": None, "note": None},
        {"id": None, "note": None},
    ]
    ok, null_value, bad = RecordStatus.OK, RecordStatus.NULL_VALUE, RecordStatus.BAD
    assert found.statuses.tolist() == [ok, null_value, bad, ok, bad, bad]
    assert "begins with the byte 123 in place of 0" in found.reasons[2]
    assert "it has 0 bytes" in found.reasons[5]
    assert decode(framed(b'{"id":1}')).statuses is None


@pytest.mark.usefixtures("both_ways")
@given(
    documents=st.lists(
        st.one_of(
            st.none(),
            st.binary(max_size=6),
            st.integers(-(2**33), 2**33).map(lambda n: b'{"id": %d}' % n),
            st.text(max_size=4).map(lambda text: f'{{"id": 1, "note": "{text}"}}'.encode()),
        ),
        max_size=8,
    ),
    skipped=st.integers(0, 2),
)
def test_the_rows_are_those_of_the_documents_also_in_a_slice(documents, skipped):
    decoder = FORMAT.decoder(DecoderSettings(schema=COLUMNS, time_zone="UTC"))
    payloads = pa.array([None if each is None else framed(each) for each in documents], pa.binary())
    found = decoder.decode(payloads[skipped:])
    plain = decode(*documents[skipped:], format_name="json")
    assert found.columns == plain.columns
    assert sorted(found.reasons) == sorted(plain.reasons)
    assert (found.statuses is None) == (plain.statuses is None)


def test_the_registry_is_needed_for_columns_only():
    FORMAT.check(DecoderSettings(schema=COLUMNS))
    with pytest.raises(OptionError, match="needs 'json-confluent.url'"):
        FORMAT.columns(ColumnsRequest(options={}, subject="orders-value"))
    with pytest.raises(OptionError, match="a registry's URL is http"):
        FORMAT.check(DecoderSettings(schema=COLUMNS, options={"url": "registry:8081"}))
    with pytest.raises(SchemaError, match="MAP<STRING"):
        FORMAT.check(DecoderSettings(schema=parse_schema("x MAP<INT, INT>")))
