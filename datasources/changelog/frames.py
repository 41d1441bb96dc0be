"""Queries over streams of DataFrames that are changelogs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.changelog.change_query import change_query, empty_tables
from datasources.changelog.result import ROW_KIND_COLUMN
from datasources.changelog.table_changes import TableEvents, insertions, retractions, upserts
from datasources.changelog.translator import TableChanges
from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.spark.plans.session_checks import require_classic

_SEQUENCE: Final = "_seq"


def query(text: str, **tables: DataFrame) -> DataFrame:
    """Return the changes of a query's result.

    A checkpoint belongs to one text: operators with state refuse another one. A query without any, only projections and
    filters, does not notice it, and would remove rows that were never added.

    Args:
        text: Spark SQL over the tables: projections, filters, joins, aggregates, DISTINCT, set operations, subqueries,
            ROW_NUMBER / RANK / DENSE_RANK, LIMIT.
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

    return _run(tables, read, " ".join(text.split()))


def aggregate(df: DataFrame, keys: Sequence[str], aggregates: Mapping[str, str]) -> DataFrame:
    """Return the aggregates of each group as a changelog.

    Args:
        df: a changelog.
        keys: the columns to group by; empty: one group.
        aggregates: name -> aggregate in Spark SQL, for example `"sum(price) FILTER (WHERE paid)"`.

    Raises:
        QueryError: naming what cannot be kept up to date.
    """
    columns = [F.expr(text).alias(name) for name, text in aggregates.items()]
    if not columns:
        raise QueryError("aggregate() needs at least one aggregate: {'orders': 'count(*)'}.")
    statement = json.dumps([list(keys), dict(aggregates)])
    return _run({"table": df}, lambda empty: empty["table"].groupBy(*map(quoted, keys)).agg(*columns), statement)


def top(df: DataFrame, keys: Sequence[str], order: str, n: int) -> DataFrame:
    """Return the first `n` rows of each group as a changelog.

    Args:
        df: a changelog.
        keys: the columns of the groups; empty: the first rows of all.
        order: as behind ORDER BY: `"placed_at DESC, id"`. Rows that are equal in it are ordered by their other columns.
        n: how many rows.

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

    return _run({"table": df}, read, json.dumps([list(keys), order, n]))


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
    tables: Mapping[str, DataFrame], read: Callable[[Mapping[str, DataFrame]], DataFrame], statement: str = ""
) -> DataFrame:
    return _result({name: _changes(name, df) for name, df in tables.items()}, read, statement)


def _result(
    tables: Mapping[str, TableChanges], read: Callable[[Mapping[str, DataFrame]], DataFrame], statement: str = ""
) -> DataFrame:
    empty, by_id = empty_tables(tables)
    return change_query(read(empty), by_id, statement=statement).frame


def _changes(name: str, df: DataFrame) -> TableChanges:
    require_classic(df.sparkSession)
    if not df.isStreaming:
        raise QueryError(f"'{name}' is no stream: the rows of a batch are a table already, so query them as one.")
    columns = [df[quoted(each)] for each in df.columns if each not in (ROW_KIND_COLUMN, _SEQUENCE)]
    if ROW_KIND_COLUMN not in df.columns:
        return TableChanges(name=name, changes=insertions(df, columns), is_insert_only=True)
    changes = retractions(df, columns, kind=ROW_KIND_COLUMN, table=name)
    return TableChanges(name=name, changes=changes, is_insert_only=False)
