"""Queries over streams of DataFrames that are changelogs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.changelog.change_query import change_query, empty_tables
from datasources.changelog.result import ROW_KIND_COLUMN
from datasources.changelog.table_changes import TableEvents, insertions, retractions, upserts
from datasources.changelog.translator import TableChanges
from datasources.durations import parse_duration_ms
from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.spark.operators.buckets.rowtime_micros import micros_of
from datasources.spark.plans.session_checks import require_classic
from datasources.spark.scan.time_attributes import DELAY_KEY

_SEQUENCE: Final = "_seq"


def query(text: str, *, state_ttl: str | None = None, **tables: DataFrame) -> DataFrame:
    """Return the changes of a query's result.

    A checkpoint belongs to one text: operators with state refuse another one. A query without any, only projections and
    filters, does not notice it, and would remove rows that were never added.

    Args:
        text: Spark SQL over the tables: projections, filters, joins, aggregates, DISTINCT, set operations, subqueries,
            ROW_NUMBER / RANK / DENSE_RANK, LIMIT.
        state_ttl: for how long the state of a key without changes is kept, in event time: `"1 d"`; None: for ever.
        tables: changelogs, by the names that the text gives them.

    Raises:
        QueryError: naming what cannot be kept up to date.
    """
    if not tables:
        raise QueryError("a query over changelogs names its tables: changelog.query('SELECT ... FROM t', t=df).")
    spark = next(iter(tables.values())).sparkSession

    def read(empty: Mapping[str, DataFrame]) -> DataFrame:
        for name, frame in empty.items():
            frame.createOrReplaceTempView(name)
        try:
            return spark.sql(text)
        finally:
            for name in empty:
                spark.catalog.dropTempView(name)

    return _run(tables, read, " ".join(text.split()), state_ttl)


def aggregate(
    df: DataFrame, keys: Sequence[str], aggregates: Mapping[str, str], *, state_ttl: str | None = None
) -> DataFrame:
    """Return the aggregates of each group as a changelog.

    Args:
        df: a changelog.
        keys: the columns to group by; empty: one group.
        aggregates: name -> aggregate in Spark SQL, for example `"sum(price) FILTER (WHERE paid)"`.
        state_ttl: as in `query`.

    Raises:
        QueryError: naming what cannot be kept up to date.
    """
    columns = [F.expr(text).alias(name) for name, text in aggregates.items()]
    if not columns:
        raise QueryError("aggregate() needs at least one aggregate: {'orders': 'count(*)'}.")
    statement = json.dumps([list(keys), dict(aggregates)])
    return _run(
        {"table": df}, lambda empty: empty["table"].groupBy(*map(quoted, keys)).agg(*columns), statement, state_ttl
    )


def top(df: DataFrame, keys: Sequence[str], order: str, n: int, *, state_ttl: str | None = None) -> DataFrame:
    """Return the first `n` rows of each group as a changelog.

    Args:
        df: a changelog.
        keys: the columns of the groups; empty: the first rows of all.
        order: as behind ORDER BY: `"placed_at DESC, id"`. Rows that are equal in it are ordered by their other columns.
        n: how many rows.
        state_ttl: as in `query`.

    Raises:
        QueryError: ``n`` is below 1, or naming what cannot be kept up to date.
    """
    if n < 1:
        raise QueryError(f"n = {n}: top() returns at least one row of each group.")
    by = f"PARTITION BY {', '.join(map(quoted, keys))} " if keys else ""
    rank = "__tidemark_rank"

    def read(empty: Mapping[str, DataFrame]) -> DataFrame:
        table = empty["table"]
        ranked = table.selectExpr("*", f"row_number() OVER ({by}ORDER BY {order}) AS {rank}")
        return ranked.where(f"{rank} <= {n}").select(*map(quoted, table.columns))

    return _run({"table": df}, read, json.dumps([list(keys), order, n]), state_ttl)


def latest(df: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return the last row of each key as a changelog: a log of upserts and deletes, or with repetitions, as a table.

    The state holds one row per key. Columns of the event, such as its time, are those of the key's last event.

    Args:
        df: a changelog with the column `_seq`, the position of each event in its log: an integer, or a struct of
            integers; sources of Tidemark deliver it.
        keys: the columns of the primary key.

    Raises:
        QueryError: there are no keys, or a column is missing.
    """
    missing = [name for name in (*keys, ROW_KIND_COLUMN, _SEQUENCE) if name not in df.columns]
    if missing or not keys:
        problem = f"the stream has no column '{missing[0]}'" if missing else "there are no keys"
        raise QueryError(
            f"latest() needs a primary key, and the columns '{ROW_KIND_COLUMN}' and '{_SEQUENCE}': {problem}."
        )
    data = [name for name in df.columns if name not in (ROW_KIND_COLUMN, _SEQUENCE)]
    events = TableEvents(
        rows=df,
        columns=[df[quoted(name)] for name in data],
        kind=ROW_KIND_COLUMN,
        key=keys,
        order=[df[_SEQUENCE]],
        table="the changelog",
    )
    changes = TableChanges(name="changelog", changes=upserts(events), is_insert_only=False, key=tuple(keys))
    return _result({"table": changes}, lambda empty: empty["table"])


def _run(
    tables: Mapping[str, DataFrame],
    read: Callable[[Mapping[str, DataFrame]], DataFrame],
    statement: str,
    state_ttl: str | None,
) -> DataFrame:
    return _result({name: _changes(name, df, state_ttl) for name, df in tables.items()}, read, statement)


def _result(
    tables: Mapping[str, TableChanges], read: Callable[[Mapping[str, DataFrame]], DataFrame], statement: str = ""
) -> DataFrame:
    empty, by_id = empty_tables(tables)
    return change_query(read(empty), by_id, statement=statement).frame


def _changes(name: str, df: DataFrame, state_ttl: str | None) -> TableChanges:
    require_classic(df.sparkSession, "a query whose rows change")
    if not df.isStreaming:
        raise QueryError(f"'{name}' is no stream: the rows of a batch are a table already, so query them as one.")
    columns = [df[quoted(each)] for each in df.columns if each not in (ROW_KIND_COLUMN, _SEQUENCE)]
    ttl_us = None if state_ttl is None else parse_duration_ms(state_ttl, key="state_ttl") * 1_000 or None
    time_us = None if ttl_us is None else _event_time_us(name, df)
    if ROW_KIND_COLUMN not in df.columns:
        changes = insertions(df, columns, time_us)
        return TableChanges(name=name, changes=changes, is_insert_only=True, ttl_us=ttl_us)
    events = TableEvents(rows=df, columns=columns, kind=ROW_KIND_COLUMN, key=(), order=(), table=name, time_us=time_us)
    return TableChanges(name=name, changes=retractions(events), is_insert_only=False, ttl_us=ttl_us)


def _event_time_us(name: str, df: DataFrame) -> Column:
    """Return the event time of a stream's rows.

    Raises:
        QueryError: it has no watermark.
    """
    found = next((each for each in df.schema if DELAY_KEY in each.metadata), None)
    if found is None:
        raise QueryError(
            f"state_ttl is measured in event time, and '{name}' has no watermark: make it with "
            f"with_source_watermark(df), or df.withWatermark(...) for a source of Spark's."
        )
    return micros_of(found)
