"""The option `scan.attached` in the sources below an attachment: a source with a watermark refuses to run without it.

Spark keeps the instance that `load()` made of a data source, its options included. So a source gets the option by being
loaded once more; its new node replaces the old one in the plan, with its columns.
"""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame

from datasources.errors import QueryError
from datasources.spark.boundary.connect import is_connect
from datasources.spark.options.scan_options import ATTACHED
from datasources.spark.plans.connect_plan import SEVERAL_STREAMS, with_source_option
from datasources.spark.plans.plan_walk import items, kind, watermarked_sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REMEMBERED: Final = 100


def mark_attached(df: DataFrame) -> DataFrame:
    """Return the same rows, read by sources that know that they are attached.

    Raises:
        QueryError: several streams are put together below the attachment, or a source has another schema by now.
    """
    if is_connect(df.sparkSession):
        return with_source_option(df, ATTACHED, "true")
    if not df.isStreaming:
        return df
    plan = df._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark hides the plan
    sources = watermarked_sources(plan)
    if not sources:
        raise QueryError(SEVERAL_STREAMS)
    marked = _with_marked(df.sparkSession, plan, sources)
    if marked is plan:
        return df
    jvm: Any = df.sparkSession._jvm  # noqa: SLF001 - PySpark hides the plan
    session = df.sparkSession._jsparkSession  # noqa: SLF001 - as PySpark itself makes a DataFrame
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, marked), df.sparkSession)


def _with_marked(spark: SparkSession, node: Any, sources: list[Any]) -> Any:
    """Return the plan with its sources marked; the very same object where nothing changes."""
    if any(node.equals(source) for source in sources):
        return _marked(spark, node)
    before = list(items(node.children()))
    after = [_with_marked(spark, child, sources) for child in before]
    if all(new is old for new, old in zip(after, before, strict=True)):
        return node
    return node.withNewChildren(spark._jvm.PythonUtils.toSeq(after))  # noqa: SLF001 - Scala's own list


def _marked(spark: SparkSession, source: Any) -> Any:
    """Return a source with the option: the same one for the same one, which Spark then reads once.

    A source that is no DataSource V2, such as files to which rows with the hidden columns were written, needs none.
    """
    if kind(source) != "StreamingRelationV2":
        return source
    options = dict(source.extraOptions().asCaseSensitiveMap())
    if any(key.lower() == ATTACHED and value.lower() == "true" for key, value in options.items()):
        return source
    known: deque[tuple[Any, Any]] = spark.__dict__.setdefault("_tidemark_marked", deque(maxlen=_REMEMBERED))
    found = next((marked for old, marked in known if old.equals(source)), None)
    if found is None:
        found = _loaded_again(spark, source, {**options, ATTACHED: "true"})
        known.append((source, found))
    return found


def _loaded_again(spark: SparkSession, source: Any, options: dict[str, str]) -> Any:
    loaded = spark.readStream.format(source.sourceName()).options(**options).load()
    fresh = loaded._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark hides the plan
    if _fields(fresh) != _fields(source):
        raise QueryError(
            f"the source '{source.sourceName()}' has another schema than when it was loaded. Load it again, and attach "
            f"the new DataFrame."
        )
    return identified_as(source, fresh, output=source.output())


def identified_as(source: Any, fresh: Any, *, output: Any) -> Any:
    """Return a source's node under the name by which checkpoints know another one, with these columns."""
    return fresh.copy(
        fresh.source(),
        fresh.sourceName(),
        fresh.table(),
        fresh.extraOptions(),
        output,
        fresh.catalog(),
        fresh.identifier(),
        fresh.v1Relation(),
        source.sourceIdentifyingName(),
    )


def _fields(source: Any) -> list[dict[str, Any]]:
    fields: list[dict[str, Any]] = json.loads(source.schema().json())["fields"]
    return fields
