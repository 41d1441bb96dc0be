"""Errors in a transaction: where it begins, and how to go on without it."""

from __future__ import annotations

from typing import Final

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog.positions import BinlogPosition

__all__ = ["SKIP_OPTION", "naming"]

SKIP_OPTION: Final = "scan.skip-transactions"
"""The option that lists transactions to pass over, by the places at which they begin."""


def naming(error: RecordError | SchemaError, begin: BinlogPosition) -> RecordError | SchemaError:
    """Return an error with the place of its transaction and the option that passes over it; once is enough."""
    if SKIP_OPTION in error.message:
        return error
    return type(error)(
        f"{error.message} It is in the transaction that begins at {begin}; '{SKIP_OPTION}' = '{begin}' passes over it, "
        f"and its changes are then missing."
    )
