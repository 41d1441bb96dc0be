"""A source, loaded once more to deliver partial aggregates in place of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasources.errors import ExpressionError, OptionError, SchemaError
from datasources.options import lower_keys
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.attach.register import session_defaults, session_functions
from datasources.spark.options.aggregation_options import AGGREGATION, AggregationOption
from datasources.spark.options.code_options import allows_code_options
from datasources.spark.options.scan_options import ATTACHED
from datasources.spark.plans.catalyst import Catalyst
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.scan.scan import build_scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = "scan.columns"
_FILTER = "scan.filter"


def partial_frame(
    catalyst: Catalyst, leaf: Any, option: AggregationOption, condition: str | None, row_watermark: str | None
) -> DataFrame:
    """Return the partial aggregates of a source as an attached stream.

    Args:
        catalyst: of the session.
        leaf: the source's node in a plan.
        option: which aggregates.
        condition: which rows count, as Spark SQL over the source's columns, beside its own filter.
        row_watermark: the name under which the row watermark is delivered; None = it is not.

    Raises:
        NotPushed: the reader cannot compute them with Spark's own result.
    """
    spark = catalyst.spark
    options = lower_keys(dict(leaf.extraOptions().asCaseSensitiveMap()))
    options.pop(_COLUMNS, None)
    conditions = [f"({each})" for each in (options.get(_FILTER), condition) if each is not None]
    if conditions:
        options[_FILTER] = " AND ".join(conditions)
    options |= {AGGREGATION: option.model_dump_json(exclude_none=True), ATTACHED: "true"}
    _require_possible(spark, str(leaf.sourceName()), options)
    loaded = spark.readStream.format(leaf.sourceName()).options(**options).load()
    names = [*(key.name for key in option.keys), *(call.name for call in option.calls)]
    columns = [AttachedColumn(name=option.pane, is_event_time=True), *(AttachedColumn(name=name) for name in names)]
    return attach(_identified(catalyst, loaded, leaf), columns, row_watermark_as=row_watermark)


def _require_possible(spark: SparkSession, source: str, options: dict[str, str]) -> None:
    """Build the scan here, where its errors are; `load()` builds it in another process."""
    known = getattr(spark, "_tidemark_formats", {}).get(source)
    if known is None:
        raise NotPushed(f"'{source}' was not registered by register()")
    merged = {**lower_keys(session_defaults(spark)), **options}
    try:
        build_scan(known[0].connector, merged, {}, session_functions(spark), allows_code=allows_code_options(spark))
    except (ExpressionError, OptionError, SchemaError) as error:
        raise NotPushed(str(error.message).splitlines()[0]) from error


def _identified(catalyst: Catalyst, loaded: DataFrame, leaf: Any) -> DataFrame:
    """Give a loaded source the name by which checkpoints know the one that it replaces."""
    fresh = catalyst.plan(loaded)
    return catalyst.frame(
        fresh.copy(
            fresh.source(),
            fresh.sourceName(),
            fresh.table(),
            fresh.extraOptions(),
            fresh.output(),
            fresh.catalog(),
            fresh.identifier(),
            fresh.v1Relation(),
            leaf.sourceIdentifyingName(),
        )
    )
