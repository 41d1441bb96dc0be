"""The formats of files: a line here, and a layout."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from datasources.errors import OptionError, SchemaError
from datasources.options import OptionGroup, parse_group
from datasources.sql.planner.files.csv_layout import CsvFileOptions, csv_layout
from datasources.sql.planner.files.file_layout import (
    FileColumn,
    FileLayout,
    LayoutRequest,
    StoredColumn,
    typed_column,
    typed_layout,
)
from datasources.sql.planner.files.json_layout import JsonFileOptions, json_layout


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format of files.

    Attributes:
        options: Flink's, which have a meaning or are refused with a reason.
        layout: makes the layout of a table.
        passed_on: how options begin that the library of the format takes as they are; "" = none.
    """

    options: type[OptionGroup]
    layout: Callable[[LayoutRequest], FileLayout]
    passed_on: str = ""


class TimestampUnit(enum.Enum):
    """Units of Parquet's timestamps."""

    NANOS = "nanos"
    MICROS = "micros"
    MILLIS = "millis"


class ParquetFileOptions(OptionGroup):
    """Flink's options of the format; others that begin with `parquet.` are those of Parquet's writer."""

    is_utc: bool = Field(
        True, alias="parquet.utc-timezone", description="Only `true`, which is Spark's: a timestamp is kept as it is."
    )
    has_long_timestamps: bool | None = Field(
        None,
        alias="parquet.write.int64.timestamp",
        description="Without effect: both forms are read, and Spark's settings say which one is written.",
    )
    unit: TimestampUnit = Field(
        TimestampUnit.MICROS, alias="parquet.timestamp.time.unit", description="Only `micros`, which is Spark's."
    )
    batch_size: int | None = Field(
        None, alias="parquet.batch-size", description="Without effect: a setting of Flink's reader."
    )


class OrcFileOptions(OptionGroup):
    """None: all options that begin with `orc.` are those of ORC's writer."""


class AvroEncoding(enum.Enum):
    """How a record is encoded."""

    BINARY = "binary"
    JSON = "json"


class AvroFileOptions(OptionGroup):
    """Flink's options of the format."""

    codec: str | None = Field(
        None, alias="avro.codec", description="The compression: `snappy`, `deflate`, `bzip2`, `xz`, `null` for none."
    )
    encoding: AvroEncoding = Field(
        AvroEncoding.BINARY, alias="avro.encoding", description="Only `binary`: files of Avro have no other one."
    )
    is_legacy: bool = Field(
        False,
        alias="avro.timestamp_mapping.legacy",
        description="Only `false`: a TIMESTAMP is written as a local one, an instant as an instant.",
    )


class RawFileOptions(OptionGroup):
    """Flink's options of the format."""

    charset: str = Field("UTF-8", alias="raw.charset", description="Only `UTF-8`.")
    endianness: str = Field("big-endian", alias="raw.endianness", description="Without effect: a line is no number.")


def _parquet(request: LayoutRequest) -> FileLayout:
    options = parse_group(ParquetFileOptions, request.options)
    if not options.is_utc:
        raise OptionError(
            "option 'parquet.utc-timezone' = 'false': Spark keeps a timestamp as it is, and does not move it by the "
            "machine's zone. Leave the option out."
        )
    if options.unit is not TimestampUnit.MICROS:
        raise OptionError(
            f"option 'parquet.timestamp.time.unit' = '{options.unit.value}': Spark writes microseconds. Leave it out."
        )
    return typed_layout(request, "parquet", options=_passed_on(request, "parquet.", ParquetFileOptions))


def _orc(request: LayoutRequest) -> FileLayout:
    return typed_layout(request, "orc", options=_passed_on(request, "orc.", OrcFileOptions))


def _avro(request: LayoutRequest) -> FileLayout:
    options = parse_group(AvroFileOptions, request.options)
    if options.encoding is not AvroEncoding.BINARY:
        raise OptionError("option 'avro.encoding' = 'json': files of Avro are binary. Leave it out.")
    if options.is_legacy:
        raise OptionError(
            "option 'avro.timestamp_mapping.legacy' = 'true': a TIMESTAMP would be stored as an instant. Set it to "
            "'false', which is how Spark writes, or leave it out."
        )
    codec = {} if options.codec is None else {"compression": _SPARK_CODECS.get(options.codec, options.codec)}
    return typed_layout(request, "avro", options=codec)


def _raw(request: LayoutRequest) -> FileLayout:
    options = parse_group(RawFileOptions, request.options)
    if options.charset.upper().replace("_", "-") not in ("UTF-8", "UTF8"):
        raise OptionError(f"option 'raw.charset' = '{options.charset}': lines of files are read as UTF-8.")
    if len(request.columns) != 1:
        names = ", ".join(each.name for each in request.columns)
        raise SchemaError(
            f"table '{request.table}': the format 'raw' has one column besides partition keys, not {names}."
        )
    (column,) = request.columns
    return FileLayout(spark_format="text", columns=(_line(column, request.table),))


def _line(column: FileColumn, table: str) -> StoredColumn:
    kind = column.spark_type.upper()
    if kind == "STRING":
        return typed_column(column)
    if kind != "BINARY":
        raise SchemaError(
            f"table '{table}': column '{column.name}': a line of a file is a STRING or BYTES; CAST it in a query."
        )
    text = typed_column(FileColumn(name=column.name, spark_type="STRING"))
    return StoredColumn(
        name=column.name,
        stored_type="STRING",
        text=text.text,
        value=f"CAST({text.text} AS BINARY)",
        written=f"CAST({text.text} AS STRING)",
    )


def _passed_on(request: LayoutRequest, prefix: str, group: type[OptionGroup]) -> dict[str, str]:
    ours = {str(field.alias) for field in group.model_fields.values()}
    return {key: value for key, value in request.options.items() if key.startswith(prefix) and key not in ours}


_SPARK_CODECS: Final = {"null": "uncompressed"}
FILE_FORMATS: Final = {
    "csv": FileFormat(options=CsvFileOptions, layout=csv_layout),
    "json": FileFormat(options=JsonFileOptions, layout=json_layout),
    "parquet": FileFormat(options=ParquetFileOptions, layout=_parquet, passed_on="parquet."),
    "orc": FileFormat(options=OrcFileOptions, layout=_orc, passed_on="orc."),
    "avro": FileFormat(options=AvroFileOptions, layout=_avro),
    "raw": FileFormat(options=RawFileOptions, layout=_raw),
}
"""By the value of the option `format`."""
