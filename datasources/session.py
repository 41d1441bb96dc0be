"""register() and read_stream(): what a job calls first."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from datasources.errors import OptionError
from datasources.kafka.data_source import KafkaDataSource
from datasources.mysql.data_source import MySqlDataSource
from datasources.scripted.data_source import ScriptedDataSource
from datasources.spark.adapter.data_source import TidemarkDataSource
from datasources.spark.attach.read_stream import load_stream
from datasources.spark.attach.register import register_formats
from datasources.spark.plans.session_checks import require_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS: tuple[type[TidemarkDataSource], ...] = (KafkaDataSource, MySqlDataSource, ScriptedDataSource)


def register(spark: SparkSession, *sources: type[TidemarkDataSource]) -> None:
    """Make Tidemark's formats, and `sources` of your own, known to a session; start the application's coordinator.

    Call it once per session, before the first read; calling it again is harmless. Session time zone, ANSI flag and
    `spark.tidemark.*` settings are taken as they are at the call.

    On Spark Connect the driver's Python needs the package in the client's version; planners start the coordinator.
    """
    register_formats(spark, (*FORMATS, *sources))


def read_stream(
    spark: SparkSession,
    source_format: str | type[TidemarkDataSource],
    options: Mapping[str, object],
    schema: str | None = None,
    *,
    time_attributes: Sequence[str] | str = (),
) -> DataFrame:
    """Return a stream of a Tidemark source that Spark's stateful operators follow.

    Registers the session if that was not done, checks every option in the calling process, loads, and attaches the
    source's watermark if the options declare one.

    Args:
        spark: the session, classic or a client of Spark Connect.
        source_format: `tidemark-kafka`, `tidemark-mysql`, `tidemark-scripted`, or the class of a source of your own.
        options: as for `spark.readStream.options(...)`; values may be numbers and booleans.
        schema: the columns as Spark DDL, the same as the option `schema`.
        time_attributes: which columns are event time, one name or several; default: the one of `watermark.for`.

    Raises:
        OptionError, ExpressionError, SchemaError, QueryError: before anything runs, saying what to do.
    """
    given = {"source_format": source_format, "options": options, "time_attributes": time_attributes}
    for name, value in given.items():
        if value is None:
            raise OptionError(f"read_stream needs a format and a mapping of options; {name} is None.")
    require_session(spark)
    source = _by_name(source_format) if isinstance(source_format, str) else source_format
    register_formats(spark, (*FORMATS, source), again=False)
    return load_stream(spark, source, options, schema, time_attributes)


def _by_name(name: str) -> type[TidemarkDataSource]:
    sources = {source.name(): source for source in FORMATS}
    if name not in sources:
        near = difflib.get_close_matches(name.lower(), sources, n=1, cutoff=0.4)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise OptionError(f"unknown format '{name}'.{hint} Tidemark's formats are {', '.join(sources)}.")
    return sources[name]
