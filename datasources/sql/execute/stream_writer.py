"""The stream that an INSERT starts: its name, trigger, output mode and checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from datasources.durations import parse_duration_ms
from datasources.errors import OptionError
from datasources.options import lower_keys
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.execute.result import StatementResult
from datasources.sql.settings import RuntimeMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, DataFrameWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.statements.catalog_objects import TableDefinition

NEEDS_NO_CHECKPOINT: Final = frozenset({"console", "noop", "memory"})
"""Formats that keep nothing."""
_Writer = TypeVar("_Writer", "DataFrameWriter", "DataStreamWriter")
_OUR_KEYS: Final = frozenset({"connector", "checkpointlocation", "outputmode"})


def sink_options(table: TableDefinition) -> dict[str, str]:
    """Return the options of the sink itself, secrets expanded."""
    return expand({key: value for key, value in table.options.items() if key.lower() not in _OUR_KEYS})


def is_batch(state: SessionState, rows: DataFrame) -> bool:
    """Tell whether rows are written at once, and not by a stream."""
    return state.settings.typed.runtime_mode is RuntimeMode.BATCH or not rows.isStreaming


def partitioned(writer: _Writer, keys: Sequence[str]) -> _Writer:
    """Return a writer into directories by keys; some sinks refuse to be asked for none."""
    return writer.partitionBy(*keys) if keys else writer


def checkpoint_of(state: SessionState, table: TableDefinition) -> str | None:
    """Return the directory of the next stream into a table; each INSERT has one of its own."""
    directory = state.settings.typed.checkpoint_directory
    return lower_keys(table.options).get("checkpointlocation") or _checkpoint(state, table.name, directory)


def prepared(
    state: SessionState,
    writer: DataStreamWriter,
    table: TableDefinition,
    *,
    format_name: str,
    checkpoint: str | None = None,
) -> DataStreamWriter:
    """Return a stream into a table with its name, trigger, output mode and checkpoint.

    Args:
        state: the session.
        writer: of the rows.
        table: the target.
        format_name: of the sink.
        checkpoint: its directory; None = that of the next stream into the table.

    Raises:
        OptionError: there is nowhere to keep the checkpoint.
    """
    options = lower_keys(table.options)
    settings = state.settings.typed
    writer = writer.outputMode(options.get("outputmode", "append"))
    name = table.name if format_name == "memory" else settings.query_name
    if name is not None:
        writer = writer.queryName(name)
    if settings.trigger is not None:
        writer = _triggered(writer, settings.trigger)
    checkpoint = checkpoint or checkpoint_of(state, table)
    if checkpoint is not None:
        return writer.option("checkpointLocation", checkpoint)
    if format_name not in NEEDS_NO_CHECKPOINT:
        raise OptionError(
            f"the stream into table '{table.name}' has nowhere to keep its checkpoint: SET "
            f"'execution.checkpointing.dir' = '/a/directory', or give the table the option 'checkpointLocation'."
        )
    return writer


def started(
    state: SessionState, writer: DataStreamWriter, table: TableDefinition, hints: tuple[str, ...]
) -> StatementResult:
    """Start a stream into a table and return it as the result of its statement."""
    query = writer.start()
    state.queries.append(query)
    return StatementResult(
        kind="INSERT",
        columns=("query", "name", "target"),
        rows=((query.id, query.name, table.name),),
        query=query,
        hints=hints,
    )


def _checkpoint(state: SessionState, table: str, directory: str | None) -> str | None:
    """One directory per INSERT: named after the target, numbered from the second one of a session on."""
    if directory is None:
        return None
    state.inserts[table.lower()] += 1
    number = state.inserts[table.lower()]
    return f"{directory.rstrip('/')}/{table if number == 1 else f'{table}-{number}'}"


def _triggered(writer: DataStreamWriter, trigger: str) -> DataStreamWriter:
    if trigger.lower() == "available-now":
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{parse_duration_ms(trigger, key='execution.trigger')} milliseconds")
