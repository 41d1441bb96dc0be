"""Questions to the plan of a Spark Connect client: the relations that it sends, which Spark has not analysed yet.

Where it ends in text (`spark.sql`, a view) the client does not see further. What cannot be answered then is refused.
The messages are those of Spark Connect's protocol (spark/connect/relations.proto), which releases keep compatible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.plans.plan_walk import SIDE_COLUMN
from datasources.spark.scan.schema import METADATA_KEY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEVERAL_STREAMS: Final = (
    "several streams are put together in the DataFrame, so its rows have no watermark of their own. Attach "
    "each, with with_source_watermark(df) directly on the loaded DataFrame, and union or join the results."
)
_CHOOSING: Final = frozenset({"project", "filter", "subquery_alias", "with_columns", "with_columns_renamed", "drop"})
_ARITHMETIC: Final = frozenset({"+", "-"})
_WORD: Final = re.compile(r"\w+")


def with_source_option(df: DataFrame, key: str, value: str) -> DataFrame:
    """Return a DataFrame whose streaming sources have an option; the same one if all of them have it, or none is.

    Raises:
        QueryError: a source cannot be seen from here, or several streams are put together.
    """
    relation = _relation(df)
    is_changed = [_set_option(source, key, value) for source in _sources(df, relation)]
    return _frame(df, relation) if any(is_changed) else df


def streaming_source_options(
    df: DataFrame, keys: Sequence[str], formats: frozenset[str]
) -> list[dict[str, str | None]]:
    """Return the named options of every streaming source of a DataFrame.

    Args:
        df: a DataFrame.
        keys: of the options, in lower case.
        formats: lower-case names of those whose sources count.

    Raises:
        QueryError: a source cannot be seen from here.
    """
    found = []
    for leaf in _leaves(_relation(df)):
        if not _is_source(leaf):
            raise QueryError(
                "a Spark Connect client does not see the sources behind SQL text, a view or a cached DataFrame, and "
                "which of them wait for each other has to be known here: use DataFrames that read_stream() or load() "
                "returned, or write the join in SQL of a TableEnvironment."
            )
        source = leaf.read.data_source
        if leaf.read.is_streaming and source.format.lower() in formats:
            options = {key.lower(): value for key, value in source.options.items()}
            found.append({key: options.get(key) for key in keys})
    return found


def sql_with_views(spark: SparkSession, text: str, views: Mapping[str, DataFrame]) -> DataFrame:
    """Return the result of a query in SQL that names views, which stay known to it.

    Args:
        spark: a client of Spark Connect.
        text: the query.
        views: by name, in the order in which they were made. Those that the text does not name are not sent.

    Raises:
        PySparkException: Spark refuses the text.
    """
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.connect.plan import SQL, SubqueryAlias

    words = set(_WORD.findall(text))
    # The server makes a temporary view of each, in this order, and drops those below a view when that one is made.
    named = [SubqueryAlias(frame._plan, name) for name, frame in reversed([*views.items()]) if name in words]  # noqa: SLF001 - PySpark hides the plan
    found: DataFrame = ConnectFrame(SQL(text, views=named), spark)
    found.schema  # noqa: B018 - Spark analyses the text now, as it does in the driver's process
    return found


def gives_windows(df: DataFrame) -> bool:
    """Return whether the rows of a stream are those of an aggregation, chosen and filtered at most."""
    relation = _relation(df)
    while _kind(relation) in _CHOOSING:
        (relation,) = _children(relation)
    return _kind(relation) == "aggregate" and df.isStreaming


def attached_delays_ms(df: DataFrame) -> list[int]:
    """Return the delay of each attached source that can be seen from here, ms."""
    attached = (each for each in _relations(_relation(df)) if each.with_watermark.event_time == WATERMARK_COLUMN)
    return [int(_attribute_metadata(df, each.with_watermark.input).get("delay_ms", 0)) for each in attached]


def projected_expression(df: DataFrame, column: str) -> str | None:
    """Return the text of the expression that the topmost projection gives `column`, None if it is passed through."""
    relation = _relation(df)
    if _kind(relation) == "with_columns":
        aliases = list(relation.with_columns.aliases)
    else:
        aliases = [each.alias for each in relation.project.expressions if each.HasField("alias")]
    return next((_text(alias.expr) for alias in aliases if list(alias.name) == [column]), None)


def _sources(df: DataFrame, relation: Any) -> Iterator[Any]:
    """Give the streaming sources whose row watermarks become those of a relation's rows."""
    children = _children(relation)
    if len(children) > 1 and SIDE_COLUMN not in _frame(df, relation).columns:
        raise QueryError(SEVERAL_STREAMS)
    for child in children:
        yield from _sources(df, child)
    if children:
        return
    if not _is_source(relation):
        raise QueryError(
            "a Spark Connect client does not see the source behind SQL text, a view or a cached DataFrame: call "
            "with_source_watermark(df) directly on what load() returned."
        )
    if relation.read.is_streaming:
        yield relation.read.data_source


