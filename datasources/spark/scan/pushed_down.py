"""What a planner pushes into a scan beside the watermark: metadata columns, the columns to deliver, a filter."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import pyarrow as pa

from datasources.arrow_types import Path, pruned
from datasources.errors import OptionError, SchemaError
from datasources.source.api.abilities import RowCondition, SupportsColumnPruning, SupportsReadingMetadata
from datasources.source.api.connector import ScanSource
from datasources.source.watermarks.row_watermark import RESERVED_COLUMNS
from datasources.spark.options.name_lists import parse_metadata, parse_paths

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


def delivered_columns(schema: pa.Schema, text: str | None) -> pa.Schema | None:
    """Return the columns of `scan.columns`, in the schema's order; None = all.

    Raises:
        OptionError: there is no such column, or no such field of a STRUCT.
    """
    if text is None:
        return None
    return pruned(schema, [_known_path(schema, path) for path in parse_paths(text, option=_COLUMNS)])


def _known_path(schema: pa.Schema, path: Path) -> Path:
    """Return a path as the schema writes it."""
    fields: Sequence[pa.Field] = list(schema)
    found: list[str] = []
    for name in path:
        names = [each.name for each in fields]
        known = name if name in names else {each.lower(): each for each in names}.get(name.lower())
        if known is None:
            raise OptionError(_unknown(name, found, names))
        found.append(known)
        kind = fields[names.index(known)].type
        fields = list(kind) if pa.types.is_struct(kind) else []
    return tuple(found)


def _unknown(name: str, above: Sequence[str], names: Sequence[str]) -> str:
    if not above:
        return (
            f"option '{_COLUMNS}': there is no column '{name}'.{_near(name, names)} The columns are {', '.join(names)}."
        )
    where = ".".join(above)
    if not names:
        return f"option '{_COLUMNS}': '{where}' is no STRUCT, so it has no field '{name}'."
    return (
        f"option '{_COLUMNS}': the STRUCT '{where}' has no field '{name}'.{_near(name, names)} Its fields are "
        f"{', '.join(names)}."
    )


def with_decoded_columns(
    source: ScanSource, delivered: Iterable[Path] | None, condition: RowCondition | None
) -> ScanSource:
    """Return the source that decodes only what is delivered and what its strategy and filter read, if it can.

    ``delivered`` has columns, or the fields inside of them; None = all.

    Raises:
        OptionError: nothing is delivered: without a watermark a row then has no column at all.
    """
    if delivered is None:
        return source
    strategy = source.strategy
    delivered = set(delivered)
    if not delivered and strategy is None:
        raise OptionError(f"option '{_COLUMNS}' is empty: name at least one column, or leave the option out.")
    if not isinstance(source, SupportsColumnPruning):
        return source
    needed = delivered | (set() if strategy is None else strategy.paths)
    needed |= set() if condition is None else set(condition.paths)
    return source.with_columns(pruned(source.schema, needed))


def _require_free(name: str, schema: pa.Schema) -> None:
    if name.lower() in RESERVED_COLUMNS:
        raise SchemaError(f"option '{_METADATA}': '{name}' is a name that Tidemark uses itself; choose another one.")
    if name.lower() in {taken.lower() for taken in schema.names}:
        raise SchemaError(f"option '{_METADATA}': there is a column '{name}' already; choose another name.")


def _near(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=3)
    return f" Did you mean {' or '.join(repr(near) for near in found)}?" if found else ""
