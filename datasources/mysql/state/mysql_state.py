"""What a MySQL source keeps in the offset: where a batch begins and ends in the binlog, and what it reads of tables.

Theory of operation. Positions of the binlog in the offset are *bytes since the query began*: one growing integer,
across files and across servers. The state says which file and position (`position`) the integer `at` stands for, always
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
from datasources.mysql.state.snapshot_scan import PlannedRange, PlannedTable, SnapshotScan, TableName

__all__ = ["MySqlState", "position_from_json", "position_to_json"]

_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlState:
    """One batch, or the rest after one.

    Attributes:
        reader: names this query's readers at the server, for good.
        server: the UUID of the server whose files are meant (MariaDB: its server id).
        epoch: how often the files began anew: another server, a reset.
        at: the integer position that `position` has.
        position: where the batch begins; None = only known by GTID.
        gtid: the transactions before that place; None = the server has none, or they are too many to keep.
        by_gtid: whether the batch begins by `gtid`, because `position` would be another server's.
        gtid_until: behind this place reading goes on by places again; None = behind `to`.
        to: the batch's end at the latest; None = nothing is read of the binlog.
        to_gtid: the batch ends before the first transaction that is not among these; None = it does not, and no other
            server can read it.
        max_bytes, max_rows: the rule by which it ends before; None = it does not.
        end_clock_us: the server's clock, µs, just before `to` was its end.
        prepared: XA transactions that are prepared and not decided: name to where each begins.
        snapshot: how far the tables were read before the batch; None = they all were, or need not be.
        tables: the chunks of the batch.
        chunks_per_reader: how many of them each lane reads, in order.
        after: the same after the batch.
        again: the option `scan.snapshot.again` as it was last obeyed.
        reread: tables that are read again once no sweep is under way.
        irrelevant_batches: how many batches in a row held no change of a captured table.
        reader_count: how many lanes the query has.
    """

    reader: str
    server: str
    epoch: int = 0
    at: int = 0
    position: BinlogPosition | None
    gtid: str | None = None
    by_gtid: bool = False
    gtid_until: BinlogPosition | None = None
    to: BinlogPosition | None = None
    to_gtid: str | None = None
    max_bytes: int | None = None
    max_rows: int | None = None
    end_clock_us: int | None = None
    prepared: Mapping[str, BinlogPosition]
    snapshot: SnapshotScan | None = None
    tables: tuple[PlannedTable, ...] = ()
    chunks_per_reader: tuple[int, ...] = ()
    after: SnapshotScan | None = None
    again: str = ""
    reread: tuple[TableName, ...] = ()
    irrelevant_batches: int = 0
    reader_count: int = 0

    @property
    def start(self) -> BinlogPosition | str:
        """Where the batch begins, as a dump is asked for: a place, or the transactions before it."""
        if self.by_gtid:
            return self.gtid or ""
        assert self.position is not None
        return self.position

    @property
    def snapshot_position(self) -> BinlogPosition:
        """As of which place the batch's chunks are."""
        snapshot_position = self.to or self.position
        assert snapshot_position is not None, "chunks are planned only where the binlog's place is known"
        return snapshot_position

    def chunks_of_reader(self, reader: int) -> list[PlannedRange]:
        """Return the chunks that a lane reads, in order."""
        first = sum(self.chunks_per_reader[:reader])
        every = [chunk for table in self.tables for chunk in table.ranges]
        return every[first : first + self.chunks_per_reader[reader]]

    def without_data(self) -> Self:
        """Return the state without a batch: nothing to read."""
        return replace(
            self,
            to=None,
            to_gtid=None,
            max_bytes=None,
            max_rows=None,
            tables=(),
            chunks_per_reader=(),
            after=self.snapshot,
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives with sorted keys."""
        raw: dict[str, Any] = {
            "v": _VERSION,
            "reader": self.reader,
            "server": self.server,
            "epoch": self.epoch,
            "at": self.at,
            "place": position_to_json(self.position),
            "gtid": self.gtid,
            "by_gtid": self.by_gtid,
            "gtid_until": position_to_json(self.gtid_until),
            "to": position_to_json(self.to),
            "to_gtid": self.to_gtid,
            "max_bytes": self.max_bytes,
            "max_rows": self.max_rows,
            "mark_us": self.end_clock_us,
            "prepared": {xid: position_to_json(self.prepared[xid]) for xid in sorted(self.prepared)},
            "sweep": None if self.snapshot is None else self.snapshot.to_json(),
            "tables": [table.to_json() for table in self.tables],
            "lanes": list(self.chunks_per_reader),
            "after": None if self.after is None else self.after.to_json(),
            "again": self.again,
            "quiet": self.irrelevant_batches,
            "width": self.reader_count,
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


def position_to_json(position: BinlogPosition | None) -> list[Any] | None:
    """Return [file, position]."""
    return None if position is None else [position.file, position.pos]


def position_from_json(raw: Any) -> BinlogPosition | None:
    """Return the place in [file, position]."""
    if raw is None:
        return None
    file, pos = raw
    return BinlogPosition(str(file), int(pos))


def _decode(raw: Mapping[str, Any]) -> MySqlState:
    prepared = {str(xid): position_from_json(position) for xid, position in raw["prepared"].items()}
    return MySqlState(
        reader=str(raw["reader"]),
        server=str(raw["server"]),
        epoch=int(raw["epoch"]),
        at=int(raw["at"]),
        position=position_from_json(raw["place"]),
        gtid=raw["gtid"],
        by_gtid=bool(raw["by_gtid"]),
        gtid_until=position_from_json(raw.get("gtid_until")),
        to=position_from_json(raw["to"]),
        to_gtid=raw["to_gtid"],
        max_bytes=raw["max_bytes"],
        max_rows=raw["max_rows"],
        end_clock_us=raw["mark_us"],
        prepared={xid: position for xid, position in prepared.items() if position is not None},
        snapshot=None if raw["sweep"] is None else SnapshotScan.from_json(raw["sweep"]),
        tables=tuple(map(PlannedTable.from_json, raw["tables"])),
        chunks_per_reader=tuple(map(int, raw["lanes"])),
        after=None if raw["after"] is None else SnapshotScan.from_json(raw["after"]),
        again=str(raw["again"]),
        reread=tuple((str(database), str(table)) for database, table in raw.get("reread", [])),
        irrelevant_batches=int(raw["quiet"]),
        reader_count=int(raw["width"]),
    )