def _is_source(relation: Any) -> bool:
    """Return whether a relation is a source with its options, and not text, a view or a cached DataFrame."""
    return bool(relation.HasField("read") and relation.read.HasField("data_source"))


def _set_option(source: Any, key: str, value: str) -> bool:
    """Set an option; return whether it had another value, or none."""
    if any(given.lower() == key and source.options[given] == value for given in source.options):
        return False
    source.options[key] = value
    return True


def _attribute_metadata(df: DataFrame, relation: Any) -> dict[str, Any]:
    """Return the time attribute in the metadata of `_watermark`, below the operators that dropped it too."""
    for below in _relations(relation):
        schema = _frame(df, below).schema
        if WATERMARK_COLUMN in schema.names and HEARTBEAT_COLUMN in schema.names:
            found = (schema[WATERMARK_COLUMN].metadata or {}).get(METADATA_KEY)
            if isinstance(found, dict):
                return found
    return {}


def _text(expression: Any) -> str:
    """Return an expression as text, as far as sums and differences of intervals are concerned."""
    kind = expression.WhichOneof("expr_type")
    if kind == "unresolved_function":
        function = expression.unresolved_function
        arguments = list(map(_text, function.arguments))
        if function.function_name in _ARITHMETIC and len(arguments) > 1:
            return f" {function.function_name} ".join(arguments)
        return f"{function.function_name}({', '.join(arguments)})"
    if kind == "literal":
        value_kind = expression.literal.WhichOneof("literal_type")
        return f"{'INTERVAL ' if 'interval' in value_kind else ''}'{getattr(expression.literal, value_kind)}'"
    texts = {"unresolved_attribute": "unparsed_identifier", "expression_string": "expression"}
    if kind in texts:
        return str(getattr(getattr(expression, kind), texts[kind]))
    inner = getattr(expression, kind)
    return _text(inner.expr) if kind in {"cast", "alias"} else str(inner)


def _relations(relation: Any) -> Iterator[Any]:
    """Give a relation and all relations below it."""
    yield relation
    for child in _children(relation):
        yield from _relations(child)


def _leaves(relation: Any) -> Iterator[Any]:
    """Give the relations below that have none below them; of a text with its views those of the views."""
    views = list(relation.with_relations.references) if _kind(relation) == "with_relations" else []
    children = views or _children(relation)
    if not children:
        yield relation
    for child in children:
        yield from _leaves(child)


def _children(relation: Any) -> list[Any]:
    """Return the relations on which a relation is computed."""
    message = getattr(relation, _kind(relation))
    return [value for _, value in message.ListFields() if isinstance(value, type(relation))]


def _kind(relation: Any) -> str:
    return str(relation.WhichOneof("rel_type"))


def _relation(df: DataFrame) -> Any:
    return df._plan.plan(df.sparkSession.client)  # noqa: SLF001 - PySpark hides the plan


def _frame(df: DataFrame, relation: Any) -> DataFrame:
    from pyspark.sql.connect.plan import LogicalPlan

    class Sent(LogicalPlan):
        def plan(self, session: object) -> Any:  # noqa: ARG002 - as PySpark calls it
            return relation

    sent = Sent(None)
    sent._root_plan_id = relation.common.plan_id  # noqa: SLF001 - by which `frame["column"]` finds its frame
    return type(df)(sent, df.sparkSession)
