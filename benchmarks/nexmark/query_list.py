"""The queries: their texts, and what is known about their results.

The texts in `queries` are the reference's. Filled in are the broker, the name of the table and directories. Added to
the table's options is where a side ends (`scan.bounded.mode`) or how much a batch reads (`maxOffsetsPerTrigger`). Where
rows are compared, the sink has another connector. Two queries need more:

* q13 declares its side input with options that Flink removed, so each side gives it a connector of today. Flink has
  none that looks keys up in a file: its side brings one.
* q6 is not run: Flink has no OVER over a result that changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.flink import listed_options

__all__ = ["NOT_RUN", "QUERIES", "QUICK", "NexmarkQuery", "ddl_statements", "with_options"]

_TEXTS: Final = Path(__file__).parent / "queries"
_COMMENT: Final = re.compile(r"--[^\n]*")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_INSERT: Final = re.compile(r"INSERT INTO \w+\s+", re.IGNORECASE)
_TABLE: Final = re.compile(r"CREATE TABLE (\w+)\s*\((.*?)\)\s*(?:PARTITIONED BY \([^)]*\)\s*)?WITH\s*\(", re.DOTALL)
_TABLE_END: Final = re.compile(r"\)\s*$")
NOT_RUN: Final = {"q6": "Flink has no OVER over a result that changes (FLINK-19059)"}
QUICK: Final = ("q0", "q5", "q7", "q8", "q15", "q18")


@dataclass(frozen=True, slots=True, kw_only=True)
class NexmarkQuery:
    """A query.

    Attributes:
        name: `q5`.
        title: what it is for.
        free: columns of a row that an equal time or price leaves open: any of the tied rows is right.
        rank: the column that numbers tied rows; "" = none does.
        is_bounded: the result has at most so much as is expected, for windows of the clock that are still open at the
            end are not emitted.
    """

    name: str
    title: str
    free: tuple[str, ...] = ()
    rank: str = ""
    is_bounded: bool = False

    def statements(self, values: Mapping[str, str]) -> list[str]:
        """Return the statements of the query's text; the last one is its INSERT.

        Args:
            values: what `${NAME}` stands for.
        """
        return _statements(f"{self.name}.sql", values)

    def select(self, values: Mapping[str, str]) -> str:
        """Return the query without its INSERT."""
        return _INSERT.sub("", self.statements(values)[-1], count=1)

    def columns(self) -> tuple[str, ...]:
        """Return the names of the result's columns: those of the sink."""
        return tuple(name for name, _ in self.typed_columns())

    def typed_columns(self) -> Sequence[tuple[str, str]]:
        """Return the sink's columns with their types in SQL."""
        tables = (_TABLE.match(statement) for statement in self.statements({}))
        sink = next(table for table in tables if table is not None and table[1] == f"nexmark_{self.name}")
        fields = (line.strip().rstrip(",").split(maxsplit=1) for line in sink[2].strip().splitlines() if line.strip())
        return [(name.strip("`"), kind) for name, kind in fields]


def _query(name: str, title: str, **more: object) -> NexmarkQuery:
    return NexmarkQuery(name=name, title=title, **more)  # type: ignore[arg-type]


_ALL: Final = (
    _query("q0", "pass through"),
    _query("q1", "currency conversion"),
    _query("q2", "selection"),
    _query("q3", "local item suggestion"),
    _query("q4", "average price of a category"),
    _query("q5", "hot items"),
    _query("q7", "highest bid"),
    _query("q8", "monitor new users"),
    _query("q9", "winning bids", free=("bidder", "bid_extra")),
    _query("q10", "log to files"),
    _query("q11", "user sessions"),
    _query("q12", "windows of processing time", is_bounded=True),
    _query("q13", "bounded side input"),
    _query("q14", "calculation with a function"),
    _query("q15", "bidding statistics"),
    _query("q16", "channel statistics"),
    _query("q17", "auction statistics"),
    _query("q18", "last bid", free=("price", "channel", "url", "extra")),
    _query("q19", "top 10 prices", free=("bidder", "channel", "url", "dateTime", "extra"), rank="rank_number"),
    _query("q20", "bids with auctions"),
    _query("q21", "channel id"),
    _query("q22", "directories of the URL"),
)
QUERIES: Final = {query.name: query for query in _ALL}


def ddl_statements(values: Mapping[str, str], options: Mapping[str, str]) -> list[str]:
    """Return the statements of the table `kafka` and its views `person`, `auction`, `bid`.

    Args:
        values: what `${NAME}` stands for.
        options: added to the table's.
    """
    filled = {"NEXMARK_TABLE": "kafka", **values}
    table, *others = _statements("ddl_kafka.sql", filled)
    further = "".join(f",\n    '{key}' = '{value}'" for key, value in options.items())
    return [_TABLE_END.sub(f"{further}\n)", table), *others, *_statements("ddl_views.sql", filled)]


def with_options(statement: str, table: str, options: Mapping[str, str]) -> str:
    """Return a statement; if it creates a table whose name begins so, with other options, and not partitioned."""
    found = _TABLE.match(statement)
    if found is None or not found[1].startswith(table):
        return statement
    return f"CREATE TABLE {found[1]} ({found[2]}) WITH ({listed_options(options)})"


def _statements(file: str, values: Mapping[str, str]) -> list[str]:
    text = _COMMENT.sub("", (_TEXTS / file).read_text(encoding="utf-8"))
    filled = _VARIABLE.sub(lambda name: values.get(name[1], name[0]), text)
    return [statement for each in filled.split(";") if (statement := each.strip())]
