"""Which types CSV supports. Separate from the decoder, so that options can be checked without loading it."""

from __future__ import annotations

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_types import type_text


def check_csv_types(schema: pa.Schema) -> None:
    """Check that CSV supports every type.

    Raises:
        SchemaError: it does not.
    """
    for column in schema:
        for each in parts_of(column.type):
            if _has_parts(each.type) or pa.types.is_map(each.type):
                raise SchemaError(
                    f"column '{column.name}': a field of CSV is one value, an ARRAY of values or a STRUCT of values, "
                    f"not {type_text(column.type)}; declare it STRING and parse it in the query"
                )
            type_text(each.type)


def parts_of(arrow: pa.DataType) -> list[pa.Field]:
    """Return what the values of a type consist of: the fields of a STRUCT, the element of an ARRAY, or itself."""
    if pa.types.is_struct(arrow):
        return list(arrow)
    return [arrow.value_field] if pa.types.is_list(arrow) else [pa.field("", arrow)]


def _has_parts(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_struct(arrow) or pa.types.is_list(arrow))
