"""The demo's page: one HTML file that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Final

from datasources.demo.report.picture import chart_style
from datasources.demo.report.tables import comparison, partition_rows
from datasources.demo.report.watermark_chart import clock_text, watermark_chart
from datasources.demo.report.window_chart import window_chart
from datasources.demo.results.join_outcome import JoinOutcome, join_rows
from datasources.demo.results.mysql_outcome import TableOutcome, table_rows
from datasources.demo.results.outcome import Outcome, SideOutcome
from datasources.demo.story.mysql_shop import ROWS
from datasources.demo.story.orders import ROLES, USERS

_WIDE: Final = 960
_NARROW: Final = 400
_LINES: Final = (
    ("line spark", "Spark: the maximum over everything it read"),
    ("line tidemark", "Tidemark: the minimum over active partitions"),
    ("line split current", "partitions 0 and 1, current"),
    ("line split lagging", "partition 2, lagging"),
    ("line split idle", "partition 3, silent and then idle"),
)
_BARS: Final = (("spark", "counted by Spark"), ("tidemark", "counted by Tidemark"), ("lost", "lost"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippets:
    """What a user copies: the windowed count, the join with a table, and the copy of a table."""

    count: str
    join: str
    table: str


def render_page(outcome: Outcome, snippets: Snippets) -> str:
    """Return the page."""
    style = chart_style() + files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(
        (
            _opening(outcome),
            _watermarks(outcome),
            _windows(outcome),
            _results(outcome),
            _partitions(outcome),
            _code(snippets.count),
            _join(outcome.join, snippets.join),
            _table(outcome.table, snippets.table),
            _footer(outcome),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Tidemark and Spark on one lagging topic</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _opening(outcome: Outcome) -> str:
    spark, tidemark = outcome.spark.accuracy, outcome.tidemark.accuracy
    kept = "none" if tidemark.lost_rows == 0 else f"{tidemark.lost_rows:,}"
    return (
        '<header>\n<p class="brand">Tidemark demo</p>\n'
        '<h1><span class="line-of">Spark&rsquo;s watermark lost '
        f'<b class="spark">{spark.lost_rows:,} orders</b>.</span> '
        f'<span class="line-of">Tidemark&rsquo;s lost <b class="tidemark">{kept}</b>.</span></h1>\n'
        f"<p>Two queries counted the same {outcome.story.order_count:,} orders from the same Kafka topic, in windows "
        "of one minute per item. They differ in one thing: what makes the watermark. One of the topic&rsquo;s "
        f"{len(ROLES)} partitions runs twelve minutes behind and catches up at the end, one falls silent.</p>\n"
        f'<div class="sides">\n{_card(outcome.spark, "spark")}\n'
        f"{_card(outcome.tidemark, 'tidemark')}\n</div>\n</header>"
    )


def _card(side: SideOutcome, kind: str) -> str:
    accuracy = side.accuracy
    share = accuracy.lost_rows / accuracy.expected_rows
    orders = (
        f"{share:.0%} of {accuracy.expected_rows:,} orders." if share else f"All {accuracy.expected_rows:,} counted."
    )
    return (
        f'<section class="side {kind}"><h2>{escape(side.title)}</h2>'
        f'<p class="figure">{accuracy.lost_rows:,} lost</p>'
        f"<p>{orders} {accuracy.correct_results} of {accuracy.expected_results} results are right.</p></section>"
    )


def _watermarks(outcome: Outcome) -> str:
    charts = _both(
        watermark_chart(outcome, width=_WIDE, height=470), watermark_chart(outcome, width=_NARROW, height=380)
    )
    return (
        "<section>\n<h2>Watermarks over time</h2>\n"
        "<p>Spark takes the newest time that it has seen and subtracts ten seconds, so the fast partitions decide what "
        "is late in the slow one. Tidemark&rsquo;s reader keeps one watermark per partition and gives Spark the lowest "
        "of those that are active. A partition that has been read to its end and stays silent for eight seconds no "
        f"longer counts.</p>\n{_legend()}\n<figure>\n{charts}\n</figure>\n</section>"
    )


def _legend() -> str:
    lines = "".join(
        f'<li><svg viewBox="0 0 30 10" aria-hidden="true"><path class="{kind}" d="M0 5H30"/></svg>{escape(words)}</li>'
        for kind, words in _LINES
    )
    area = _swatch("too-late", "orders that arrive with a time in here are too late for Spark")
    return f'<ul class="legend">{lines}{area}</ul>'


def _swatch(kind: str, words: str) -> str:
    box = f'<rect class="swatch-{kind}" x="0.5" y="0.5" width="11" height="11"/>'
    return f'<li><svg class="box" viewBox="0 0 12 12" aria-hidden="true">{box}</svg>{escape(words)}</li>'


def _windows(outcome: Outcome) -> str:
    swatches = "".join(_swatch(*each) for each in _BARS)
    return (
        "<section>\n<h2>What each query counted</h2>\n"
        "<p>One bar per window. The expected counts are those of the program that wrote the orders.</p>\n"
        f'<ul class="legend">{swatches}</ul>\n<figure>\n'
        f"{_both(window_chart(outcome, width=_WIDE), window_chart(outcome, width=_NARROW))}\n</figure>\n</section>"
    )


def _both(wide: str, narrow: str) -> str:
    return f'<div class="wide">{wide}</div>\n<div class="narrow">{narrow}</div>'


def _results(outcome: Outcome) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th><td>{row.spark}</td><td>{row.tidemark}</td></tr>'
        for row in comparison(outcome)
    )
    until = clock_text(outcome.story.complete_until_ms)
    return (
        '<section>\n<h2>Results and expected results</h2>\n<div class="scroll"><table>\n'
        f"<caption>Windows that end by {until}, which every watermark has passed. Later ones were still open when the "
        "demo ended and count for neither side.</caption>\n"
        '<thead><tr><th scope="col">Measure</th><th scope="col" class="spark">Spark</th>'
        f'<th scope="col" class="tidemark">Tidemark</th></tr></thead>\n<tbody>{rows}</tbody>\n</table></div>\n'
        '<p class="soft">Spark&rsquo;s own metric numRowsDroppedByWatermark counts what reaches the stateful operator, '
        "after rows were already added up inside each task: one dropped group may hold hundreds of orders. Tidemark "
        "pays for being right with state: windows stay open until the slowest partition has passed them.</p>\n"
        "</section>"
    )


def _partitions(outcome: Outcome) -> str:
    rows = "".join(
        f'<tr><th scope="row">{row.number}</th><td>{row.role}</td><td>{row.position}</td><td>{row.watermark}</td>'
        f"<td>{row.status}</td></tr>"
        for row in partition_rows(outcome)
    )
    return (
        '<section>\n<h2>Partitions at the end</h2>\n<div class="scroll"><table>\n'
        '<thead><tr><th scope="col">Partition</th><th scope="col">Behaviour</th><th scope="col">Orders</th>'
        '<th scope="col">Watermark</th><th scope="col">Status</th></tr></thead>\n'
        f"<tbody>{rows}</tbody>\n</table></div>\n</section>"
    )


def _code(snippet: str) -> str:
    return (
        "<section>\n<h2>The six lines for your job</h2>\n"
        "<p>The Tidemark side ran exactly these options. Replace broker, topic and columns by your own; "
        "<code>F</code> is <code>pyspark.sql.functions</code>.</p>\n"
        f'<pre tabindex="0"><code>{escape(snippet)}</code></pre>\n</section>'
    )


def _join(outcome: JoinOutcome | None, snippet: str) -> str:
    if outcome is None:
        return ""
    return (
        "<section>\n<h2>The same orders, joined with a MySQL table</h2>\n"
        f"<p>A query joined each order with its customer and counted them in the same windows. The {USERS:,} customers "
        "are a table that is read first and followed from then on; no order is read before. The program that changes "
        "the tables moves customers all the while.</p>\n"
        f'<div class="scroll"><table class="facts">\n<tbody>{_info_rows(join_rows(outcome))}</tbody>\n</table></div>\n'
        f'<pre tabindex="0"><code>{escape(snippet)}</code></pre>\n</section>'
    )


def _info_rows(rows: Sequence[tuple[str, str]]) -> str:
    return "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in rows)


def _table(outcome: TableOutcome | str, snippet: str) -> str:
    return f"<section>\n<h2>A MySQL table, copied while it changes</h2>\n{_table_body(outcome, snippet)}</section>"


def _table_body(outcome: TableOutcome | str, snippet: str) -> str:
    if isinstance(outcome, str):
        return f"<p>This part has no result: {escape(outcome)}</p>\n"
    info_rows = _info_rows(table_rows(outcome))
    difference = "" if outcome.difference is None else f"<p>{escape(outcome.difference)}</p>\n"
    return (
        f"<p>Another query read a table of {ROWS:,} rows in chunks, while a program inserted, updated and deleted rows "
        "and changed keys, and followed the changes from the binlog in the same batches. When the program had ended, "
        "each row of the copy was compared with the table.</p>\n"
        f'<div class="scroll"><table class="facts">\n<tbody>{info_rows}</tbody>\n</table></div>\n{difference}'
        f'<pre tabindex="0"><code>{escape(snippet)}</code></pre>\n'
    )


def _footer(outcome: Outcome) -> str:
    versions = outcome.surroundings
    return (
        f"<footer>\n<p>Tidemark {escape(versions.tidemark)}, PySpark {escape(versions.spark)}, "
        f"{escape(versions.broker)}. "
        f'Spark&rsquo;s side read with {escape(versions.source)} and <code>withWatermark("ts", "10 seconds")</code>. '
        f"Seed {outcome.story.seed}: the orders and the truth are the same in every run, how many Spark loses depends "
        "on where its batches are cut.</p>\n</footer>"
    )
