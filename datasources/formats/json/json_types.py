"""Which types JSON supports. Separate from the decoder, so that options can be checked without loading it."""

from __future__ import annotations

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_types import type_text


def check_json_types(schema: pa.Schema) -> None:
    """Check that JSON supports every type.

    Raises:
        SchemaError: it does not.
    """
    for column in schema:
        _check_type(column.name, column.type)


def _check_type(path: str, arrow: pa.DataType) -> None:
    if pa.types.is_struct(arrow):
        for inner in arrow:
            _check_type(f"{path}.{inner.name}", inner.type)
    elif pa.types.is_list(arrow):
        _check_type(f"{path}[]", arrow.value_type)
    elif pa.types.is_map(arrow):
        if arrow.key_type != pa.string():
            raise SchemaError(f"column '{path}': the names in a JSON object are text; declare MAP<STRING, ...>")
        _check_type(f"{path}[]", arrow.item_type)
    else:
        type_text(arrow)
