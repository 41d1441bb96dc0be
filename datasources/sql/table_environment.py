"""TableEnvironment: SQL with `WATERMARK FOR` on a Spark session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasources.errors import SqlError
from datasources.grammar.literals import quoted
from datasources.grammar.source_text import SqlText
from datasources.spark.plans.session_checks import require_session
from datasources.sql.catalog import Catalog, open_catalog
from datasources.sql.execute import show, tables
from datasources.sql.execute.differences import warnings_of
from datasources.sql.execute.explain import explain
from datasources.sql.execute.insert import insert
from datasources.sql.execute.queries import known_relations, run_of_spark, run_query
from datasources.sql.execute.result import StatementResult
from datasources.sql.execute.session_state import SessionState
from datasources.sql.parse import parse_statement
from datasources.sql.planner.table_planner import TablePlanner
from datasources.sql.settings import Settings
from datasources.sql.statements.statements import (
    CreateTable,
    Explain,
    Insert,
    PassThrough,
    Query,
    Statement,
    StatementSet,
)
from datasources.sql.text.flink_strings import with_spark_strings
from datasources.sql.text.script import statements_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class TableEnvironment:
    """Runs SQL statements on a Spark session.

        t = TableEnvironment(spark)
        t.execute("CREATE TABLE orders (id BIGINT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
                  "WITH ('connector' = 'kafka', 'topic' = 'orders', ...)")
        df = t.query("SELECT window_start, count(*) AS n "
                     "FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
                     "GROUP BY window_start, window_end")

    `sql` runs any statement, as Spark's does; `query` and `execute` have one type of result each.

    Args:
        spark: a session, also one of Spark Connect; Tidemark's formats are registered with it.
        catalog: where tables live: None = in memory, a directory = one file per table, or a catalog of your own.
        settings: initial SET values.

    Raises:
        QueryError: there is no session.
    """

    def __init__(
        self,
        spark: SparkSession,
        catalog: Catalog | str | Path | None = None,
        settings: dict[str, str] | None = None,
    ) -> None:
        require_session(spark)
        kept = Settings(settings)
        opened = open_catalog(catalog) if catalog is None or isinstance(catalog, (str, Path)) else catalog
        self._state = SessionState(
            spark=spark, catalog=opened, settings=kept, planner=TablePlanner(spark=spark, settings=kept)
        )
        self._state.bind_functions()

    @property
    def spark(self) -> SparkSession:
        """The session below."""
        return self._state.spark

    @property
    def catalog(self) -> Catalog:
        """Tables, views and functions."""
        return self._state.catalog

    @property
    def settings(self) -> dict[str, str]:
        """What was SET, by key."""
        return self._state.settings.texts()

    @property
    def queries(self) -> tuple[StreamingQuery, ...]:
        """The streaming queries that INSERT statements of this environment started."""
        return tuple(self._state.queries)

    def sql(self, statement: str | SqlText) -> DataFrame | StatementResult:
        """Run one statement.

        Returns:
            A DataFrame for a query, streaming if it reads a stream, and for statements of Spark's that have rows;
            a `StatementResult` for all others.

        Raises:
            SqlError: the statement is malformed or names what does not exist; line, column and span are named.
            OptionError, ExpressionError, SchemaError: a table's options or expressions are wrong.
            AnalysisException, ParseException: Spark's own, for Spark's statements.
        """
        return self._run(self._parsed(statement))

    def query(self, statement: str | SqlText) -> DataFrame:
        """Run a query, or a statement of Spark's that has rows.

        Returns:
            A DataFrame, streaming if the query reads a stream.

        Raises:
            SqlError: it is another statement, which is not run; otherwise as `sql`.
        """
        parsed = self._parsed(statement)
        if not isinstance(parsed, Query | PassThrough):
            raise SqlError("this statement is no query, and was not run: use execute(...), or sql(...) for both.")
        return self._rows(parsed)

    def execute(self, statement: str | SqlText) -> StatementResult:
        """Run a statement that is no query; rows of a statement of Spark's are collected.

        Raises:
            SqlError: it is a query, which is not run; otherwise as `sql`.
        """
        parsed = self._parsed(statement)
        if isinstance(parsed, Query):
            raise SqlError("this statement is a query, and was not run: use query(...), or sql(...) for both.")
        found = self._run(parsed)
        if isinstance(found, StatementResult):
            return found
        kind = _text(statement).text.split(maxsplit=1)[0].upper()
        return StatementResult(kind=kind, columns=tuple(found.columns), rows=tuple(map(tuple, found.collect())))

    def run_script(self, script: str | SqlText) -> Iterator[tuple[SqlText, DataFrame | StatementResult]]:
        """Run the statements of a script one by one; yields each with its result before the next one runs."""
        for statement in statements_of(_text(script), lambda: self._state.is_flink):
            yield statement, self.sql(statement)

    def check(self, statement: str | SqlText) -> tuple[str, ...]:
        """Plan a statement without starting or writing anything; definitions and settings take effect here.

        Returns:
            Expressions that mean something else in Flink SQL, a sentence each. Statements in the dialect of Flink
            have none; those of Spark's own are not looked at.

        Raises:
            SqlError, OptionError, ExpressionError, SchemaError: as `sql`.
        """
        parsed = self._parsed(statement)
        warnings = warnings_of(self._state, parsed)
        for each in parsed.inserts if isinstance(parsed, StatementSet) else (parsed,):
            if isinstance(each, CreateTable) and each.query_span is not None:
                filled_by = tables.define_table(self._state, each)
                each = filled_by or each  # noqa: PLW2901 - what it is created from is planned as well
            if isinstance(each, Query | Insert):
                explain(self._state, Explain(source=each.source, statement=each))
            elif not isinstance(each, PassThrough | StatementSet):
                self._run(each)
        return warnings

    def table(self, name: str) -> DataFrame:
        """Return a table or view, as `SELECT * FROM name` does."""
        return self.query(f"SELECT * FROM {'.'.join(quoted(part) for part in name.split('.'))}")  # noqa: S608 - quoted

    def create_function(self, name: str, function: Callable[..., Any], result_type: str | None = None) -> None:
        """Make a Python function known under a name, for this environment only; readers get it by value.

        Args:
            name: as statements call it.
            function: made by `@arrow_function(result_type)`, or a function of Arrow arrays beside `result_type`.
            result_type: Spark's name of the result's type.

        Raises:
            SqlError: the result's type is not known, or the name is in use.
        """
        self._state.catalog.create(self._state.functions.add(name, function, result_type), or_replace=True)
        self._state.bind_functions()

    def __repr__(self) -> str:
        """Show what it has."""
        return f"TableEnvironment(relations={sorted(known_relations(self._state))}, settings={self.settings})"

    def _parsed(self, statement: str | SqlText) -> Statement:
        text = _text(statement)
        is_flink = self._state.is_flink
        return parse_statement(with_spark_strings(text) if is_flink else text, is_flink=is_flink)

    def _run(self, parsed: Statement) -> DataFrame | StatementResult:
        if isinstance(parsed, Query | PassThrough):
            return self._rows(parsed)
        if isinstance(parsed, StatementSet):
            return self._statement_set(parsed)
        return _HANDLERS[type(parsed)](self._state, parsed)

    def _rows(self, parsed: Query | PassThrough) -> DataFrame:
        run = run_query if isinstance(parsed, Query) else run_of_spark
        return run(self._state, parsed.source)

    def _statement_set(self, statement: StatementSet) -> StatementResult:
        results = [insert(self._state, one) for one in statement.inserts]
        rows = tuple(row for result in results for row in result.rows)
        return StatementResult(kind="STATEMENT SET", columns=("query", "name", "target"), rows=rows)


def _text(given: str | SqlText) -> SqlText:
    if isinstance(given, SqlText):
        return given
    if not isinstance(given, str):
        raise SqlError(f"a statement is a text, and this is {type(given).__name__}: {given!r}.")
    return SqlText(given)


_HANDLERS: dict[type, Callable[[SessionState, Any], DataFrame | StatementResult]] = {
    **show.HANDLERS,
    **tables.HANDLERS,
    Explain: explain,
    Insert: insert,
}
"""What runs each statement; each file of a family lists its own."""
