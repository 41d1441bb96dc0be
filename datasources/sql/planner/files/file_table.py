"""A table with `'connector' = 'filesystem'`: its columns in files and directories, read and written by Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import OptionError
from datasources.grammar.literals import literal, quoted
from datasources.spark.boundary.hadoop_files import has_sink_log
from datasources.sql.planner.files.file_layout import FileColumn, FileLayout, LayoutRequest
from datasources.sql.planner.files.file_options import (
    FileOptions,
    file_options,
    require_known_policy,
    spark_read_options,
    spark_write_options,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE_METADATA: Final[Mapping[str, str]] = {
    "file.path": "STRING",
    "file.name": "STRING",
    "file.size": "BIGINT",
    "file.modification-time": "TIMESTAMP",
}
"""The metadata keys of Flink's connector, and their types."""

_GUESSES: Final = "spark.sql.sources.partitionColumnTypeInference.enabled"
_SCHEME: Final = "^[a-zA-Z][^:/]*:(//[^/]*)?"
_METADATA: Final = {
    "file.path": f"url_decode(replace(regexp_replace(_metadata.file_path, '{_SCHEME}', ''), '+', '%2B'))",
    "file.name": "_metadata.file_name",
    "file.size": "_metadata.file_size",
    "file.modification-time": "_metadata.file_modification_time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTable:
    """A table of files.

    Attributes:
        options: the connector's.
        layout: of the columns in the files.
        partition_keys: the columns in the names of directories.
        read_options: of Spark's reader, without the layout's.
        write_options: of Spark's writer, without the layout's.
    """

    options: FileOptions
    layout: FileLayout
    partition_keys: tuple[FileColumn, ...]
    read_options: Mapping[str, str]
    write_options: Mapping[str, str]

    @property
    def stored_schema(self) -> str:
        """The columns of the files as Spark reads them, as DDL."""
        stored = [f"{quoted(each.name)} {each.stored_type}" for each in self.layout.columns]
        hidden = [f"{self.layout.hidden} STRING"] if self.layout.hidden else []
        return ", ".join([*stored, *hidden])

    @property
    def schema(self) -> str:
        """The columns of files and directories as Spark reads them, as DDL."""
        return ", ".join([self.stored_schema, *(f"{quoted(each.name)} STRING" for each in self.partition_keys)])

    def read(self, spark: SparkSession, path: str, *, is_streaming: bool, metadata: Mapping[str, str]) -> DataFrame:
        """Return the rows of the table.

        Args:
            spark: the session.
            path: of the files, as Spark takes it.
            is_streaming: whether new files are looked for.
            metadata: additional columns, name -> metadata key.
        """
        if self.partition_keys and not is_streaming and has_sink_log(spark, path):
            files = self._read_by_log(spark, path)
        else:
            reader = spark.readStream if is_streaming else spark.read
            files = reader.format(self.layout.spark_format).schema(self.schema).options(**self._options).load(path)
        if self.layout.condition:
            files = files.where(self.layout.condition)
        additional = [f"{_METADATA[key]} AS {quoted(name)}" for name, key in metadata.items()]
        texts = [f"{each.text} AS {quoted(each.name)}" for each in self.layout.columns]
        keys = [quoted(each.name) for each in self.partition_keys]
        values = [f"{each.value} AS {quoted(each.name)}" for each in self.layout.columns]
        return files.selectExpr(*texts, *keys, *additional).selectExpr(
            *values, *map(self._key_value, self.partition_keys), *map(quoted, metadata)
        )

    def written(self, rows: DataFrame) -> DataFrame:
        """Return rows, which have the table's columns, as the files have them."""
        texts = [f"{each.written} AS {quoted(each.name)}" for each in self.layout.columns]
        frame = rows.selectExpr(*texts, *map(self._key_text, self.partition_keys))
        keys = [each.name for each in self.partition_keys]
        if self.options.is_shuffled and keys:
            columns = [frame[quoted(name)] for name in keys]
            count = self.options.parallelism
            return frame.repartition(*columns) if count is None else frame.repartition(count, *columns)
        return frame if self.options.parallelism is None else frame.repartition(self.options.parallelism)

    def require_writable(self, options: Mapping[str, str]) -> None:
        """Refuse options that say how to write, and that Spark cannot follow.

        Args:
            options: of the table, keys in lower case.

        Raises:
            OptionError: naming one.
        """
        if self.layout.not_written:
            raise OptionError(self.layout.not_written)
        require_known_policy(options)

    @property
    def _options(self) -> dict[str, str]:
        return {**self.read_options, **self.layout.read_options}

    def _read_by_log(self, spark: SparkSession, path: str) -> DataFrame:
        """Return the files of a stream's log, where Spark takes partition keys in a schema for columns of the files.

        Without a schema it finds them, as texts if it does not guess types.
        """
        guesses = spark.conf.get(_GUESSES)
        spark.conf.set(_GUESSES, "false")
        try:
            reader = spark.read.format(self.layout.spark_format).schema(self.stored_schema)
            files = reader.options(**self._options).load(path)
        finally:
            spark.conf.set(_GUESSES, str(guesses))
        missing = {
            each.name: F.lit(None).cast("string") for each in self.partition_keys if each.name not in files.columns
        }
        return files.withColumns(missing) if missing else files

    def _key_value(self, key: FileColumn) -> str:
        name = quoted(key.name)
        text = f"nullif({name}, {literal(self.options.default_partition)})"
        return f"{text if key.spark_type == 'STRING' else f'CAST({text} AS {key.spark_type})'} AS {name}"

    def _key_text(self, key: FileColumn) -> str:
        name = quoted(key.name)
        text = name if key.spark_type == "STRING" else f"CAST({name} AS STRING)"
        return f"coalesce(nullif({text}, ''), {literal(self.options.default_partition)}) AS {name}"


def file_table(
    table: str, options: Mapping[str, str], columns: tuple[FileColumn, ...], partition_keys: tuple[str, ...]
) -> FileTable:
    """Return a table of files.

    Args:
        table: its name.
        options: without `connector`, keys in lower case, secrets expanded.
        columns: the stored ones.
        partition_keys: those of PARTITIONED BY.

    Raises:
        OptionError: an option is missing, unknown or wrong.
        SchemaError: files of the format cannot have a column.
    """
    given, found = file_options(options)
    in_files = tuple(each for each in columns if each.name not in partition_keys)
    by_name = {each.name: each for each in columns}
    return FileTable(
        options=given,
        layout=found.layout(LayoutRequest(table=table, options=options, columns=in_files)),
        partition_keys=tuple(by_name[name] for name in partition_keys),
        read_options=spark_read_options(options),
        write_options=spark_write_options(options),
    )
