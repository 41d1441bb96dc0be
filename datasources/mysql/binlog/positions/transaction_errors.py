"""Errors in a transaction, with the option that skips it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog.positions.positions import BinlogPosition

SKIP_OPTION: Final = "scan.skip-transactions"
"""The option that lists transactions to skip, by the positions at which they begin."""

_UNDECODABLE: Final = (
    *(ArithmeticError, AssertionError, BufferError, LookupError, MemoryError, RecursionError, TypeError, ValueError),
    *(struct.error, pa.ArrowException),
)


@contextmanager
def decode_errors() -> Iterator[None]:
    """Raise a RecordError for any error over the bytes of an event in the block.

    Lengths and numbers of a damaged event may cause any built-in error, which would not help a user.
    """
    try:
        yield
    except _UNDECODABLE as error:
        raise RecordError(
            f"an event of the binlog cannot be decoded ({type(error).__name__}: {error}): it is damaged, or of a form "
            f"that is not known here; report the server's version if it is sound (mysqlbinlog reads it)."
        ) from error


def with_transaction(error: RecordError | SchemaError, begin: BinlogPosition) -> RecordError | SchemaError:
    """Return an error with the position of its transaction and the option that skips it; unchanged if it has them."""
    if SKIP_OPTION in error.message:
        return error
    return type(error)(
        f"{error.message} It is in the transaction that begins at {begin}; '{SKIP_OPTION}' = '{begin}' skips it, "
        f"and its changes are then missing."
    )
