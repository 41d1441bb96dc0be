"""Columns that the operator needs of a changelog, computed by Spark: the row kind and the position in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import IntegralType, StringType, StructType

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.bucket_rows import SEQUENCE_PREFIX
from datasources.spark.operators.temporal.versions.version_changes import (
    DELETE,
    INSERT,
    KIND_COLUMN,
    NO_CHANGE,
    TRUNCATE,
    UPDATE_AFTER,
    UPDATE_BEFORE,
)

_ROW_KIND: Final = "row_kind"
_SEQUENCE: Final = "_seq"
_KINDS: Final = {"+I": INSERT, "-U": UPDATE_BEFORE, "+U": UPDATE_AFTER, "-D": DELETE, "T": TRUNCATE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changelog:
    """The changelog columns of a stream.

    Attributes:
        row_kind: the column with +I, -U, +U, -D or T (truncation); None: every row is an upsert.
        sequence: the column with a row's position in its log; None: rows are ordered as read.
        sequence_fields: its fields, if it is a struct.
    """

    row_kind: str | None
    sequence: str | None
    sequence_fields: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are not data."""
        return tuple(name for name in (self.row_kind, self.sequence) if name is not None)

    def kind_column(self, time: Column) -> Column:
        """Return the kind of change as a number; NO_CHANGE for heartbeats and malformed records.

        Args:
            time: the time attribute; null where a row has none.
        """
        if self.row_kind is None:
            return F.lit(UPDATE_AFTER).cast("tinyint").alias(KIND_COLUMN)
        kind = F.col(f"`{self.row_kind}`")
        problem = F.raise_error(
            F.concat(
                F.lit(f"[{QueryError.code}] column '{self.row_kind}' of the build side holds '"),
                kind,
                F.lit("': a row kind is +I, -U, +U, -D or T."),
            )
        ).cast("int")
        timeless = F.raise_error(
            F.lit(
                f"[{QueryError.code}] the build side's table was truncated at an unknown time: the truncate row "
                f"has no values, so the time attribute must be metadata such as op_ts."
            )
        ).cast("int")
        code = F.when(F.col(HEARTBEAT_COLUMN) | kind.isNull(), F.lit(NO_CHANGE))
        code = code.when((kind == "T") & time.isNull(), timeless)
        for text, number in _KINDS.items():
            code = code.when(kind == text, F.lit(number))
        return code.otherwise(problem).cast("tinyint").alias(KIND_COLUMN)

    def sequence_columns(self) -> list[Column]:
        """Return the position of a row in its log as integers."""
        if self.sequence is None:
            return []
        whole = F.col(f"`{self.sequence}`")
        fields = [whole.getField(name) for name in self.sequence_fields] or [whole]
        return [field.cast("bigint").alias(f"{SEQUENCE_PREFIX}{number}") for number, field in enumerate(fields)]


def changelog_of(schema: StructType, *, row_kind: str | None, sequence: str | None) -> Changelog:
    """Return the changelog columns of a stream.

    Args:
        schema: of the stream.
        row_kind: the column with the kind of change; None: `row_kind` if there is one.
        sequence: the column with the position in the log; None: `_seq` if there is one.

    Raises:
        QueryError: a column is missing or has an unsupported type.
    """
    kind = _chosen(schema.names, row_kind, _ROW_KIND)
    if kind is not None and not isinstance(schema[kind].dataType, StringType):
        raise QueryError(
            f"column '{kind}' is {schema[kind].dataType.simpleString().upper()}, but a row kind is a STRING: "
            f"+I, -U, +U or -D."
        )
    position = _chosen(schema.names, sequence, _SEQUENCE)
    if position is None:
        return Changelog(row_kind=kind, sequence=None)
    data_type = schema[position].dataType
    fields = data_type.fields if isinstance(data_type, StructType) else [schema[position]]
    for field in fields:
        if not isinstance(field.dataType, IntegralType):
            raise QueryError(
                f"column '{position}' is {data_type.simpleString().upper()}, but a change's position in its log is "
                f"a whole number or a struct of whole numbers."
            )
    names = tuple(data_type.names) if isinstance(data_type, StructType) else ()
    return Changelog(row_kind=kind, sequence=position, sequence_fields=names)


def _chosen(names: Sequence[str], asked: str | None, default: str) -> str | None:
    wanted = default if asked is None else asked
    found = next((name for name in names if name.lower() == wanted.lower()), None)
    if found is None and asked is not None:
        raise QueryError(f"the build side has no column '{asked}'; columns: {', '.join(names)}.")
    return found
