"""Runs the steps of a query in a Spark session: a step becomes a temporary view whose columns carry its marks.

Spark hands a column's metadata on through projections, renames, filters, unions and views, and drops it where a new
value is computed. That is what a time attribute does. So validity is kept where Spark keeps it; a step says only what
begins or ends in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from datasources.errors import SqlError
from datasources.spark.scan.time_attributes import TIME_KEY, time_metadata
from datasources.sql.query.block.relation import STAMP_COLUMN, Relation, RelationColumn, Step
from datasources.sql.text.literals import quoted
from datasources.sql.types.time_kind import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "HELD_BACK_KEY",
    "WHY_NOT_KEY",
    "column_metadata",
    "make_view",
    "relation_of",
    "step_frame",
]

WHY_NOT_KEY: Final = "tidemark.why-not"
"""Where a column stopped being a time attribute."""
HELD_BACK_KEY: Final = "tidemark.held-back"
"""The unit that a time attribute was rounded down to."""


def column_metadata(
    *,
    is_event_time: bool = False,
    time: TimeKind | None = None,
    why_not: str | None = None,
    held_back: str | None = None,
) -> dict[str, Any]:
    """Return the metadata of a column."""
    metadata = time_metadata(time=None if time is None else time.value, delay_ms=0 if is_event_time else None)
    if why_not is not None:
        metadata[WHY_NOT_KEY] = why_not
    if held_back is not None:
        metadata[HELD_BACK_KEY] = held_back
    return metadata


def make_view(spark: SparkSession, step: Step) -> Relation:
    """Make the temporary view of a step and return its relation.

    Raises:
        SqlError: Spark refuses the text; its first line is the reason.
    """
    frame = step_frame(spark, step)
    frame.createOrReplaceTempView(step.view)
    return relation_of(frame, step.view)


def step_frame(spark: SparkSession, step: Step) -> DataFrame:
    """Return what a step gives, with its marks."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    marks = _marks(step)
    try:
        frame = spark.sql(step.text)
        columns: list[Column] = [
            F.col(quoted(name)).alias(name, metadata=marks[name.lower()])
            if name.lower() in marks
            else F.col(quoted(name))
            for name in frame.columns
        ]
        return frame.select(*columns) if marks else frame
    except PySparkException as error:
        reason = str(error).split("\n\n", 1)[0].splitlines()[0]
        raise SqlError(f"Spark refuses {step.shown or 'a part of the query'}: {reason}\n{step.text}") from error


def relation_of(frame: DataFrame, view: str, *, has_stamp: bool | None = None) -> Relation:
    """Return the relation of a view.

    Args:
        frame: what the view shows.
        view: its name.
        has_stamp: None = it has if there is such a column.
    """
    fields = frame.schema.fields
    if has_stamp is None:
        has_stamp = any(field.name == STAMP_COLUMN for field in fields)
    return Relation(
        view=view,
        columns=tuple(_column(field) for field in fields if field.name != STAMP_COLUMN),
        has_stamp=has_stamp,
    )


def _column(field: Any) -> RelationColumn:
    metadata = field.metadata or {}
    time = metadata.get(TIME_KEY)
    return RelationColumn(
        name=field.name,
        type_name=field.dataType.simpleString(),
        time=None if time is None else TimeKind(time),
        why_not=metadata.get(WHY_NOT_KEY),
        held_back=metadata.get(HELD_BACK_KEY),
    )


def _marks(step: Step) -> dict[str, dict[str, Any]]:
    event_times = {name.lower() for name in step.event_times}
    attributes = {name.lower(): time for name, time in step.attributes.items()}
    lost = {name.lower(): why for name, why in step.lost.items()}
    held_back = {name.lower(): unit for name, unit in step.held_back.items()}
    return {
        name: column_metadata(
            is_event_time=name in event_times,
            time=attributes.get(name),
            why_not=lost.get(name),
            held_back=held_back.get(name),
        )
        for name in (*event_times, *attributes, *lost)
    }
