"""SELECT: a DataFrame, streaming if its tables are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from datasources.errors import SqlError, TidemarkError, UpdatingQueryError
from datasources.grammar.lexer import TokenKind, tokenize
from datasources.near_matches import near_matches
from datasources.spark.boundary.connect import is_connect
from datasources.spark.plans.incomplete import incomplete
from datasources.spark.plans.output_modes import unsupported_streaming
from datasources.spark.pushdown.aggregates.aggregate_pushdown import ScanAggregates, push_aggregates
from datasources.spark.pushdown.projection.narrowed_source import NarrowedSource
from datasources.spark.pushdown.projection.projection_pushdown import push_projections
from datasources.spark.pushdown.row_batch_pushdown import push_row_batches
from datasources.sql.flink.query_translator import translate_query
from datasources.sql.planner.tree import attributes_of
from datasources.sql.query import rewrite_query
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from datasources.changelog.change_query import ChangeQuery
    from datasources.grammar.source_text import Span, SqlText
    from datasources.sql.execute.session_relations import StatementRelations
    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.query.block.relation import QueryPlan

_TO_SPARK = (
    "Its rows come by queries, and go in by INSERT INTO table [(columns)] query; other forms (BY NAME, "
    "WITH ... INSERT) are for Spark's own tables."
)
_LATERAL = (
    "A function or a subquery in FROM sees the columns of what stands before it only behind LATERAL: FROM t, LATERAL "
    "unnest(t.tags) AS x(tag)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """A query's DataFrame.

    Attributes:
        frame: the DataFrame.
        changes: of a query over tables that change: how its result is kept up to date.
        scans: which aggregates were pushed down into which scans.
        sources: those that deliver only what the query needs of them.
    """

    frame: DataFrame
    changes: ChangeQuery | None = None
    scans: tuple[ScanAggregates, ...] = ()
    sources: tuple[NarrowedSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuery:
    """A query that is planned: its rewritten text, the views of its tables, and its result."""

    plan: QueryPlan
    relations: StatementRelations
    result: QueryResult


def run_query(state: SessionState, source: SqlText, *, is_read: bool = True) -> DataFrame:
    """Return the DataFrame of a query; see `query_result`."""
    return query_result(state, source, is_read=is_read).frame


def query_result(
    state: SessionState, source: SqlText, *, takes_changes: bool = False, is_read: bool = True
) -> QueryResult:
    """Return the result of a query.

    With ``takes_changes`` it may be a changelog: rows that Spark gives in the output modes *update* and *complete*
    only are one. Without ``is_read`` only its columns are asked for, and nothing is pushed down.

    Raises:
        SqlError, OptionError, ExpressionError, SchemaError: from us, saying what to do.
        AnalysisException, ParseException: Spark's own.
    """
    with planned_query(state, source, takes_changes=takes_changes, is_read=is_read) as planned:
        return planned.result


@contextmanager
def planned_query(
    state: SessionState, source: SqlText, *, takes_changes: bool = False, is_read: bool = True
) -> Iterator[PlannedQuery]:
    """Plan a query; its views are there within the block.

    What streams that are only appended cannot give as rows that stay, such as the last row of a key, is planned as a
    query over tables that change.

    Raises:
        as `query_result`.
    """
    if state.is_flink:
        source = translate_query(source, state.names()).source
    relations = state.relations(source)
    try:
        try:
            planned = _planned(state, source, relations, is_read=is_read)
            if takes_changes:
                _require_rows_that_stay(planned.result.frame)
            if relations.changes is None:
                relations.require_used_hints()
        except UpdatingQueryError as refusal:
            relations.close()
            relations = state.relations(source, reads_changes=True)
            planned = _planned_over_changes(state, source, relations, refusal)
        yield planned
    finally:
        relations.close()


def _planned(
    state: SessionState, source: SqlText, relations: StatementRelations, *, is_read: bool = True
) -> PlannedQuery:
    with naming_unknown_tables(state, source):
        plan = rewrite_query(source, relations)
        result = _planned_result(state, plan, source, relations)
        if is_read and relations.changes is None and not is_connect(state.spark):  # a client sees no plan to change
            result = _pushed_down(state, result.frame)
        return PlannedQuery(plan=plan, relations=relations, result=result)


def _pushed_down(state: SessionState, frame: DataFrame) -> QueryResult:
    """Return a query of rows that stay, of which sources and operators do as much as they can."""
    settings = state.settings.typed
    scans: tuple[ScanAggregates, ...] = ()
    if settings.aggregate_pushdown:
        pushed = push_aggregates(frame, row_watermark=ROW_WATERMARK_COLUMN)
        frame, scans = pushed.frame, pushed.scans
    if frame.isStreaming:
        frame = push_row_batches(frame)
    if not settings.projection_pushdown:
        return QueryResult(frame=frame, scans=scans)
    narrowed = push_projections(frame)
    return QueryResult(frame=narrowed.frame, scans=scans, sources=narrowed.sources)


def _require_rows_that_stay(frame: DataFrame) -> None:
    if is_connect(frame.sparkSession):
        return  # as above: an INSERT fails at its start
    if (reason := unsupported_streaming(frame, modes=("Append",))) is not None:
        raise UpdatingQueryError(f"The rows of this query change: {reason}")


def _planned_over_changes(
    state: SessionState, source: SqlText, relations: StatementRelations, refusal: UpdatingQueryError
) -> PlannedQuery:
    try:
        return _planned(state, source, relations)
    except (TidemarkError, AnalysisException) as problem:
        reason = problem.message if isinstance(problem, TidemarkError) else str(problem).splitlines()[0]
        raise SqlError(f"{refusal.message}\nAs a query whose rows change it is refused too: {reason}") from problem


@contextmanager
def naming_unknown_tables(state: SessionState, source: SqlText) -> Iterator[None]:
    """Replace Spark's error about a table that it does not have by one that names those of the catalog."""
    try:
        yield
    except (AnalysisException, SqlError) as error:
        # A step that Spark refuses is an error of ours with Spark's behind it.
        refusal = error if isinstance(error, AnalysisException) else error.__cause__
        known = known_relations(state)
        unknown = _unknown_table(refusal, source, known) if isinstance(refusal, AnalysisException) else None
        if unknown is None:
            raise
        raise unknown from None


