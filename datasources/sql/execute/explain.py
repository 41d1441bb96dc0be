"""EXPLAIN: the rewritten query, each table's tree, what was pushed down, and Spark's own plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from datasources.spark.boundary.connect import is_connect
from datasources.spark.plans.explained_plan import analyzed_text, explained, physical_text
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.execute.differences import differences_of
from datasources.sql.execute.insert_changes import sink_line
from datasources.sql.execute.queries import PlannedQuery, QueryResult, planned_query
from datasources.sql.execute.result import StatementResult
from datasources.sql.planner.explain import explain_tree
from datasources.sql.planner.plan_json import abilities_of
from datasources.sql.planner.scan_options import read_options
from datasources.sql.planner.tree import Project, scan_of, with_scan
from datasources.sql.statements.statements import Explain, ExplainMode, Insert
from datasources.sql.text.substitute import references

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from datasources.changelog.change_query import ChangeQuery
    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.planner.table_planner import PlannedTable
    from datasources.sql.planner.tree import Node, TableScan


def explain(state: SessionState, statement: Explain) -> StatementResult:
    """Return the plan of a query without running it, as a tree or as JSON."""
    inner = statement.statement
    sink = sink_line(state, inner) if isinstance(inner, Insert) else None
    source = inner.query if isinstance(inner, Insert) else inner.source
    takes_changes = sink is not None or statement.shows_changelog_mode
    with planned_query(state, source, takes_changes=takes_changes) as planned:
        plan = planned.plan
        kinds = changelog_mode(planned.result.changes) if statement.shows_changelog_mode else None
        is_json = statement.mode is ExplainMode.JSON
        text = json.dumps(_json(planned, sink, kinds), indent=2) if is_json else _tree(planned, sink, kinds)
    hints = (*statement.hints, *plan.hints, *differences_of(state, source))
    return StatementResult(kind="EXPLAIN", columns=("plan",), rows=((text,),), hints=hints)


def changelog_mode(changes: ChangeQuery | None) -> tuple[str, ...]:
    """Return the kinds of rows of a result, as Flink abbreviates them; without a key there are no updates."""
    if changes is None or not changes.has_row_kind:
        return ("I",)
    return ("I", "D") if changes.key is None else ("I", "UB", "UA", "D")


def _tree(planned: PlannedQuery, sink: str | None, kinds: Sequence[str] | None) -> str:
    plan, relations, result = planned.plan, planned.relations, planned.result
    parts = [] if sink is None else [f"== Sink ==\n{sink}"]
    if kinds is not None:
        parts.append(f"== Result ==\nchangelogMode=[{','.join(kinds)}]")
    if not plan.is_untouched:
        parts.append("== Query ==\n" + plan.text.strip())
    for step in relations.steps:
        times = f" (event time: {', '.join(step.event_times)})" if step.event_times else ""
        parts.append(f"== {step.shown or step.view}{times} ==\n{step.view} := {step.text.strip()}")
    tables = [with_pushed_down(table, result) for table in relations.tables]
    parts += [f"== Table {t.use.name} ==\n{explain_table(t)}" for t in tables]
    if result.changes is not None:
        parts.append("== Changes ==\n" + result.changes.shown)
    parts.append("== Spark ==\n" + _spark(result.frame))
    return "\n\n".join(parts)


def with_pushed_down(table: PlannedTable, result: QueryResult) -> PlannedTable:
    """Return a table with what its scan delivers in the query, and why aggregates were not pushed into it."""
    scan = scan_of(table.tree)
    if not scan.connector.is_ours:
        return table
    options = expand(read_options(scan))
    narrow = next((each for each in result.sources if options.items() <= each.options.items()), None)
    if narrow is not None:
        scan = replace(scan, delivered=narrow.columns, filter=narrow.filter)
        table = replace(table, tree=_of_delivered(table.tree, scan))
    pushed = next((each for each in result.scans if options.items() <= each.options.items()), None)
    if pushed is not None and pushed.operator:
        return replace(table, operator=pushed.operator)
    if pushed is not None:
        scan = replace(scan, aggregation=pushed, filter=pushed.filter or scan.filter)
    return replace(table, tree=with_scan(table.tree, scan))


def _of_delivered(tree: Node, scan: TableScan) -> Node:
    """Return a tree without the columns that are computed of what its scan does not deliver."""
    names = {name.partition(".")[0].lower() for name in scan.delivered or ()}
    if not isinstance(tree, Project):
        return tree
    return replace(tree, columns=tuple(c for c in tree.columns if references(c.expression) <= names))


def explain_table(table: PlannedTable) -> str:
    """Return a table's tree below what runs above it."""
    shown = explain_tree(table.tree)
    if table.operator:
        shown = _above(table.operator, shown)
    for line, tree in table.joins:
        shown = _above(line, shown, explain_tree(tree))
    return shown


def _above(line: str, *inputs: str) -> str:
    """An operator above its inputs."""
    lines = [line]
    for number, shown in enumerate(inputs, start=1):
        first, *others = shown.splitlines()
        bar = ":  " if number < len(inputs) else "   "
        lines += [f"{':- ' if number < len(inputs) else '+- '}{first}", *(f"{bar}{each}" for each in others)]
    return "\n".join(lines)


def _spark(frame: DataFrame) -> str:
    """Spark's physical plan; of a stream the logical one, because there is no other before a batch is run."""
    if is_connect(frame.sparkSession):
        shown = explained(frame)
        return (analyzed_text(shown) if frame.isStreaming else physical_text(shown)).strip()
    execution = frame._jdf.queryExecution()  # noqa: SLF001 - explain() only prints, and refuses streams
    if not frame.isStreaming:
        return str(execution.executedPlan().toString()).strip()
    return str(execution.analyzed().toString()).strip()


def _join(line: str, tree: Node) -> dict[str, Any]:
    scan = scan_of(tree)
    return {
        "operator": line,
        "table": scan.table,
        "connector": scan.connector.name,
        "abilities": abilities_of(scan),
    }


def _json(planned: PlannedQuery, sink: str | None, kinds: Sequence[str] | None) -> dict[str, Any]:
    plan, relations, result = planned.plan, planned.relations, planned.result
    changes = {} if result.changes is None else {"changes": result.changes.shown.splitlines()}
    return {
        "query": plan.text,
        **({} if sink is None else {"sink": sink}),
        **({} if kinds is None else {"changelogMode": list(kinds)}),
        **changes,
        "steps": [
            {"view": s.view, "text": s.text, "eventTimes": list(s.event_times), "shown": s.shown}
            for s in relations.steps
        ],
        "tables": [
            {
                "table": t.use.name,
                "connector": scan_of(t.tree).connector.name,
                "abilities": abilities_of(scan_of(t.tree)),
                **({"operator": t.operator} if t.operator else {}),
                **({"joins": [_join(line, tree) for line, tree in t.joins]} if t.joins else {}),
            }
            for t in (with_pushed_down(table, result) for table in relations.tables)
        ],
    }
