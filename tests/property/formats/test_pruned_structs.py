"""Decoders that leave fields of STRUCTs out: what is left is what it was, and the same records are bad."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.arrow_types import Path, paths_of, pruned
from datasources.formats.api.decoder import Decoded
from datasources.formats.api.format import DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.format_documents import batch_of
from tests.support.native_documents import random_ddl

UNDER = settings(deadline=None, suppress_health_check=list(HealthCheck))
AVRO = """{"type": "record", "name": "r", "fields": [
    {"name": "id", "type": "long"},
    {"name": "s", "type": {"type": "record", "name": "t", "fields": [
        {"name": "x", "type": ["null", "int"]}, {"name": "y", "type": "string"},
        {"name": "z", "type": {"type": "record", "name": "u", "fields": [
            {"name": "v", "type": "double"}, {"name": "w", "type": {"type": "array", "items": "string"}}]}}]}}]}"""
AVRO_DDL = "id BIGINT NOT NULL, s STRUCT<x: INT, y: STRING, z: STRUCT<v: DOUBLE, w: ARRAY<STRING>>>"


def column(rows: pa.RecordBatch, path: Path) -> pa.Array:
    """Return the values to which a path leads, null where one above is."""
    found = rows.column(path[0])
    for name in path[1:]:
        found = found.flatten()[found.type.get_field_index(name)]
    return found


def is_same(one: pa.Array, other: pa.Array) -> bool:
    """Return whether values are equal, NaN too; Python has no values for all of them."""
    return one.equals(other) or one.to_string(window=len(one)) == other.to_string(window=len(other))


def inner(fields: Sequence[pa.Field], above: Path = ()) -> Iterator[Path]:
    """Yield the paths to STRUCTs."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield (*above, field.name)
            yield from inner(list(field.type), (*above, field.name))


def require_alike(schema: pa.Schema, kept: set[Path], whole: Decoded, found: Decoded) -> None:
    assert found.columns.schema == whole.columns.schema
    found.columns.validate(full=True)
    assert found.reasons == whole.reasons
    assert (found.statuses is None) == (whole.statuses is None)
    assert found.statuses is None or found.statuses.tolist() == whole.statuses.tolist()
    for path in paths_of(schema):
        values = column(found.columns, path)
        if any(path[: len(each)] == each for each in kept):
            assert is_same(values, column(whole.columns, path)), path
        else:
            assert values.null_count == len(values), path
    for path in inner(list(schema)):
        if any(each[: len(path)] == path for each in kept):
            assert column(found.columns, path).is_null() == column(whole.columns, path).is_null(), path


def chosen(rng: random.Random, schema: pa.Schema) -> set[Path]:
    """Return some of a schema's columns and fields, now and then one above others."""
    paths = [*paths_of(schema), *(path for path in inner(list(schema)) if rng.random() < 0.2)]
    return {path for path in paths if rng.random() < 0.4}


@UNDER
@given(seed=st.integers(0, 2**32))
def test_documents_of_any_schema_have_the_values_that_they_had(seed):
    rng = random.Random(seed)
    ddl = random_ddl(rng)
    schema, batch = parse_schema(ddl), pa.array(batch_of(rng, ddl, 40), pa.binary())
    kept = chosen(rng, schema)
    whole = FORMATS["json"].decoder(DecoderSettings(schema=schema, time_zone="UTC")).decode(batch)
    wanted = DecoderSettings(schema=schema, columns=tuple(pruned(schema, kept)), time_zone="UTC")
    require_alike(schema, kept, whole, FORMATS["json"].decoder(wanted).decode(batch))


@UNDER
@given(seed=st.integers(0, 2**32))
def test_avro_of_each_choice_of_fields_has_the_values_that_it_had(seed):
    rng, schema = random.Random(seed), parse_schema(AVRO_DDL)
    # Union index, int; text; double; one text in an array: valid records, and some that end early.
    record = b"\x02\x02\x0a\x04ab" + b"\0" * 8 + b"\x02\x02c\0"
    batch = pa.array([record, record[: rng.randrange(len(record))], b"\x04\0\0" + b"\0" * 9, None], pa.binary())
    kept = chosen(rng, schema)
    options = {"schema": AVRO}
    whole = FORMATS["avro"].decoder(DecoderSettings(schema=schema, options=options)).decode(batch)
    wanted = DecoderSettings(schema=schema, columns=tuple(pruned(schema, kept)), options=options)
    assert whole.columns.to_pylist()[0] == {"id": 1, "s": {"x": 5, "y": "ab", "z": {"v": 0.0, "w": ["c"]}}}
    require_alike(schema, kept, whole, FORMATS["avro"].decoder(wanted).decode(batch))
