"""MySQL's types: everything that is known about each, in one row of `ROWS`.

A new type is a name in `Kind` (column.py), a row here, and the decoders that it needs (decoders/). A type that row
images store in a form of its own also has a `ColumnCode`. All other modules look it up here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pymysql.constants import FIELD_TYPE

from datasources.arrow_types import MAX_DECIMAL_DIGITS, NTZ, TIMESTAMP
from datasources.mysql.types import declarations, storage
from datasources.mysql.types.column import (
    ColumnCode,
    ColumnType,
    Kind,
    ZeroDates,
    bit_type,
    decimal_type,
    integer_type,
)
from datasources.mysql.types.declarations import Declared
from datasources.mysql.types.decoders import inet, key_texts, numbers, result_binary, result_texts, temporal, texts
from datasources.mysql.types.decoders.cells import Cells
from datasources.mysql.types.decoders.key_texts import ValueForm
from datasources.mysql.types.decoders.result_binary import FIXED_BYTES, INTEGERS, TIMES
from datasources.mysql.types.storage import BinlogCode, Collated, Described

_C: Final = ColumnCode
_TEXT: Final = "CONVERT({0} USING utf8mb4)"
_AS_TEXT: Final = "CAST({0} AS CHAR)"
# DOUBLE(m, d) is printed with d digits; as a DOUBLE it is printed with enough digits to be exact.
_AS_DOUBLE: Final = "CAST({0} AS DOUBLE)"

ResultDecoder = Callable[[ColumnType, Cells, ZeroDates], pa.Array]
KeyTexts = Callable[[pa.Array, ColumnType], list[str]]


class Definition(Enum):
    """How DDL writes a type, as far as ddl/stored_type.py reads its name here."""

    OTHER = "other"
    PLAIN = "plain"
    FRACTION = "fraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRow:
    """A type.

    Attributes:
        kind: its name here.
        declared: per name in information_schema what its COLUMN_TYPE means.
        arrow: its Arrow type, which has exactly one Spark type.
        select: the expression with which the text protocol has its values exactly.
        is_exact_in_binary: whether a prepared SELECT has them exactly without an expression.
        from_text: decodes the text protocol; None = the server's bytes, cast to the Arrow type.
        from_binary: decodes a prepared SELECT, by the type that the server sends; for others `from_text` does.
        codes: its codes in the binlog.
        described: as what the binlog describes it, if it has no code of its own.
        key_form: form and order of keys. By types that are INEXACT no table is divided.
        key_text: keys as canonical texts; of TEXT the server makes them.
        families: its names in ddl/stored_type.py.
        definition: how DDL writes it.
    """

    kind: Kind
    declared: Mapping[str, Declared]
    arrow: Callable[[ColumnType], pa.DataType]
    select: str = "{0}"
    is_exact_in_binary: bool = False
    from_text: ResultDecoder | None = None
    from_binary: Mapping[int, ResultDecoder] = field(default_factory=dict)
    codes: Mapping[ColumnCode, BinlogCode] = field(default_factory=dict)
    described: Described | None = None
    key_form: ValueForm = ValueForm.INEXACT
    key_text: KeyTexts = key_texts.number_texts
    families: tuple[str, ...] = ()
    definition: Definition = Definition.OTHER


def _always(arrow: pa.DataType) -> Callable[[ColumnType], pa.DataType]:
    return lambda _: arrow


def _of_integers(decode: Callable[..., Any]) -> Mapping[int, ResultDecoder]:
    return {wire: partial(decode, width=FIXED_BYTES[wire]) for wire in INTEGERS}


_BLOB: Final = BinlogCode(storage=storage.blob, metadata_bytes=1, limits=storage.WIDTH, collated=Collated.ALWAYS)
_VARYING: Final = BinlogCode(storage=storage.characters, metadata_bytes=2, collated=Collated.ALWAYS)

ROWS: Final = (
    TypeRow(
        kind=Kind.INTEGER,
        declared={
            "tinyint": declarations.integer(1),
            "smallint": declarations.integer(2),
            "mediumint": declarations.integer(3),
            "int": declarations.integer(4),
            "bigint": declarations.integer(8),
        },
        arrow=integer_type,
        from_text=result_texts.read_integer,
        from_binary=_of_integers(result_binary.read_integers),
        codes={
            _C.TINY: storage.integer(1),
            _C.SHORT: storage.integer(2),
            _C.INT24: storage.integer(3),
            _C.LONG: storage.integer(4),
            _C.LONGLONG: storage.integer(8),
        },
        key_form=ValueForm.NUMBER,
        families=("int",),
    ),
    TypeRow(
        kind=Kind.FLOAT,
        declared={"float": declarations.plain(Kind.FLOAT)},
        arrow=_always(pa.float32()),
        select=_AS_DOUBLE,
        from_text=result_texts.read_float,
        from_binary={FIELD_TYPE.DOUBLE: result_binary.read_floats},
        codes={_C.FLOAT: storage.number(Kind.FLOAT, numbers.decode_float, 4, metadata_bytes=1, family="float")},
        families=("float",),
        definition=Definition.PLAIN,
    ),
    TypeRow(
        kind=Kind.DOUBLE,
        declared={"double": declarations.plain(Kind.DOUBLE)},
        arrow=_always(pa.float64()),
        select=_AS_DOUBLE,
        is_exact_in_binary=True,
        from_text=result_texts.read_double,
        from_binary={FIELD_TYPE.DOUBLE: result_binary.read_doubles},
        codes={_C.DOUBLE: storage.number(Kind.DOUBLE, numbers.decode_double, 8, metadata_bytes=1, family="double")},
        families=("double",),
        definition=Definition.PLAIN,
    ),
    TypeRow(
        kind=Kind.DECIMAL,
        declared={"decimal": declarations.decimal},
        arrow=decimal_type,
        from_text=result_texts.read_decimal,
        codes={
            _C.NEWDECIMAL: BinlogCode(
                storage=storage.decimal, metadata_bytes=2, limits=((1, 65), (0, 38)), is_numeric=True, family="decimal"
            ),
            _C.DECIMAL: BinlogCode(is_numeric=True),  # as written before MySQL 5.0
        },
        key_form=ValueForm.DECIMAL,
        key_text=key_texts.decimal_texts,
        families=("decimal",),
    ),
    TypeRow(
        kind=Kind.BIT,
        declared={"bit": declarations.wide(Kind.BIT)},
        arrow=bit_type,
        from_text=result_texts.read_bit,
        codes={_C.BIT: BinlogCode(storage=storage.bit, metadata_bytes=2, limits=((0, 7), (0, 8)), family="bit")},
        key_form=ValueForm.STORED_NUMBER,
        key_text=key_texts.bit_texts,
        families=("bit",),
    ),
    TypeRow(
        kind=Kind.YEAR,
        declared={"year": declarations.plain(Kind.YEAR)},
        arrow=_always(pa.int32()),
        select="CAST({0} AS UNSIGNED)",
        is_exact_in_binary=True,
        from_text=result_texts.read_year,
        from_binary=_of_integers(result_binary.read_years),
        codes={_C.YEAR: storage.number(Kind.YEAR, numbers.decode_year, 1, family="year")},
        key_form=ValueForm.NUMBER,
        key_text=key_texts.year_texts,  # four digits, as the server prints it: 0000
        families=("year",),
        definition=Definition.PLAIN,
    ),
    TypeRow(
        kind=Kind.DATE,
        declared={"date": declarations.plain(Kind.DATE)},
        arrow=_always(pa.date32()),
        select=_AS_TEXT,
        is_exact_in_binary=True,
        from_text=result_texts.read_date,
        from_binary=dict.fromkeys(TIMES, result_binary.read_date),
        codes={
            _C.DATE: storage.timed(Kind.DATE, temporal.decode_date, 3, family="date"),
            _C.NEWDATE: BinlogCode(),
        },
        key_form=ValueForm.MOMENT,
        key_text=key_texts.date_texts,
        families=("date",),
        definition=Definition.PLAIN,
    ),
    TypeRow(
        kind=Kind.TIME,
        declared={"time": declarations.timed(Kind.TIME)},
        arrow=_always(temporal.TIME),
        select=_AS_TEXT,
        is_exact_in_binary=True,
        from_text=result_texts.read_time,
        from_binary=dict.fromkeys(TIMES, result_binary.read_time),
        codes={
            _C.TIME: storage.timed(Kind.TIME, temporal.decode_old_time, 3),
            _C.TIME2: storage.timed(Kind.TIME, temporal.decode_time, 3, has_digits=True, family="time"),
        },
        key_form=ValueForm.TIME,
        key_text=key_texts.time_texts,
        families=("time",),
        definition=Definition.FRACTION,
    ),
    TypeRow(
        kind=Kind.DATETIME,
        declared={"datetime": declarations.timed(Kind.DATETIME)},
        arrow=_always(NTZ),
        select=_AS_TEXT,
        is_exact_in_binary=True,
        from_text=result_texts.read_datetime,
        from_binary=dict.fromkeys(TIMES, result_binary.read_datetime),
        codes={
            _C.DATETIME: storage.timed(Kind.DATETIME, temporal.decode_old_datetime, 8),
            _C.DATETIME2: storage.timed(Kind.DATETIME, temporal.decode_datetime, 5, has_digits=True, family="datetime"),
        },
        key_form=ValueForm.MOMENT,
        key_text=key_texts.moment_texts,
        families=("datetime",),
        definition=Definition.FRACTION,
    ),
    TypeRow(
        kind=Kind.TIMESTAMP,
        declared={"timestamp": declarations.timed(Kind.TIMESTAMP)},
        arrow=_always(TIMESTAMP),
        select="UNIX_TIMESTAMP({0})",
        from_text=result_texts.read_timestamp,
        from_binary=_of_integers(result_binary.read_seconds),
        codes={
            _C.TIMESTAMP: storage.timed(Kind.TIMESTAMP, temporal.decode_old_timestamp, 4),
            _C.TIMESTAMP2: storage.timed(
                Kind.TIMESTAMP, temporal.decode_timestamp, 4, has_digits=True, family="timestamp"
            ),
        },
        key_form=ValueForm.MOMENT,
        key_text=key_texts.moment_texts,
        families=("timestamp",),
        definition=Definition.FRACTION,
    ),
    TypeRow(
        kind=Kind.TEXT,
        declared=dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), declarations.text),
        arrow=_always(pa.string()),
        select=_TEXT,
        # Bytes have the same codes: the collation distinguishes them.
        codes={
            _C.VARCHAR: _VARYING,
            _C.VAR_STRING: _VARYING,
            _C.STRING: BinlogCode(storage=storage.padded, metadata_bytes=2, collated=Collated.ALWAYS),
            **dict.fromkeys((_C.TINY_BLOB, _C.BLOB, _C.MEDIUM_BLOB, _C.LONG_BLOB), _BLOB),
            _C.VARCHAR_COMPRESSED: BinlogCode(storage=storage.compressed, metadata_bytes=2, collated=Collated.ALWAYS),
            _C.BLOB_COMPRESSED: BinlogCode(storage=storage.compressed, metadata_bytes=1, collated=Collated.ALWAYS),
        },
        key_form=ValueForm.TEXT,
        families=("char", "varchar", "text"),
    ),
    TypeRow(
        kind=Kind.BINARY,
        declared={
            "binary": declarations.wide(Kind.BINARY),
            **dict.fromkeys(
                ("varbinary", "tinyblob", "blob", "mediumblob", "longblob"), declarations.plain(Kind.BINARY)
            ),
        },
        arrow=_always(pa.binary()),
        key_form=ValueForm.BYTES,
        key_text=key_texts.binary_texts,
        families=("binary", "varbinary", "blob"),
    ),
    TypeRow(
        kind=Kind.ENUM,
        declared={"enum": declarations.chosen(Kind.ENUM)},
        arrow=_always(pa.string()),
        select=_TEXT,
        codes={_C.ENUM: BinlogCode(storage=storage.enum, metadata_bytes=2, family="enum")},
        key_form=ValueForm.STORED_NUMBER,
        key_text=key_texts.enum_texts,
        families=("enum",),
    ),
    TypeRow(
        kind=Kind.SET,
        declared={"set": declarations.chosen(Kind.SET)},
        arrow=_always(pa.string()),
        select=_TEXT,
        codes={_C.SET: BinlogCode(storage=storage.set_of, metadata_bytes=2, family="set")},
        key_form=ValueForm.STORED_NUMBER,
        key_text=key_texts.set_texts,
        families=("set",),
    ),
    TypeRow(
        kind=Kind.JSON,
        declared={"json": declarations.plain(Kind.JSON)},
        arrow=_always(pa.string()),  # as the server prints it
        select=_TEXT,
        codes={_C.JSON: storage.counted(Kind.JSON, texts.decode_json, family="json")},
        families=("json",),
        definition=Definition.PLAIN,
    ),
    TypeRow(
        kind=Kind.GEOMETRY,
        declared=dict.fromkeys(
            (
                "geometry",
                "point",
                "linestring",
                "polygon",
                "multipoint",
                "multilinestring",
                "multipolygon",
                "geomcollection",
                "geometrycollection",
            ),
            declarations.plain(Kind.GEOMETRY),
        ),
        arrow=_always(pa.binary()),  # as MySQL stores it: four bytes SRID (little-endian), then WKB
        codes={_C.GEOMETRY: storage.counted(Kind.GEOMETRY, texts.decode_binary, collated=Collated.MARIADB)},
    ),
    TypeRow(
        kind=Kind.VECTOR,
        declared={"vector": declarations.plain(Kind.VECTOR)},
        arrow=_always(pa.binary()),
        codes={_C.VECTOR: storage.counted(Kind.VECTOR, texts.decode_binary, collated=Collated.MYSQL)},
    ),
    TypeRow(
        kind=Kind.INET4,
        declared={"inet4": declarations.plain(Kind.INET4)},
        arrow=_always(pa.string()),
        select=_AS_TEXT,
        described=Described(type=ColumnType(kind=Kind.BINARY, width=4), convert=inet.inet4_texts),
    ),
    TypeRow(
        kind=Kind.INET6,
        declared={"inet6": declarations.plain(Kind.INET6)},
        arrow=_always(pa.string()),
        select=_AS_TEXT,
        described=Described(type=ColumnType(kind=Kind.BINARY, width=16), convert=inet.inet6_texts),
    ),
)

TYPES: Final[Mapping[Kind, TypeRow]] = {row.kind: row for row in ROWS}
DECLARED: Final[Mapping[str, TypeRow]] = {name: row for row in ROWS for name in row.declared}
"""By the name in information_schema."""
CODES: Final[Mapping[ColumnCode, BinlogCode]] = {code: form for row in ROWS for code, form in row.codes.items()}
FAMILIES: Final[Mapping[str, TypeRow]] = {family: row for row in ROWS for family in row.families}
"""By the family of ddl/stored_type.py."""


def arrow_type(column: ColumnType) -> pa.DataType:
    """Return the Arrow type of a column's values, which has exactly one Spark type."""
    return TYPES[column.kind].arrow(column)


def select_expression(column: ColumnType, quoted: str) -> str:
    """Return the expression with which a snapshot reads the column exactly.

    A plain SELECT is not exact: FLOAT is printed with six digits, TIMESTAMP in the session's zone (one text for two
    instants when clocks go back), text in the connection's character set.

    Args:
        column: its type.
        quoted: the column's name in backquotes.
    """
    if column.kind is Kind.DECIMAL and column.precision > MAX_DECIMAL_DIGITS:
        # As text; a ZEROFILL column would be printed with leading zeros, which the binlog does not have.
        return f"CAST({quoted} AS DECIMAL({column.precision},{column.scale}))"
    return TYPES[column.kind].select.format(quoted)


def result_expression(column: ColumnType, quoted: str) -> str:
    """Return the expression with which a prepared SELECT reads the column exactly (result.py).

    In the binary protocol a DOUBLE, a date and a time are exact as they are.
    """
    return quoted if TYPES[column.kind].is_exact_in_binary else select_expression(column, quoted)
