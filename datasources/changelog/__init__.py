"""Queries over changelogs: streams of DataFrames whose rows say how a table changes.

    from datasources import changelog

    totals = changelog.aggregate(orders, ["customer"], {"total": "sum(price)", "orders": "count(*)"})
    newest = changelog.top(orders, ["customer"], "placed_at DESC", 3)
    joined = changelog.query("SELECT o.id, c.name FROM o JOIN c ON o.customer = c.id", o=orders, c=customers)

A changelog has the column `row_kind`: +I (inserted), -U and +U (before and after an update), -D (deleted). A stream
without it is one of insertions. A removed row must have the values with which it was added: choose the columns of the
row, and leave out what belongs to the event, such as its time or its position.

The result is a changelog too: `row_kind` is its first column, rows are only appended, each batch has one net change per
key, and removals come before additions. If rows are only added, there is no `row_kind`.

Theory of operation. Each table of a query stands in Spark's analysis as an empty table with the same columns. Spark
resolves, checks and optimises the query as it does every batch query; then each node of the optimised plan runs over
the streams of changes: a node without state unchanged, with the weight of each row (+1 added, -1 removed) carried
along; a node with state as one of Tidemark's operators (`datasources.spark.operators.changelog`). Hence the
expressions, their types and their errors are Spark's.

Reading order: `table_changes` is the beginning (a table as a stream of changes), `change_query` walks the plan, and its
table maps each node type to its translation, `result` the end (net changes with their row kind). `change_plan` is what
a node becomes, `translator` what the translations share, the translations are in
`nodes`. `frames` has the functions above. `latest_of_batch` and `net_actions` reduce a batch to one action per key.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasources.changelog.frames import aggregate, latest, query, top
    from datasources.changelog.latest_of_batch import latest_changes

__all__ = ["aggregate", "latest", "latest_changes", "query", "top"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'datasources.changelog' has no attribute '{name}'")
    module = "latest_of_batch" if name == "latest_changes" else "frames"
    return getattr(importlib.import_module(f"datasources.changelog.{module}"), name)
