"""INSERT INTO a table of files: Spark's file sink, which commits the files of a batch with the batch.

What a stream has committed is in a log beside its files (`_spark_metadata`), and Spark reads such a directory by its
log. So files that were there before, or come from elsewhere, would not be seen, and the batches of another stream would
be skipped where the log has their numbers. All of this is refused before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from datasources.errors import OptionError
from datasources.options import lower_keys
from datasources.spark.boundary.connect import is_connect
from datasources.spark.boundary.hadoop_files import SINK_LOG, HadoopFiles, has_sink_log
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.execute.result import StatementResult
from datasources.sql.execute.stream_writer import checkpoint_of, is_batch, partitioned, prepared, started
from datasources.sql.planner.files.file_layout import FileColumn
from datasources.sql.planner.files.file_options import ignored_by_sinks
from datasources.sql.planner.files.file_table import FileTable, file_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.resolve.resolved_table import ResolvedTable
    from datasources.sql.statements.catalog_objects import TableDefinition
    from datasources.sql.statements.statements import Insert

_UNSEEN: Final = ("_", ".")
"""How the names of files begin that no reader sees."""

_streams: Final[WeakValueDictionary[str, StreamingQuery]] = WeakValueDictionary()
"""The streams of this process by the paths that they write into."""


@dataclass(slots=True)
class FileSink:
    """The files of a table that is written.

    Args:
        state: the session.
        table: the table; its options are checked.
        resolved: the same with types.

    Raises:
        OptionError: an option is missing, unknown or wrong.
        SchemaError: files of the format cannot have a column.
    """

    state: SessionState
    table: TableDefinition
    resolved: ResolvedTable

    def __post_init__(self) -> None:
        self._files()

    def write(self, rows: DataFrame, statement: Insert) -> StatementResult:
        """Write rows that have the table's columns, or start the stream that does.

        Raises:
            SqlError: a stream is to replace rows.
            OptionError: a stream has nowhere to keep its checkpoint, or the directory has what Spark would not see.
        """
        files, state = self._files(), self.state
        written = files.written(rows)
        keys = [each.name for each in files.partition_keys]
        options = {**files.write_options, **files.layout.write_options}
        hints = (*statement.hints, *ignored_by_sinks(lower_keys(self.table.options)))
        if is_batch(state, rows):
            self._require_no_log(files.options.path)
            writer = partitioned(written.write.format(files.layout.spark_format).options(**options), keys)
            if statement.is_overwrite and keys:
                writer = writer.option("partitionOverwriteMode", "dynamic")  # others stay, as in Flink
            writer.mode("overwrite" if statement.is_overwrite else "append").save(files.options.path)
            return StatementResult(kind="INSERT", hints=hints)
        if statement.is_overwrite:
            raise statement.source.error(
                statement.target_span,
                "a stream does not replace rows",
                "SET 'execution.runtime-mode' = 'batch', or write INSERT INTO.",
            )
        checkpoint = checkpoint_of(state, self.table)
        stream = partitioned(written.writeStream.format(files.layout.spark_format).options(**options), keys)
        stream = prepared(state, stream, self.table, format_name="filesystem", checkpoint=checkpoint)
        self._require_own_log(files.options.path, checkpoint or "")
        result = started(state, stream.option("path", files.options.path), self.table, hints)
        if result.query is not None and not is_connect(state.spark):
            _streams[HadoopFiles(state.spark).qualified(files.options.path)] = result.query
        return result

    def _files(self) -> FileTable:
        options = expand(lower_keys(self.table.options))
        options.pop("connector", None)
        columns = tuple(
            FileColumn(name=each.name, spark_type=each.spark_type) for each in self.resolved.columns if each.is_physical
        )
        try:
            found = file_table(self.table.name, options, columns, self.resolved.partition_keys)
            found.require_writable(options)
        except OptionError as error:
            raise OptionError(f"table '{self.table.name}': {error.message}") from None
        return found

    def _require_no_log(self, path: str) -> None:
        """Refuse a batch into a directory of a stream."""
        if has_sink_log(self.state.spark, path):
            raise self._refused(path, f"a stream writes there, and only the files in its log ({SINK_LOG}) are read")

    def _require_own_log(self, path: str, checkpoint: str) -> None:
        """Refuse a new stream into a directory that is not empty, unless it is its own."""
        if is_connect(self.state.spark):
            return
        files = HadoopFiles(self.state.spark)
        other = _streams.get(files.qualified(path))
        if other is not None and other.isActive:
            raise self._refused(path, "another stream of this process writes there, and each needs a directory")
        if files.names(f"{checkpoint}/offsets"):
            return
        if files.names(f"{path}/{SINK_LOG}"):
            raise self._refused(
                path,
                f"another stream wrote there, and Spark would skip the batches of this one that have the numbers of "
                f"those in the log ({SINK_LOG}): go on with that stream's checkpoint",
            )
        if any(not name.startswith(_UNSEEN) for name in files.names(path) or ()):
            raise self._refused(path, "there are files that no stream wrote, and they would not be read any more")

    def _refused(self, path: str, reason: str) -> OptionError:
        return OptionError(f"table '{self.table.name}': {reason}. Give the table another 'path' than '{path}'.")
