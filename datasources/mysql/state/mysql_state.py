"""The connector state of a MySQL source: where a batch begins and ends in the binlog, and which chunks it reads.

Theory of operation. The split position of the binlog is the number of *bytes since the query began*: one growing
integer, across files and servers. The state maps the integer `at`, where the batch begins, to a file and position
(`position`); so a batch is read from its end offset alone.

A batch ends in the binlog at `to`, or earlier, at the first transaction boundary after `max_bytes` or `max_rows`. If it
reads chunks of tables, its end is fixed when it is planned and is their *snapshot position*: each chunk holds the table
as of there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from datasources.errors import OffsetError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.state.snapshot_scan import PlannedChunks, PlannedRange, SnapshotScan
from datasources.mysql.tables.chunk_key import TableName

_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlState:
    """A planned batch, or the state between two batches.

    Attributes:
        reader: names the query's readers at the server; never changes.
        server: the UUID of the server whose files are named (MariaDB: its server id).
        epoch: how often the files were replaced: a failover, a reset.
        at: the split position of `position`.
        position: where the batch begins; None = only known by GTID.
        gtid: the transactions before `position`; None = the server has no GTIDs, or the set is too long.
        by_gtid: whether the batch begins by `gtid`, because `position` is not known at this server.
        gtid_until: from here on reading continues by position; None = from `to` on.
        to: the latest end of the batch; None = it reads nothing of the binlog.
        to_gtid: the batch ends before the first transaction that is not among these; None = no such limit, and no other
            server can read the batch.
        max_bytes, max_rows: the batch ends at the first transaction boundary after so many; None = no limit.
        end_clock_us: the server's clock, µs, just before `to` was the end of its log.
        prepared: XA transactions that are prepared and not decided: name -> where each begins.
        snapshot: the scan before the batch; None = no scan is under way.
        tables: the chunks of the batch.
        chunks_per_reader: how many of them each snapshot reader reads, in order.
        after: the scan after the batch.
        again: the value of `scan.snapshot.again` that was last applied.
        reread: tables that are read again after the current scan.
        irrelevant_batches: the number of successive batches, up to the last one, without captured changes.
        reader_count: the number of snapshot readers of the query.
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
    tables: tuple[PlannedChunks, ...] = ()
    chunks_per_reader: tuple[int, ...] = ()
    after: SnapshotScan | None = None
    again: str = ""
    reread: tuple[TableName, ...] = ()
    irrelevant_batches: int = 0
    reader_count: int = 0

    @property
    def start(self) -> BinlogPosition | str:
        """Where the batch begins, as a dump is requested: a position, or the transactions before it."""
        if self.by_gtid:
            return self.gtid or ""
        assert self.position is not None
        return self.position

    @property
    def snapshot_position(self) -> BinlogPosition:
        """The position as of which the batch's chunks are read."""
        snapshot_position = self.to or self.position
        assert snapshot_position is not None, "chunks are planned only with a known position"
        return snapshot_position

    @property
    def has_data(self) -> bool:
        """Whether the batch reads the binlog or chunks of tables; never so between two batches."""
        return self.to is not None or bool(self.tables)

    def chunks_of_reader(self, reader: int) -> list[PlannedRange]:
        """Return the chunks that a snapshot reader reads, in order."""
        first = sum(self.chunks_per_reader[:reader])
        every = [chunk for table in self.tables for chunk in table.ranges]
        return every[first : first + self.chunks_per_reader[reader]]

    def without_data(self) -> Self:
        """Return the state without a batch."""
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
            OffsetError: it is damaged, or of a newer version.
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
    """Return the position in [file, position]."""
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
        tables=tuple(map(PlannedChunks.from_json, raw["tables"])),
        chunks_per_reader=tuple(map(int, raw["lanes"])),
        after=None if raw["after"] is None else SnapshotScan.from_json(raw["after"]),
        again=str(raw["again"]),
        reread=tuple((str(database), str(table)) for database, table in raw.get("reread", [])),
        irrelevant_batches=int(raw["quiet"]),
        reader_count=int(raw["width"]),
    )
