"""A temporal table as the query layer sees it, and its requests to the planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.sql.query.block.relation import Relation, TableUse


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTraits:
    """What a table is to a join as of a time.

    Attributes:
        connector: as it is called in SQL; "" = it is a query.
        primary_key: its columns; empty = none is declared.
        rowtimes: columns that are event time, `a_b` for a nested a.b.
        proctimes: columns that are processing time.
        is_changelog: its rows change earlier ones.
        has_history: a batch gives all versions of its rows, not only the newest.
        can_wait: it can wait for another table, and another one for it.
    """

    connector: str
    primary_key: tuple[str, ...] = ()
    rowtimes: tuple[str, ...] = ()
    proctimes: tuple[str, ...] = ()
    is_changelog: bool = False
    has_history: bool = True
    can_wait: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalBuild:
    """A table whose versions are looked up.

    Attributes:
        use: the table.
        keys: its primary key: pairs of (column of the rows so far, column of the table).
        columns: the table's columns -> their names in the result.
        as_of: the probe's column by whose time versions are chosen; None = the newest, in processing time.
        is_left: rows without a match are kept.
        condition: what a pair must fulfil besides, as Spark SQL over the names of the result; None = nothing.
        load_time: the time, as a constant of Spark SQL, from which on the table counts as loaded; None = when that was
            read which it held as the query began.
        idle_timeout_ms: it counts as loaded also when nothing came for so long, ms; None = it does not.
        shown: the user's text of the join.
    """

    use: TableUse
    keys: tuple[tuple[str, str], ...]
    columns: Mapping[str, str]
    as_of: str | None = None
    is_left: bool = False
    condition: str | None = None
    load_time: str | None = None
    idle_timeout_ms: int | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalRequest:
    """Rows, each with versions of other tables' rows.

    Attributes:
        probe: the table whose rows come out, or the query: one that groups by windows if it is a stream.
        builds: the build sides, in order.
        read_once: lower-case names of those tables that the statement reads nowhere else.
    """

    probe: TableUse | Relation
    builds: tuple[TemporalBuild, ...]
    read_once: frozenset[str] = frozenset()
