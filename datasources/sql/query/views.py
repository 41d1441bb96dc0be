"""Runs the steps of a query in a Spark session: a step becomes a view whose columns carry time properties.

Spark propagates a column's metadata through projections, renames, filters, unions and views, and drops it where a new
value is computed. A time attribute is valid in just these cases, so its validity is stored in the metadata; a step only
declares attributes that begin or end in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from datasources.errors import SqlError
from datasources.grammar.literals import quoted
from datasources.spark.boundary.connect import is_connect
from datasources.spark.plans.connect_plan import sql_with_views
from datasources.spark.scan.time_attributes import TIME_KEY, time_metadata
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, QueryStep, Relation, RelationColumn
from datasources.sql.types.time_kind import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

LOST_REASON_KEY: Final = "tidemark.why-not"
"""Where a column stopped being a time attribute."""
LAG_UNIT_KEY: Final = "tidemark.held-back"
"""The unit that a time attribute was rounded down to."""


def column_metadata(
    *,
    is_event_time: bool = False,
    time: TimeKind | None = None,
    lost_reason: str | None = None,
    lag_unit: str | None = None,
) -> dict[str, Any]:
    """Return the metadata of a column."""
    metadata = time_metadata(time=None if time is None else time.value, delay_ms=0 if is_event_time else None)
    if lost_reason is not None:
        metadata[LOST_REASON_KEY] = lost_reason
    if lag_unit is not None:
        metadata[LAG_UNIT_KEY] = lag_unit
    return metadata


class StatementViews:
    """The views that one statement makes, and the DataFrames of texts that name them.

    In the driver's process they are temporary views: a DataFrame keeps the plan that Spark made of them, so they end
    with the statement. Spark Connect analyses a text at each use of its DataFrame, so there they travel with it.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._is_connect = is_connect(spark)
        self._frames: dict[str, DataFrame] = {}

    def make(self, name: str, frame: DataFrame) -> None:
        """Give a DataFrame a name, under which later texts find it."""
        self._frames[name] = frame
        if not self._is_connect:
            frame.createOrReplaceTempView(name)

    def table(self, name: str) -> DataFrame:
        """Return a view that was made here."""
        return self._frames[name].alias(name) if self._is_connect else self._spark.table(name)

    def sql(self, text: str) -> DataFrame:
        """Return the result of a query in Spark SQL."""
        return sql_with_views(self._spark, text, self._frames) if self._is_connect else self._spark.sql(text)

    def drop(self) -> None:
        """Drop the views; DataFrames that were made of them stay as they are."""
        if not self._is_connect:
            for name in self._frames:
                self._spark.catalog.dropTempView(name)
        self._frames.clear()


def make_view(views: StatementViews, step: QueryStep) -> Relation:
    """Make the view of a step and return its relation.

    Raises:
        SqlError: Spark refuses the text; its first line is the reason.
    """
    frame = step_frame(views, step)
    views.make(step.view, frame)
    return relation_of(frame, step.view)


def step_frame(views: StatementViews, step: QueryStep) -> DataFrame:
    """Return the result of a step with its time properties."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    metadata_of = _column_metadata(step)
    try:
        frame = views.sql(step.text)
        columns: list[Column] = [
            F.col(quoted(name)).alias(name, metadata=metadata_of[name.lower()])
            if name.lower() in metadata_of
            else F.col(quoted(name))
            for name in frame.columns
        ]
        found = frame.select(*columns) if metadata_of else frame
        return found if step.window is None else found.alias(step.window.alias)
    except PySparkException as error:
        reason = str(error).split("\n\n", 1)[0].splitlines()[0]
        raise SqlError(f"Spark refuses {step.shown or 'a part of the query'}: {reason}\n{step.text}") from error


def relation_of(frame: DataFrame, view: str, *, has_row_watermark: bool | None = None) -> Relation:
    """Return the relation of a view.

    ``has_row_watermark`` = None: it has if there is such a column.
    """
    fields = frame.schema.fields
    if has_row_watermark is None:
        has_row_watermark = any(field.name == ROW_WATERMARK_COLUMN for field in fields)
    return Relation(
        view=view,
        columns=tuple(_column(field) for field in fields if field.name != ROW_WATERMARK_COLUMN),
        has_row_watermark=has_row_watermark,
    )


def _column(field: Any) -> RelationColumn:
    metadata = field.metadata or {}
    time = metadata.get(TIME_KEY)
    return RelationColumn(
        name=field.name,
        type_name=field.dataType.simpleString(),
        time=None if time is None else TimeKind(time),
        lost_reason=metadata.get(LOST_REASON_KEY),
        lag_unit=metadata.get(LAG_UNIT_KEY),
    )


def _column_metadata(step: QueryStep) -> dict[str, dict[str, Any]]:
    event_times = {name.lower() for name in step.event_times}
    attributes = {name.lower(): time for name, time in step.attributes.items()}
    lost = {name.lower(): reason for name, reason in step.lost.items()}
    lag_unit = {name.lower(): unit for name, unit in step.lag_unit.items()}
    return {
        name: column_metadata(
            is_event_time=name in event_times,
            time=attributes.get(name),
            lost_reason=lost.get(name),
            lag_unit=lag_unit.get(name),
        )
        for name in (*event_times, *attributes, *lost)
    }
