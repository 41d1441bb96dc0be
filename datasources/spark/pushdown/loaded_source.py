"""A source, loaded once more to deliver something else in place of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasources.errors import ExpressionError, OptionError, SchemaError
from datasources.options import lower_keys
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.attach.register import session_defaults, session_functions
from datasources.spark.options.aggregation_options import AGGREGATION, AggregationOption
from datasources.spark.options.code_options import allows_code_options
from datasources.spark.options.packing_options import PACKING, PackingOption
from datasources.spark.options.scan_options import ATTACHED
from datasources.spark.plans.catalyst import Catalyst, kind
from datasources.spark.plans.mark_attached import identified_as
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.scan.aggregation import may_fail
from datasources.spark.scan.scan import Scan, build_scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OF_THE_SESSION = ("scan.session.time-zone", "scan.session.ansi")
COLUMNS = "scan.columns"
FILTER = "scan.filter"


def partial_frame(  # noqa: PLR0913 - what a scan is asked for
    catalyst: Catalyst,
    leaf: Any,
    option: AggregationOption,
    *,
    condition: str | None,
    row_watermark: str | None,
    leaves_rows_out: bool,
) -> DataFrame:
    """Return the partial aggregates of a source as an attached stream.

    Args:
        catalyst: of the session.
        leaf: the source's node in a plan.
        option: which aggregates.
        condition: which rows count, as Spark SQL over the source's columns, beside its own filter.
        row_watermark: the name under which the row watermark is delivered; None = it is not.
        leaves_rows_out: whether Spark leaves out rows by their window, for which nothing may fail in the reader.

    Raises:
        NotPushed: the reader cannot compute them with Spark's own result.
    """
    assert option.panes is not None
    spark = catalyst.spark
    options = _partial_options(leaf, option, condition) | {ATTACHED: "true"}
    scan = possible_scan(spark, source_name(leaf), options)
    _require_no_failure(scan, leaves_rows_out=leaves_rows_out)
    loaded = spark.readStream.format(leaf.sourceName()).options(**options).load()
    names = [*(key.name for key in option.keys), *(call.name for call in option.calls)]
    time = AttachedColumn(name=option.panes.name, is_event_time=True)
    columns = [time, *(AttachedColumn(name=name) for name in names)]
    fresh = catalyst.plan(loaded)
    named = catalyst.frame(identified_as(leaf, fresh, output=fresh.output()))
    return attach(named, columns, row_watermark_as=row_watermark)


def partial_table(catalyst: Catalyst, leaf: Any, option: AggregationOption, *, condition: str | None) -> Any:
    """Return the plan of the partial aggregates of a source that is read as a batch.

    Args:
        catalyst: of the session.
        leaf: the source's node in a plan.
        option: which aggregates.
        condition: as of `partial_frame`.

    Raises:
        NotPushed: the reader cannot compute them with Spark's own result.
    """
    name, options = source_name(leaf), _partial_options(leaf, option, condition)
    possible_scan(catalyst.spark, name, options)
    return catalyst.plan(catalyst.spark.read.format(name).options(**options).load())


def packing_scan(catalyst: Catalyst, leaf: Any, option: PackingOption, *, is_attached: bool = False) -> DataFrame:
    """Return the packed rows of a source, under the name by which checkpoints know it.

    Raises:
        NotPushed: the reader cannot pack them with Spark's own result.
    """
    spark, name = catalyst.spark, source_name(leaf)
    options = source_options(leaf) | {PACKING: option.model_dump_json(exclude_none=True)}
    options.pop(COLUMNS, None)
    if is_attached:
        options[ATTACHED] = "true"
    possible_scan(spark, name, options)
    fresh = catalyst.plan(spark.readStream.format(name).options(**options).load())
    return catalyst.frame(identified_as(leaf, fresh, output=fresh.output()))


def source_name(leaf: Any) -> str:
    """Return the format of a source's node."""
    return str(leaf.sourceName() if kind(leaf) == "StreamingRelationV2" else leaf.table().name())


def source_options(leaf: Any) -> dict[str, str]:
    """Return the options of a source's node, keys in lower case."""
    options = leaf.extraOptions() if kind(leaf) == "StreamingRelationV2" else leaf.options()
    return lower_keys(dict(options.asCaseSensitiveMap()))


def _partial_options(leaf: Any, option: AggregationOption, condition: str | None) -> dict[str, str]:
    options = source_options(leaf)
    options.pop(COLUMNS, None)
    conditions = [f"({each})" for each in (options.get(FILTER), condition) if each is not None]
    if conditions and option.panes is not None:  # rows without event time are in no window: nothing may fail for them
        conditions.insert(0, f"{option.panes.rowtime} IS NOT NULL")
    if conditions:
        options[FILTER] = " AND ".join(conditions)
    return options | {AGGREGATION: option.model_dump_json(exclude_none=True)}


def _require_no_failure(scan: Scan, *, leaves_rows_out: bool) -> None:
    if scan.aggregation is None or not leaves_rows_out:
        return
    evaluated = [*scan.aggregation.expressions(), *([] if scan.condition is None else [scan.condition])]
    failing = next((each for each in evaluated if may_fail(each)), None)
    if failing is not None:
        raise NotPushed(f"{failing.text} may fail for rows that are left out by their window")


def possible_scan(spark: SparkSession, source: str, options: dict[str, str]) -> Scan:
    """Build a scan here, where its errors are; `load()` builds it in another process.

    Raises:
        NotPushed: the reader cannot do what the options ask for, with Spark's own result.
    """
    known = getattr(spark, "_tidemark_formats", {}).get(source)
    if known is None:
        raise NotPushed(f"'{source}' was not registered by register()")
    now = session_defaults(spark)
    if any({**known[1].defaults, **options}[key] != now[key] for key in _OF_THE_SESSION):
        raise NotPushed("the source was loaded under another time zone or ANSI mode of the session")
    merged = {**lower_keys(session_defaults(spark)), **options}
    try:
        return build_scan(
            known[0].connector, merged, {}, session_functions(spark), allows_code=allows_code_options(spark)
        )
    except (ExpressionError, OptionError, SchemaError) as error:
        raise NotPushed(str(error.message).splitlines()[0]) from error