def run_of_spark(state: SessionState, source: SqlText) -> DataFrame:
    """Run a statement that is Spark's, as it was written.

    Raises:
        SqlError: it names a table of the catalog, which Spark does not see.
        AnalysisException, ParseException: Spark's own.
    """
    try:
        return state.spark.sql(source.text)
    except AnalysisException as refusal:
        unknown = _unknown_table(refusal, source, known := known_relations(state))
        name = (refusal.getMessageParameters() or {}).get("relationName", "").replace("`", "").rpartition(".")[2]
        if unknown is None or name.lower() not in {each.lower() for each in known}:
            raise
        raise unknown from None


def known_relations(state: SessionState) -> list[str]:
    """Return the names of the catalog's tables and views."""
    return state.relations().known_names()


def _planned_result(
    state: SessionState, plan: QueryPlan, source: SqlText, relations: StatementRelations
) -> QueryResult:
    """Return the result of a rewritten query."""
    frame = _query_frame(state, plan, source, relations)
    if relations.changes is None:
        is_seen = not is_connect(state.spark)  # a client sees no plan: Spark says at the start what it cannot run
        if is_seen and not plan.is_untouched and (reason := unsupported_streaming(frame)) is not None:
            raise UpdatingQueryError(f"Spark has no way to run this query on a stream: {reason}")
        return QueryResult(frame=frame)
    changes = relations.changes.query(frame)
    return QueryResult(frame=changes.frame, changes=changes)


def _query_frame(state: SessionState, plan: QueryPlan, source: SqlText, relations: StatementRelations) -> DataFrame:
    """Return the DataFrame of a rewritten query, without the columns that only rewrites need."""
    if plan.is_untouched:
        return state.spark.sql(source.text)
    try:
        frame = relations.views.sql(plan.text)
    except AnalysisException as refusal:
        raise _unknown_column(refusal, source, relations) or refusal from None
    _require_complete(frame)
    hidden = {ROW_WATERMARK_COLUMN} | _unnamed_attributes(relations, source.text)
    drop = [name for name in frame.columns if name in hidden]
    return frame.drop(*drop) if drop else frame


def _require_complete(frame: DataFrame) -> None:
    """Refuse a stream of which rows would be missing, before it is started."""
    reason = incomplete(frame)
    if reason is not None:
        raise SqlError(reason)


def _unnamed_attributes(relations: StatementRelations, text: str) -> set[str]:
    """The top-level columns of nested time attributes, `a_b_c` for a.b.c, that the user does not name."""
    trees = [tree for table in relations.tables for tree in table.trees]
    nested = {a.column for tree in trees for a in attributes_of(tree) if len(a.path) > 1}
    return {name for name in nested if name.lower() not in text.lower()}


def _unknown_table(refusal: AnalysisException, source: SqlText, known: Iterable[str]) -> SqlError | None:
    """Return the error about a table that Spark does not have, or None if the refusal is about something else.

    ``known`` has the tables and views of the catalog; in a statement that is Spark's alone it does not see them.
    """
    if (refusal.getCondition() or "") != "TABLE_OR_VIEW_NOT_FOUND":
        return None
    shown = (refusal.getMessageParameters() or {}).get("relationName", "").replace("`", "")
    name = shown.rpartition(".")[2]
    span = _span_of(name, source)
    if span is None:
        return None
    names = sorted(known)
    if name.lower() in {each.lower() for each in names}:
        what = f"'{shown}' is of this catalog, and Spark, whose statement this is, does not know it"
        return source.error(span, what, _TO_SPARK)
    listed = f"This catalog has {', '.join(names)}; other names are Spark's." if names else "This catalog is empty."
    return source.error(span, f"there is no table or view '{shown}'", near_matches(name, names).strip() or listed)


def _unknown_column(refusal: AnalysisException, source: SqlText, relations: StatementRelations) -> SqlError | None:
    """Return the error about a column that Spark does not find, or None if the refusal is about something else."""
    if not (refusal.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
        return None
    name = (refusal.getMessageParameters() or {}).get("objectName", "").rpartition(".")[2].strip("`")
    span = _span_of(name, source)
    if span is None:
        return None
    known = {column: None for columns in relations.known_columns() for column in columns}
    if name.lower() in map(str.lower, known):
        return source.error(span, f"the column '{name}' is not visible here", _LATERAL)
    listed = f"The tables have {', '.join(known)}." if known else ""
    return source.error(span, f"there is no column '{name}'", near_matches(name, known).strip() or listed)


def _span_of(name: str, source: SqlText) -> Span | None:
    names = (TokenKind.WORD, TokenKind.QUOTED)
    return next((t.span for t in tokenize(source) if t.kind in names and t.value.lower() == name.lower()), None)
