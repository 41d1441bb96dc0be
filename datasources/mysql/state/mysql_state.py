"""What a MySQL source keeps in the offset: where a batch begins and ends in the binlog, and what it reads of tables.

Theory of operation. Positions of the binlog in the offset are *bytes since the query began*: one growing integer,
across files and across servers. The state says which file and position (`place`) the integer `at` stands for, always
that where the batch begins; so a batch is read from its end offset alone.

A batch ends in the binlog at `to`, or before at the first place between two transactions where the bytes or rows of its
rule are passed. If it reads chunks of tables, its end is known beforehand and is their *mark*: each chunk is the table
as of there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from datasources.errors import OffsetError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.state.snapshot_scan import PlannedRange, PlannedTable, Sweep, TableName

__all__ = ["MySqlState", "place_from_json", "place_to_json"]

_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlState:
    """One batch, or the rest after one.

    Attributes:
        reader: names this query's readers at the server, for good.
        server: the UUID of the server whose files are meant (MariaDB: its server id).
        epoch: how often the files began anew: another server, a reset.
        at: the integer position that `place` has.
        place: where the batch begins; None = only known by GTID.
        gtid: the transactions before that place; None = the server has none, or they are too many to keep.
        by_gtid: whether the batch begins by `gtid`, because `place` would be another server's.
        gtid_until: behind this place reading goes on by places again; None = behind `to`.
        to: the batch's end at the latest; None = nothing is read of the binlog.
        to_gtid: the batch ends before the first transaction that is not among these; None = it does not, and no other
            server can read it.
        max_bytes, max_rows: the rule by which it ends before; None = it does not.
        mark_us: the server's clock, µs, just before `to` was its end.
        prepared: XA transactions that are prepared and not decided: name to where each begins.
        sweep: how far the tables were read before the batch; None = they all were, or need not be.
        tables: the chunks of the batch.
        lanes: how many of them each lane reads, in order.
        after: the same after the batch.
        again: the option `scan.snapshot.again` as it was last obeyed.
        reread: tables that are read again once no sweep is under way.
        quiet: how many batches in a row held no change of a captured table.
        width: how many lanes the query has.
    """

    reader: str
    server: str
    epoch: int = 0
    at: int = 0
    place: BinlogPosition | None
    gtid: str | None = None
    by_gtid: bool = False
    gtid_until: BinlogPosition | None = None
    to: BinlogPosition | None = None
    to_gtid: str | None = None
    max_bytes: int | None = None
    max_rows: int | None = None
    mark_us: int | None = None
    prepared: Mapping[str, BinlogPosition]
    sweep: Sweep | None = None
    tables: tuple[PlannedTable, ...] = ()
    lanes: tuple[int, ...] = ()
    after: Sweep | None = None
    again: str = ""
    reread: tuple[TableName, ...] = ()
    quiet: int = 0
    width: int = 0

    @property
    def start(self) -> BinlogPosition | str:
        """Where the batch begins, as a dump is asked for: a place, or the transactions before it."""
        if self.by_gtid:
            return self.gtid or ""
        assert self.place is not None
        return self.place

    @property
    def mark(self) -> BinlogPosition:
        """As of which place the batch's chunks are."""
        mark = self.to or self.place
        assert mark is not None, "chunks are planned only where the binlog's place is known"
        return mark

    def ranges_of_lane(self, lane: int) -> list[PlannedRange]:
        """Return the chunks that a lane reads, in order."""
        first = sum(self.lanes[:lane])
        every = [chunk for table in self.tables for chunk in table.ranges]
        return every[first : first + self.lanes[lane]]

    def without_data(self) -> Self:
        """Return the state without a batch: nothing to read."""
        return replace(
            self,
            to=None,
            to_gtid=None,
            max_bytes=None,
            max_rows=None,
            tables=(),
            lanes=(),
            after=self.sweep,
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives with sorted keys."""
        raw: dict[str, Any] = {
            "v": _VERSION,
            "reader": self.reader,
            "server": self.server,
            "epoch": self.epoch,
            "at": self.at,
            "place": place_to_json(self.place),
            "gtid": self.gtid,
            "by_gtid": self.by_gtid,
            "gtid_until": place_to_json(self.gtid_until),
            "to": place_to_json(self.to),
            "to_gtid": self.to_gtid,
            "max_bytes": self.max_bytes,
            "max_rows": self.max_rows,
            "mark_us": self.mark_us,
            "prepared": {xid: place_to_json(self.prepared[xid]) for xid in sorted(self.prepared)},
            "sweep": None if self.sweep is None else self.sweep.to_json(),
            "tables": [table.to_json() for table in self.tables],
            "lanes": list(self.lanes),
            "after": None if self.after is None else self.after.to_json(),
            "again": self.again,
            "quiet": self.quiet,
            "width": self.width,
        }
        if self.reread:
            raw["reread"] = [list(table) for table in self.reread]
        return dict(sorted(raw.items()))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> MySqlState:
        """Return the state in `raw`.

        Raises:
            OffsetError: it is none, or one of a newer version.
        """
        try:
            version = raw["v"]
            if version == _VERSION:
                return _decode(raw)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise OffsetError(
                f"the checkpoint's state of a MySQL source is damaged ({type(error).__name__}: {error}). Restore the "
                f"checkpoint from a copy, or start with a new checkpoint location."
            ) from error
        raise OffsetError(
            f"the checkpoint holds a MySQL state of version {version!r}; this version of Tidemark reads {_VERSION}. "
            f"Use the version that wrote it, or a new checkpoint location."
        )


def place_to_json(place: BinlogPosition | None) -> list[Any] | None:
    """Return [file, position]."""
    return None if place is None else [place.file, place.pos]


def place_from_json(raw: Any) -> BinlogPosition | None:
    """Return the place in [file, position]."""
    if raw is None:
        return None
    file, pos = raw
    return BinlogPosition(str(file), int(pos))


def _decode(raw: Mapping[str, Any]) -> MySqlState:
    prepared = {str(xid): place_from_json(place) for xid, place in raw["prepared"].items()}
    return MySqlState(
        reader=str(raw["reader"]),
        server=str(raw["server"]),
        epoch=int(raw["epoch"]),
        at=int(raw["at"]),
        place=place_from_json(raw["place"]),
        gtid=raw["gtid"],
        by_gtid=bool(raw["by_gtid"]),
        gtid_until=place_from_json(raw.get("gtid_until")),
        to=place_from_json(raw["to"]),
        to_gtid=raw["to_gtid"],
        max_bytes=raw["max_bytes"],
        max_rows=raw["max_rows"],
        mark_us=raw["mark_us"],
        prepared={xid: place for xid, place in prepared.items() if place is not None},
        sweep=None if raw["sweep"] is None else Sweep.from_json(raw["sweep"]),
        tables=tuple(map(PlannedTable.from_json, raw["tables"])),
        lanes=tuple(map(int, raw["lanes"])),
        after=None if raw["after"] is None else Sweep.from_json(raw["after"]),
        again=str(raw["again"]),
        reread=tuple((str(database), str(table)) for database, table in raw.get("reread", [])),
        quiet=int(raw["quiet"]),
        width=int(raw["width"]),
    )
