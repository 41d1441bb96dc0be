"""EXPLAIN: the rewritten query, each table's tree, what was pushed down, and Spark's own plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from datasources.sql.execute.insert import query_text
from datasources.sql.execute.queries import naming_unknown_tables, query_frame
from datasources.sql.execute.result import StatementResult
from datasources.sql.planner.explain import explain_tree
from datasources.sql.planner.plan_json import abilities_of
from datasources.sql.planner.tree import scan_of
from datasources.sql.query import rewrite_query
from datasources.sql.statements.statements import Explain, ExplainMode, Insert

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from datasources.sql.execute.session_relations import StatementRelations
    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.planner.table_planner import PlannedTable
    from datasources.sql.planner.tree import Node
    from datasources.sql.query.block.relation import QueryPlan


def explain(state: SessionState, statement: Explain) -> StatementResult:
    """Return the plan of a query without running it, as a tree or as JSON."""
    inner = statement.statement
    source = query_text(inner) if isinstance(inner, Insert) else inner.source
    relations = state.relations()
    try:
        with naming_unknown_tables(state, source):
            plan = rewrite_query(source, relations)
            frame = query_frame(state, plan, source, relations)
        if statement.mode is ExplainMode.JSON:
            text = json.dumps(_json(plan, relations), indent=2)
        else:
            text = _tree(plan, relations, frame)
    finally:
        relations.close()
    return StatementResult(kind="EXPLAIN", columns=("plan",), rows=((text,),), hints=(*statement.hints, *plan.hints))


def _tree(plan: QueryPlan, relations: StatementRelations, frame: DataFrame) -> str:
    parts = []
    if not plan.is_untouched:
        parts.append("== Query ==\n" + plan.text.strip())
    for step in relations.steps:
        times = f" (event time: {', '.join(step.event_times)})" if step.event_times else ""
        parts.append(f"== {step.shown or step.view}{times} ==\n{step.view} := {step.text.strip()}")
    parts += [f"== Table {t.use.name} ==\n{explain_table(t)}" for t in relations.tables]
    parts.append("== Spark ==\n" + _spark(frame))
    return "\n\n".join(parts)


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


def _json(plan: QueryPlan, relations: StatementRelations) -> dict[str, Any]:
    return {
        "query": plan.text,
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
            for t in relations.tables
        ],
    }
