"""The MERGE that applies actions to a table of a lake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pyspark.sql import DataFrame

from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.grammar.literals import quoted

_ACTIONS: Final = "__tidemark_actions"


@contextmanager
def merge_statement(
    actions: DataFrame, target: str, key: Sequence[str], *, replaces: bool = False, is_empty: bool = False
) -> Iterator[str]:
    """Give the MERGE that applies actions to a table; it can be run while in the block.

    Args:
        actions: of `net_actions`, persisted; the statement is for their session.
        target: the table as SQL names it.
        key: names of the columns of its key.
        replaces: whether rows without an action are deleted.
        is_empty: whether the table has no rows; the statement then only inserts, which costs a fraction.
    """
    names = [name for name in actions.columns if name != DELETE_COLUMN]
    pairs = [(f"t.{quoted(name)}", f"a.{quoted(name)}") for name in names]
    found = " AND ".join(f"t.{quoted(name)} = a.{quoted(name)}" for name in key)
    actions.createOrReplaceTempView(_ACTIONS)
    try:
        changed = ", ".join(f"{one} = {other}" for one, other in pairs)
        columns, values = ", ".join(map(quoted, names)), ", ".join(other for _, other in pairs)
        matched = [f"WHEN MATCHED AND a.{DELETE_COLUMN} THEN DELETE", f"WHEN MATCHED THEN UPDATE SET {changed}"]
        added = [f"WHEN NOT MATCHED AND NOT a.{DELETE_COLUMN} THEN INSERT ({columns}) VALUES ({values})"]
        gone = ["WHEN NOT MATCHED BY SOURCE THEN DELETE"] if replaces else []
        clauses = added if is_empty else [*matched, *added, *gone]
        yield f"MERGE INTO {target} AS t USING {_ACTIONS} AS a ON {found} {' '.join(clauses)}"
    finally:
        actions.sparkSession.catalog.dropTempView(_ACTIONS)
