"""How row images store a column that a TABLE_MAP describes."""

from __future__ import annotations

from datasources.errors import SchemaError
from datasources.mysql.types.column import ColumnCode
from datasources.mysql.types.storage import ColumnDescription, ColumnStorage
from datasources.mysql.types.type_table import CODES


def storage_of(
    code: ColumnCode, metadata: bytes, *, is_unsigned: bool, charset: str, members: tuple[str, ...]
) -> ColumnStorage:
    """Return how a column is stored and read; the arguments are those of `ColumnDescription`.

    Raises:
        SchemaError: the stored form of the type cannot be decoded.
    """
    form = CODES[code]
    if not all(low <= number <= high for number, (low, high) in zip(metadata, form.limits, strict=False)):
        raise SchemaError(f"the binlog describes a {code.name} with the numbers {[*metadata]}: it is damaged here.")
    if form.storage is None:
        raise SchemaError(
            f"it has a type that cannot be read from the binlog ({code.name}); with MariaDB's COMPRESSED columns: "
            f"remove COMPRESSED; with a DECIMAL from before MySQL 5.0: ALTER TABLE ... FORCE."
        )
    return form.storage(
        ColumnDescription(code=code, metadata=metadata, is_unsigned=is_unsigned, charset=charset, members=members)
    )
