"""The paths of Protobuf's records."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from datasources.formats.columns.record_engine import DecodingPaths, RecordEngine
from datasources.formats.protobuf.linking.steps import Plan
from datasources.formats.protobuf.native_path.native_decoder import NativeDecoder
from datasources.formats.protobuf.slow_path.slow_path_decoder import BadRecord, SlowPathDecoder
from datasources.native import native


def protobuf_engine(plan: Plan, schema: pa.Schema, wanted: Sequence[pa.Field]) -> RecordEngine:
    """Return what decodes records by a plan; see `RecordEngine`."""
    library = native()
    native_path = None if library is None else NativeDecoder(library, plan, wanted).decode
    paths = DecodingPaths(native=native_path, row=SlowPathDecoder(plan).row, bad=BadRecord)
    return RecordEngine(paths, schema, wanted)
