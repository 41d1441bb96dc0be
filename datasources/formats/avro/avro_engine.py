"""The paths of Avro's records."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from datasources.formats.avro.native_path.native_decoder import NativeDecoder
from datasources.formats.avro.resolution.steps import Plan
from datasources.formats.avro.slow_path import BadRecord, SlowPathDecoder
from datasources.formats.columns.record_engine import DecodingPaths, RecordEngine
from datasources.native import native


def avro_engine(plan: Plan, schema: pa.Schema, wanted: Sequence[pa.Field], skip: int = 0) -> RecordEngine:
    """Return what decodes records by a plan, behind so many other bytes of a payload; see `RecordEngine`."""
    library = native()
    native_path = None if library is None else NativeDecoder(library, plan, wanted, skip).decode
    paths = DecodingPaths(native=native_path, row=SlowPathDecoder(plan, skip).row, bad=BadRecord)
    return RecordEngine(paths, schema, wanted)
