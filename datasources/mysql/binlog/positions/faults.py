"""Errors in a transaction: where it begins, and how to go on without it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog.positions.positions import BinlogPosition

__all__ = ["SKIP_OPTION", "decoding", "naming"]

SKIP_OPTION: Final = "scan.skip-transactions"
"""The option that lists transactions to pass over, by the places at which they begin."""

_UNDECODABLE: Final = (
    *(ArithmeticError, AssertionError, BufferError, LookupError, MemoryError, RecursionError, TypeError, ValueError),
    *(struct.error, pa.ArrowException),
)


@contextmanager
def decoding() -> Iterator[None]:
    """While in the block, let what goes wrong over the bytes of an event be a RecordError.

    Lengths and numbers of a damaged event lead anywhere; which built-in error that ends in says nothing to a user.
    """
    try:
        yield
    except _UNDECODABLE as error:
        raise RecordError(
            f"an event of the binlog cannot be decoded ({type(error).__name__}: {error}): it is damaged, or of a form "
            f"that is not known here; report the server's version if it is sound (mysqlbinlog reads it)."
        ) from error


def naming(error: RecordError | SchemaError, begin: BinlogPosition) -> RecordError | SchemaError:
    """Return an error with the place of its transaction and the option that passes over it; once is enough."""
    if SKIP_OPTION in error.message:
        return error
    return type(error)(
        f"{error.message} It is in the transaction that begins at {begin}; '{SKIP_OPTION}' = '{begin}' passes over it, "
        f"and its changes are then missing."
    )
