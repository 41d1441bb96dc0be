"""Reads the plan below an Aggregate over windows: rows of one source, and how they come into windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from datasources.spark.options.aggregation_options import PaneOption
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.pushdown.aggregates.window_marker import WindowMarker
from datasources.spark.pushdown.aggregates.window_step import windowed_again
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import NAMED, RowValues, TableRows, chain, require_type

_PANE: Final = "pane"


@dataclass(slots=True, kw_only=True)
class WindowedRows(TableRows):
    """Rows of a source with their windows, as an Aggregate takes them.

    Attributes:
        window: the window.
        step: the nodes that make it, from the top; below them is the attribute `time`.
        time: the column that the window is made of.
        row_watermark: the column with the watermark before each row, None if there is none.
        kept: conditions on the window's columns, over those.
    """

    window: WindowMarker
    step: list[Any]
    time: Any
    row_watermark: Any | None
    kept: list[Any] = field(default_factory=list)

    @property
    def panes(self) -> PaneOption:
        """The panes of the window."""
        return PaneOption(
            name=_PANE,
            rowtime=self.text(self.values[attribute_id(self.time)]),
            length_us=self.window.pane_us,
            offset_us=self.window.offset_us,
        )

    @property
    def leaves_rows_out(self) -> bool:
        """Whether conditions on windows leave rows out: late ones, or those between two windows."""
        filters = [node.condition() for node in self.step if kind(node) == "Filter"]
        return bool(self.kept) or any(kind(each) != "IsNotNull" for each in filters)

    def in_windows(self, partials: Any, columns: Mapping[str, Any], carried: list[Any]) -> Any:
        """Return partial aggregates of panes with the windows that they are in."""
        times = [(self.time, columns[self.panes.name])]
        if self.row_watermark is not None:
            times.append((self.row_watermark, columns[str(self.row_watermark.name())]))
        for old, new in times:
            require_type(new, old)
        again = [self.catalyst.alias(new, old.name(), old.exprId()) for old, new in times]
        node = windowed_again(self.catalyst, self.step, self.catalyst.project([*again, *carried], partials), carried)
        return self.catalyst.filter(self.catalyst.conjunction(self.kept), node) if self.kept else node


def windowed_rows(catalyst: Catalyst, top: Any, row_watermark_name: str) -> WindowedRows:
    """Return what is below a node that takes windowed rows.

    Args:
        catalyst: builds expressions.
        top: the node.
        row_watermark_name: the name of the column with the watermark before each row.

    Raises:
        NotPushed: there is something else.
    """
    nodes = list(chain(top))
    at, window = _marked(nodes)
    begin = next((i for i in range(at + 1, len(nodes)) if _alias(nodes[i]).lower() == window.view.lower()), None)
    if begin is None:
        raise NotPushed("the input of the window is not a table, a view or a subquery")
    below = RowValues(catalyst)
    for node in reversed(nodes[begin:]):
        below.take(node)
    rows = items(nodes[begin].output())
    time = next((each for each in rows if each.name().lower() == window.attribute.lower()), None)
    if time is None:
        raise NotPushed("the time attribute of the window is not a column of its input")
    step = [node for node in nodes[at + 1 : begin] if kind(node) not in NAMED]
    below.follow_renames(step)
    windowed = WindowedRows(
        catalyst=catalyst,
        leaf=nodes[-1],
        window=window,
        step=step,
        time=time,
        row_watermark=next((each for each in rows if each.name() == row_watermark_name), None),
        conditions=below.conditions,
        values=dict(below.values),
        window_ids=frozenset(map(attribute_id, items(nodes[at].output()))) - below.values.keys(),
    )
    output = {attribute_id(each): each for each in items(nodes[at].output())}
    windowed.values |= {number: each for number, each in output.items() if number in windowed.window_ids}
    above = RowValues(catalyst, windowed.values)
    for node in reversed(nodes[:at]):
        above.take(node)
    for condition in above.conditions:
        (windowed.conditions if windowed.depends_on_rows(condition) else windowed.kept).append(condition)
    windowed.values = above.values
    return windowed


def _marked(nodes: list[Any]) -> tuple[int, WindowMarker]:
    for at, node in enumerate(nodes):
        found = WindowMarker.of(_alias(node))
        if found is not None:
            return at, found
    raise NotPushed("the rows are not grouped by a TUMBLE, HOP or CUMULATE window of a table")


def _alias(node: Any) -> str:
    return str(node.identifier().name()) if kind(node) == "SubqueryAlias" else ""
