r"""A watermark that one statement declares for a table: Spark's `FROM t WATERMARK ts DELAY OF INTERVAL ...`, or a hint.

`/*+ OPTIONS('watermark.for' = 'ts', 'watermark.as' = 'ts - INTERVAL \'1\' MINUTE') */` replaces the table's own
WATERMARK clause for that statement.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.errors import OptionError
from datasources.grammar.lexer import TokenKind, meaningful, tokenize
from datasources.grammar.source_text import SqlText
from datasources.options import lower_keys
from datasources.sql.query.block.relation import TableUse
from datasources.sql.statements.catalog_objects import TableDefinition, WatermarkSpec

_FOR, _AS = "watermark.for", "watermark.as"


def with_hinted_watermark(table: TableDefinition, use: TableUse) -> tuple[TableDefinition, TableUse]:
    """Return the table with the hinted watermark and the use without the hint; both unchanged if there is none.

    Raises:
        OptionError: one of the two keys is missing, or the attribute is no path of names.
    """
    hints = lower_keys(use.hints)
    given = [key for key in (_FOR, _AS) if key in hints]
    if not given:
        return table, use
    if len(given) == 1:
        missing = _AS if given == [_FOR] else _FOR
        raise OptionError(f"the hint '{given[0]}' on table '{table.name}' needs '{missing}' beside it.")
    spec = WatermarkSpec(rowtime=_path(hints[_FOR], table.name), expression=hints[_AS])
    rest = {key: value for key, value in use.hints.items() if key.lower() not in (_FOR, _AS)}
    return replace(table, watermarks=(spec,)), replace(use, hints=rest)


def _path(text: str, table: str) -> tuple[str, ...]:
    tokens = [t for t in meaningful(tokenize(SqlText(text))) if t.kind is not TokenKind.END]
    names, dots = tokens[::2], tokens[1::2]
    is_path = len(tokens) % 2 and all(t.text == "." for t in dots)
    if not is_path or any(t.kind not in (TokenKind.WORD, TokenKind.QUOTED) for t in names):
        raise OptionError(f"the hint '{_FOR}' = '{text}' on table '{table}' is no column: write ts, or a.b.c.")
    return tuple(t.value for t in names)
