"""Unknown columns and tables: Spark's error with our source position and near matches.

Spark cannot suggest columns that it does not see: the view that it reads has only the columns that a statement names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from datasources.grammar.lexer import TokenKind, tokenize
from datasources.near_matches import near_matches

if TYPE_CHECKING:
    from pyspark.errors import AnalysisException

    from datasources.errors import SqlError
    from datasources.grammar.source_text import Span, SqlText
    from datasources.sql.execute.session_relations import StatementRelations

__all__ = ["unknown_column", "unknown_table"]

_TO_SPARK = (
    "Its rows come by queries, and go in by INSERT INTO table [(columns)] query; other forms (INSERT OVERWRITE, "
    "BY NAME, WITH ... INSERT) are for Spark's own tables."
)


def unknown_table(refusal: AnalysisException, source: SqlText, known: Iterable[str]) -> SqlError | None:
    """Return the error about a table that Spark does not have, or None if the refusal is about something else.

    Args:
        refusal: Spark's.
        source: the statement.
        known: tables and views of the catalog; in a statement that is Spark's alone it does not see them.
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


def unknown_column(refusal: AnalysisException, source: SqlText, relations: StatementRelations) -> SqlError | None:
    """Return the error about a column that Spark does not find, or None if the refusal is about something else."""
    if not (refusal.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
        return None
    name = (refusal.getMessageParameters() or {}).get("objectName", "").rpartition(".")[2].strip("`")
    span = _span_of(name, source)
    if span is None:
        return None
    known = {column: None for columns in relations.known_columns() for column in columns}
    listed = f"The tables have {', '.join(known)}." if known else ""
    return source.error(span, f"there is no column '{name}'", near_matches(name, known).strip() or listed)


def _span_of(name: str, source: SqlText) -> Span | None:
    names = (TokenKind.WORD, TokenKind.QUOTED)
    return next((t.span for t in tokenize(source) if t.kind in names and t.value.lower() == name.lower()), None)
