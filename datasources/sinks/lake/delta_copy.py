"""A table of Delta Lake that is a copy of another table: its rows and its columns follow those of the original.

Columns are added, dropped and widened in front of the first batch that was read with the new ones. That batch is
complete then, so an error of its reading leaves the copy as it is. A batch that is repeated finds the columns changed
and its rows committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField, StructType

from datasources.changelog.latest_of_batch import latest_changes
from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.errors import SchemaError
from datasources.grammar.literals import quoted
from datasources.grammar.spark_type_names import sql_name_of
from datasources.sinks.change_sink import BatchNumber
from datasources.sinks.lake.delta_sink import create_if_missing, merge_into

KIND_COLUMN: Final = "__tidemark_row_kind"
"""The kind of a change, behind the table's columns."""
SEQUENCE_COLUMN: Final = "__tidemark_seq"
"""The order of a change, behind the kind."""

_PROPERTIES: Final = {
    "delta.autoOptimize.autoCompact": "true",  # a batch every few seconds leaves many small files
    "delta.columnMapping.mode": "name",  # any name of a column, and columns that are dropped
    "delta.enableDeletionVectors": "true",  # a changed row does not write its file anew
    "delta.enableTypeWidening": "true",
    "delta.feature.timestampNtz": "supported",
}


class DeltaCopy:
    """The copy of one table.

    Args:
        spark: a session with Delta Lake.
        path: directory of the copy.
        columns: of the original, as they are read.
        key: names of the columns of its primary key.

    Raises:
        SchemaError: Delta Lake cannot have a column of the name.
    """

    def __init__(self, spark: SparkSession, path: str, columns: StructType, key: Sequence[str]) -> None:
        self._spark = spark
        self._path = path
        self._columns = columns
        self._key = key
        self._target = f"delta.{quoted(path)}"
        self._is_followed = False
        _require_names(columns, path)

    def create(self) -> None:
        """Create the copy if it is not there.

        Raises:
            OptionError: the session has no Delta Lake.
        """
        create_if_missing(self._spark, self._path, self._columns, _PROPERTIES)

    def write(self, changes: DataFrame, batch: BatchNumber) -> None:
        """Apply the changes of a batch in one commit, unless it was committed.

        Args:
            changes: the columns of the table, KIND_COLUMN and SEQUENCE_COLUMN.
            batch: whose.

        Raises:
            SchemaError: the copy cannot get the columns.
        """
        latest = latest_changes(_numbered(changes, self._columns), [self._number(name) for name in self._key]).persist()
        try:
            kinds = {row.row_kind for row in latest.select("row_kind").distinct().collect()}
            self._follow()
            if kinds:
                merge_into(self._path, self._actions(latest), self._key, batch, replaces="truncate" in kinds)
        finally:
            latest.unpersist()

    def _number(self, name: str) -> str:
        return _numbers(self._columns)[name]

    def _actions(self, latest: DataFrame) -> DataFrame:
        columns = [F.col(number).alias(name) for name, number in _numbers(self._columns).items()]
        rows = latest.where("row_kind <> 'truncate'")
        return rows.select((F.col("row_kind") == "delete").alias(DELETE_COLUMN), *columns)

    # -- columns --

    def _follow(self) -> None:
        """Give the copy the columns of the original, once for a query, whose columns stay as they are."""
        if self._is_followed:
            return
        found = {field.name.lower(): field for field in self._spark.read.format("delta").load(self._path).schema}
        wanted = {field.name.lower(): field for field in self._columns}
        dropped = [found[name].name for name in found.keys() - wanted.keys()]
        if dropped:
            self._alter(f"DROP COLUMNS ({', '.join(map(quoted, sorted(dropped)))})")
        self._add_and_widen(found, wanted)
        self._is_followed = True

    def _add_and_widen(self, found: Mapping[str, StructField], wanted: Mapping[str, StructField]) -> None:
        before = None
        for name, field in wanted.items():
            if name not in found:
                where = "FIRST" if before is None else f"AFTER {quoted(before)}"
                self._alter(f"ADD COLUMNS ({_definition(field)} {where})")
            elif found[name].dataType != field.dataType:
                self._widen(found[name], field)
            if name in found and found[name].name != field.name:
                self._alter(f"RENAME COLUMN {quoted(found[name].name)} TO {quoted(field.name)}")
            before = field.name

    def _widen(self, found: StructField, wanted: StructField) -> None:
        try:
            self._alter(f"ALTER COLUMN {quoted(found.name)} TYPE {wanted.dataType.simpleString()}")
        except AnalysisException as error:
            before, now = (sql_name_of(each.dataType.simpleString()) for each in (found, wanted))
            raise SchemaError(
                f"column '{wanted.name}' was {before} and is {now} now, which Delta Lake cannot widen: delete the copy "
                f"in {self._path} and its checkpoint, and the table is copied anew."
            ) from error

    def _alter(self, change: str) -> None:
        self._spark.sql(f"ALTER TABLE {self._target} {change}")


def _require_names(columns: StructType, path: str) -> None:
    unusable = [field.name for field in columns if "`" in field.name]
    if unusable:
        raise SchemaError(
            f"the column '{unusable[0]}' of the table that would be copied to {path} has a backtick in its name, which "
            f"Delta Lake's MERGE does not read: rename it, or leave the table out."
        )


def _definition(field: StructField) -> str:
    return f"{quoted(field.name)} {field.dataType.simpleString()}"


def _numbers(columns: StructType) -> dict[str, str]:
    """Return a name for each column that nothing else in a batch has."""
    return {field.name: f"column_{number}" for number, field in enumerate(columns)}


def _numbered(changes: DataFrame, columns: StructType) -> DataFrame:
    own = [F.col(quoted(name)).alias(number) for name, number in _numbers(columns).items()]
    return changes.select(F.col(KIND_COLUMN).alias("row_kind"), F.col(SEQUENCE_COLUMN).alias("_seq"), *own)
