"""A table's tree as EXPLAIN shows it, with Flink's names for what was pushed into the scan."""

from __future__ import annotations

from datasources.spark.pushdown.aggregates.aggregate_pushdown import ScanAggregates
from datasources.sql.planner.scan_options import watermark_options
from datasources.sql.planner.tree import Attribute, Node, Project, TableScan, WatermarkAssigner


def explain_tree(tree: Node) -> str:
    """Return the tree, the scan at the bottom."""
    lines: list[str] = []
    depth = 0
    node = tree
    while True:
        indent = "" if depth == 0 else "   " * (depth - 1) + "+- "
        lines.append(indent + _line(node))
        if isinstance(node, TableScan):
            return "\n".join(lines)
        node, depth = node.input, depth + 1


def _line(node: Node) -> str:
    if isinstance(node, TableScan):
        return _scan(node)
    if isinstance(node, Project):
        shown = (c.name if c.is_plain else f"{c.expression} AS {c.name}" for c in node.columns)
        return f"Calc(select=[{', '.join(shown)}])"
    return _assigner(node)


def _assigner(node: WatermarkAssigner) -> str:
    rowtimes = ", ".join(".".join(a.path) for a in node.attributes)
    reason = f", notPushed=[{' '.join(node.reason.split())}]" if node.reason else ""
    return f"WatermarkAssigner(rowtime=[{rowtimes}], watermark=[{_watermarks(node.attributes)}]{reason})"


def _watermarks(attributes: tuple[Attribute, ...]) -> str:
    return ", ".join("SOURCE_WATERMARK()" if a.is_source_watermark else a.expression for a in attributes)


def _scan(scan: TableScan) -> str:
    fields = ", ".join(scan.names if scan.delivered is None else scan.delivered)
    parts = [f"table=[{scan.table}]", f"connector=[{scan.connector.name}]", f"fields=[{fields}]"]
    if scan.metadata:
        parts.append(f"metadata=[{', '.join(m.key for m in scan.metadata)}]")
    if scan.filter is not None:
        parts.append(f"filter=[{scan.filter}]")
    if scan.aggregation is not None:
        parts += _aggregation(scan.aggregation)
    if scan.attributes:
        parts += _pushed(scan)
    return f"TableSourceScan({', '.join(parts)})"


def _aggregation(pushed: ScanAggregates) -> list[str]:
    if pushed.reason:
        return [f"aggregatesNotPushed=[{' '.join(pushed.reason.split())}]"]
    grouped = [f"groupBy=[{', '.join(pushed.groups)}]"] if pushed.groups else []
    return [*grouped, f"aggregates=[{', '.join(pushed.aggregates)}]"]


def _pushed(scan: TableScan) -> list[str]:
    options = watermark_options(scan)
    parts = [f"watermark=[{_watermarks(scan.attributes)}]"]
    if options.effective_idle_timeout_ms > 0:
        parts.append(f"idletimeout=[{options.effective_idle_timeout_ms}]")
    parts.append(f"watermarkEmitStrategy=[{options.emit_strategy.value}]")
    align = options.alignment
    if align is not None:
        parts.append(f"watermarkAlignment=[{align.group}, {align.max_drift_ms}, {align.update_interval_ms}]")
    return parts
