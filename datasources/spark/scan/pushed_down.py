"""What a planner pushes into a scan beside the watermark: metadata columns, the columns to deliver, a filter."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import pyarrow as pa

from datasources.errors import OptionError, SchemaError
from datasources.source.api.abilities import RowCondition, SupportsColumnPruning, SupportsReadingMetadata
from datasources.source.api.connector import ScanSource
from datasources.source.watermarks.row_watermark import RESERVED_COLUMNS
from datasources.spark.options.name_lists import parse_metadata, parse_names

_METADATA = "scan.metadata"
_COLUMNS = "scan.columns"


def with_metadata_columns(source: ScanSource, text: str | None) -> ScanSource:
    """Return the source with the metadata columns of `scan.metadata` behind its own.

    Raises:
        OptionError: the source has no metadata, or no such key.
        SchemaError: a name is taken or reserved.
    """
    columns = {} if text is None else parse_metadata(text, option=_METADATA)
    if not columns:
        return source
    keys = source.metadata_types
    if not isinstance(source, SupportsReadingMetadata) or not keys:
        raise OptionError(f"option '{_METADATA}': {source.format_name} has no metadata columns; leave the option out.")
    for name, key in columns.items():
        if key not in keys:
            raise OptionError(
                f"option '{_METADATA}': {source.format_name} has no metadata key '{key}'.{_near(key, keys)} The keys "
                f"are {', '.join(sorted(keys))}."
            )
        _require_free(name, source.schema)
    return source.with_metadata(columns)


def delivered_columns(schema: pa.Schema, text: str | None) -> tuple[str, ...] | None:
    """Return the columns of `scan.columns` as the schema writes them, in the schema's order; None = all.

    Raises:
        OptionError: there is no such column.
    """
    if text is None:
        return None
    known = {name.lower(): name for name in schema.names}
    wanted = set()
    for name in parse_names(text, option=_COLUMNS):
        found = name if name in schema.names else known.get(name.lower())
        if found is None:
            raise OptionError(
                f"option '{_COLUMNS}': there is no column '{name}'.{_near(name, schema.names)} The columns are "
                f"{', '.join(schema.names)}."
            )
        wanted.add(found)
    return tuple(name for name in schema.names if name in wanted)


def with_decoded_columns(
    source: ScanSource, delivered: Sequence[str] | None, condition: RowCondition | None
) -> ScanSource:
    """Return the source that decodes only the delivered columns and those that its strategy and filter read, if it can.

    Raises:
        OptionError: nothing is delivered: without a watermark a row then has no column at all.
    """
    if delivered is None:
        return source
    strategy = source.strategy
    if not delivered and strategy is None:
        raise OptionError(f"option '{_COLUMNS}' is empty: name at least one column, or leave the option out.")
    if not isinstance(source, SupportsColumnPruning):
        return source
    needed = {
        *delivered,
        *(() if strategy is None else strategy.columns),
        *(() if condition is None else condition.columns),
    }
    return source.with_columns(tuple(name for name in source.schema.names if name in needed))


def _require_free(name: str, schema: pa.Schema) -> None:
    if name.lower() in RESERVED_COLUMNS:
        raise SchemaError(f"option '{_METADATA}': '{name}' is a name that Tidemark uses itself; choose another one.")
    if name.lower() in {taken.lower() for taken in schema.names}:
        raise SchemaError(f"option '{_METADATA}': there is a column '{name}' already; choose another name.")


def _near(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=3)
    return f" Did you mean {' or '.join(repr(near) for near in found)}?" if found else ""
