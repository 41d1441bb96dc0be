"""WatermarkAssigner above a scan -> into the scan, if the source makes watermarks and can evaluate the expression.

Source: Flink's PushWatermarkIntoTableSourceScanRule. Unlike Flink, options that only a pushed watermark obeys are an
error on a source that has none.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.errors import ExpressionError, OptionError
from datasources.source.api.abilities import SupportsWatermarkPushDown
from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.scan_options import READER_OPTIONS
from datasources.sql.planner.tree import Attribute, Node, Project, TableScan, WatermarkAssigner


def push_watermark(tree: Node, context: PlanningContext) -> Node:
    """WatermarkAssigner(Scan) -> Scan(watermark), otherwise the WatermarkAssigner carries the reason.

    Raises:
        OptionError: an option needs a pushed watermark, and it could not be pushed.
    """
    if isinstance(tree, Project):
        return replace(tree, input=push_watermark(tree.input, context))
    if not isinstance(tree, WatermarkAssigner) or not isinstance(tree.input, TableScan):
        return tree
    scan = tree.input
    source = scan.connector.source
    if source is None or not issubclass(source, SupportsWatermarkPushDown):
        reason = f"the connector '{scan.connector.name}' makes no watermarks in its reader"
        return _not_pushed(tree, scan, tree.attributes, reason)
    pushed = replace(scan, attributes=tree.attributes)
    try:
        context.try_scan(pushed)
    except ExpressionError as refusal:
        return _not_pushed(tree, scan, tree.attributes, refusal.message)
    return pushed


def _not_pushed(
    tree: WatermarkAssigner, scan: TableScan, attributes: tuple[Attribute, ...], reason: str
) -> WatermarkAssigner:
    asks = [key for key in scan.options if key.lower().startswith(READER_OPTIONS)]
    if asks:
        raise OptionError(
            f"option '{asks[0]}' of table '{scan.table}' has no effect here, because the watermark is not made in the "
            f"source's reader: {reason}. Remove the option, or change the watermark so that it can be pushed down."
        )
    if any(a.is_source_watermark for a in attributes):
        raise OptionError(f"table '{scan.table}' uses SOURCE_WATERMARK(), but {reason}.")
    return replace(tree, reason=reason)
