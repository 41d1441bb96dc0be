"""Reads the plan below an Aggregate over session windows, and lets their operator keep aggregates in place of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import DataType, DecimalType, DoubleType, FloatType, IntegralType, StructType

from datasources.errors import ExpressionError, OptionError, SchemaError
from datasources.source.api.abilities import RowCondition
from datasources.source.api.aggregation import PartialFunction
from datasources.source.api.packing import PackedInput
from datasources.source.watermarks.row_watermark import HIDDEN_COLUMNS
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.attach.register import session_functions, session_info
from datasources.spark.operators.buckets.bucket_operator import data_fields
from datasources.spark.operators.sessions.session_groups import SessionGroups
from datasources.spark.operators.sessions.session_step import WINDOW_COLUMNS
from datasources.spark.operators.sessions.session_windows import grouped_session_windows
from datasources.spark.options.aggregation_options import AggregationOption, CallOption
from datasources.spark.options.packing_options import PackedColumnOption, PackedInputOption, PackingOption
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.plans.row_batch_marker import RowBatchMarker
from datasources.spark.plans.session_marker import SessionMarker
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import RowValues, TableRows, chain, is_source
from datasources.spark.scan.aggregation import may_fail
from datasources.spark.scan.packing import packing_of
from datasources.spark.scan.schema import arrow_output_schema
from datasources.spark.scan.time_attributes import ROWTIME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COUNTED: Final = "counted"


@dataclass(slots=True, kw_only=True)
class SessionedRows(TableRows):
    """Rows of a source with their sessions, as an Aggregate takes them.

    Attributes:
        marker: the windows.
        rows: the plan of the rows that the operator takes.
        windows: the columns that the operator adds.
        kept: conditions on those.
    """

    marker: SessionMarker
    rows: Any
    windows: list[Any]
    kept: list[Any] = field(default_factory=list)

    def grouped(self, option: AggregationOption, condition: str | None) -> Any:
        """Return the plan of the partial aggregates of sessions, attached, with the columns of their windows.

        Raises:
            NotPushed: rows of before could not be aggregated, or an expression may fail for rows that do not count.
        """
        df = self.catalyst.frame(self.rows)
        values = {each.name: each.value for each in option.keys}
        values |= {each.name: _value(each, df) for each in option.calls}
        groups = SessionGroups(
            keys=tuple(each.name for each in option.keys),
            calls={each.name: each.function for each in option.calls},
            counted=_COUNTED,
            of_rows=_of_rows(df, values, condition),
        )
        counted = "true" if condition is None else f"coalesce({condition}, false)"
        found = grouped_session_windows(df, self.marker, groups, {**values, _COUNTED: counted})
        start, end, time = WINDOW_COLUMNS
        columns = [
            *(AttachedColumn(name=name) for name in (*groups.columns, start)),
            AttachedColumn(name=end, is_event_time=True),
            AttachedColumn(name=time, time=ROWTIME),
        ]
        return self.catalyst.plan(attach(found, columns))

    def in_windows(self, partials: Any, columns: Mapping[str, Any], carried: list[Any]) -> Any:
        """Return the partial aggregates with the windows that they are in."""
        catalyst = self.catalyst
        again = [catalyst.alias(columns[str(each.name())], each.name(), each.exprId()) for each in self.windows]
        node = catalyst.project([*again, *carried], partials)
        return catalyst.filter(catalyst.conjunction(self.kept), node) if self.kept else node


def sessioned_rows(catalyst: Catalyst, top: Any) -> SessionedRows | None:
    """Return what is below a node that takes rows with their sessions; None if it takes others.

    Raises:
        NotPushed: there is something else between.
    """
    nodes = list(chain(top, is_end=lambda node: is_source(node) or _marker(node) is not None))
    marker = _marker(nodes[-1])
    if marker is None:
        return None
    alias = nodes.pop()
    packed = _packed_rows(alias)
    output = {str(each.name()): each for each in items(alias.output())}
    windows = [output[name] for name in WINDOW_COLUMNS]
    rows = {str(each.name()): each for each in items(packed.output())}
    names = [name for name in output if name not in (*WINDOW_COLUMNS, *HIDDEN_COLUMNS)]
    values = {attribute_id(output[name]): rows[name].withQualifier(catalyst.seq([])) for name in names}
    values |= {attribute_id(each): each for each in windows}
    above = RowValues(catalyst, None)
    above.values |= values
    for node in reversed(nodes):
        above.take(node)
    sources = [each for each in items(packed.collectLeaves()) if is_source(each)]
    if len(sources) != 1:
        raise NotPushed("the rows of the sessions are those of several tables")
    found = SessionedRows(
        catalyst=catalyst,
        leaf=sources[0],
        conditions=[],
        values=above.values,
        window_ids=frozenset(map(attribute_id, windows)),
        marker=marker,
        rows=packed,
        windows=windows,
    )
    for condition in above.conditions:
        (found.conditions if found.depends_on_rows(condition) else found.kept).append(condition)
    return found


def _marker(node: Any) -> SessionMarker | None:
    return SessionMarker.of(str(node.identifier().name())) if kind(node) == "SubqueryAlias" else None


def _packed_rows(node: Any) -> Any:
    """Return the rows below the operator, before they are packed.

    Raises:
        NotPushed: the operator is not where it was put.
    """
    while not (kind(node) == "SubqueryAlias" and RowBatchMarker.of(str(node.identifier().name())) is not None):
        children = items(node.children())
        if not children:
            raise NotPushed("the rows of the sessions are not found")
        node = children[0]
    return node.child().child().child()


def _value(call: CallOption, df: DataFrame) -> str:
    """Return the aggregate of a row as if it were alone."""
    if call.function is PartialFunction.COUNT:
        value = "1L" if call.argument is None else f"CASE WHEN {call.argument} IS NOT NULL THEN 1L ELSE 0L END"
        return value if call.condition is None else f"CASE WHEN {call.condition} THEN {value} ELSE 0L END"
    assert call.argument is not None
    value = call.argument
    if call.function is PartialFunction.SUM:
        value = _widened(value, df.select(F.expr(value)).schema[0].dataType)
    return value if call.condition is None else f"CASE WHEN {call.condition} THEN {value} END"


def _widened(value: str, kind: DataType) -> str:
    """Return a number in a type in which there is room for sums; those of decimals that have none stay apart."""
    if isinstance(kind, FloatType | DoubleType):
        return f"CAST({value} AS DOUBLE)"
    if isinstance(kind, IntegralType):
        return f"CAST({value} AS BIGINT)"
    if isinstance(kind, DecimalType):
        return value
    raise NotPushed(f"SUM of {kind.simpleString()} is not computed in the reader")


def _of_rows(df: DataFrame, values: Mapping[str, str], condition: str | None) -> PackedInput:
    """Return what computes the values in a worker of Python.

    Raises:
        NotPushed: it would not be certain to compute what Spark does, for every row.
    """
    fields = df.select(*(F.expr(text).alias(name) for name, text in values.items())).schema.fields
    columns = tuple(
        PackedColumnOption(name=each.name, type=each.dataType.simpleString(), value=values[each.name])
        for each in fields
    )
    option = PackingOption(buckets=1, inputs=(PackedInputOption(number=0, columns=columns, condition=condition),))
    schema = arrow_output_schema(StructType(data_fields(df)))
    spark = df.sparkSession
    try:
        (packed,) = packing_of(option, schema, session_info(spark), session_functions(spark)).inputs
    except (ExpressionError, OptionError, SchemaError) as error:
        raise NotPushed(str(error.message).splitlines()[0]) from error
    evaluated: list[RowCondition] = [each.value for each in packed.columns]
    evaluated += [] if packed.condition is None else [packed.condition]
    failing = next((each for each in evaluated if may_fail(each)), None)
    if failing is not None:
        raise NotPushed(f"{failing.text} may fail for rows that are late")
    return packed
