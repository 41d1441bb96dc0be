"""Types as SQL names them.

TIMESTAMP(p) is a local date and time, Spark's TIMESTAMP_NTZ; TIMESTAMP_LTZ(p) is an instant, Spark's TIMESTAMP. A
precision is kept for SHOW CREATE TABLE; values keep microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SqlField:
    """A field of a ROW type."""

    name: str
    type: SqlType
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type.

    Attributes:
        root: the canonical name: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, CHAR, VARCHAR,
            STRING, BINARY, VARBINARY, BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, INTERVAL, ARRAY, MAP, MULTISET, ROW.
        parameters: length, or precision and scale, as they were given.
        arguments: the element of ARRAY and MULTISET; key and value of MAP.
        fields: of ROW.
        units: of INTERVAL: one such as ("SECOND",), or the first and the last such as ("DAY", "SECOND").
        is_nullable: False = NOT NULL.
    """

    root: str
    parameters: tuple[int, ...] = ()
    arguments: tuple[SqlType, ...] = ()
    fields: tuple[SqlField, ...] = ()
    units: tuple[str, ...] = ()
    is_nullable: bool = True
