"""Resuming from a checkpoint: whether the server is the same, and its log still has the next transactions.

Theory of operation. A position is valid at one server only, so an offset names the server. At the
same server reading resumes at file and position, which is cheap; at another one only the set of transactions that were
read identifies the next one. That set must be known there: a server that lacks some of it is behind (it is waited for),
or will never have them, and then their changes never happened there.

Transactions of the set may be behind others in the new server's log. Up to its current end (`gtid_until`) reading
therefore requests its dumps by GTID set; behind that position there is none of the set, and positions are used again.

MariaDB's servers have no uuid: their server_id is used instead, so two servers of one id cannot be distinguished, and
a position of domains replaces the set.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from datasources.errors import DataLossError, OffsetError, SourceUnavailable
from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.preflight.tables import server_is_replica
from datasources.mysql.server.server_log import Gtids, ServerLog
from watermark.clock import Clock, SystemClock

_NANOS: Final = 1_000_000_000
_PAUSE_S: Final = 0.1
_COMMIT_S: Final = 10.0
_NEW_CHECKPOINT: Final = "Start the query with a new checkpoint, so that the tables are read again."


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPosition:
    """Where reading stopped, from an offset.

    Attributes:
        server_uuid: the server, as `ServerLog.server_uuid` names it.
        position: where reading resumes.
        gtid: the transactions before it, as text; None if unknown.
        planned_gtid: those before the end of the batch that begins there, which may have been read; None = no batch.
        epoch: how often positions began anew.
        gtid_until: up to this position dumps are requested by GTID set; None = nowhere.
    """

    server_uuid: str
    position: BinlogPosition
    gtid: str | None
    planned_gtid: str | None = None
    epoch: int
    gtid_until: BinlogPosition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """How reading resumes.

    Attributes:
        server_uuid: the server.
        epoch: one more than before if positions cannot be compared with earlier ones.
        position: where, if not by GTID.
        by_gtid: whether the next dump is requested by the offset's GTID set.
        gtid_until: behind this position dumps are requested by position again; None if at once.
    """

    server_uuid: str
    epoch: int
    position: BinlogPosition
    by_gtid: bool
    gtid_until: BinlogPosition | None


def check_continuity(
    log: ServerLog, known: KnownPosition, *, deadline_s: float = 60.0, clock: Clock | None = None
) -> Continuation:
    """Return how to resume from an offset at the current server.

    Args:
        log: the server's log.
        known: from the offset.
        deadline_s: how long a server that is behind is waited for, in seconds.
        clock: measures it.

    Raises:
        DataLossError: the log lost the next transactions or was reset, or the server will never have what was read.
        SourceUnavailable: the server is behind, and stayed so.
    """
    server = log.server_uuid()
    # What was read from this server is in its log and may wait for its commit; a lagging server gets more time.
    wait_s = min(_COMMIT_S, deadline_s) if server == known.server_uuid else deadline_s
    wait = _GtidWait(log, wait_s, clock or SystemClock())
    if server == known.server_uuid:
        return _same_server(log, known, wait)
    if known.gtid is None:
        raise DataLossError(
            f"the server is another one now ({server}, before {known.server_uuid}), and the transactions that were "
            f"read have no GTIDs by which to resume there (gtid_mode was not ON, or their set is too long). "
            f"{_NEW_CHECKPOINT}"
        )
    read = log.parse_gtids(known.gtid)
    _wait_for(log, read, wait)
    if known.planned_gtid is not None:
        _wait_for(log, log.parse_gtids(known.planned_gtid), wait)
    _check_purged(log, read)
    return Continuation(
        server_uuid=server, epoch=known.epoch + 1, position=known.position, by_gtid=True, gtid_until=log.end()
    )


def _same_server(log: ServerLog, known: KnownPosition, wait: _GtidWait) -> Continuation:
    read = None if known.gtid is None else log.parse_gtids(known.gtid)
    if read is not None and (missing := wait.until_executed(read)) is not None:
        raise log.lost(
            f"the server {known.server_uuid} lacks transactions that were read from it ('{missing}'): its "
            f"binlog was reset (RESET), or it was restored from a backup"
        )
    sizes = {file.name: file.size for file in log.files()}
    end = log.end()
    if known.position.file not in sizes:
        if read is None:
            raise log.lost(f"{known.position}, where reading resumes, is no longer in the server's binlog")
        _check_purged(log, read)
        is_later = _base(end) == _base(known.position)
        return _continued(known, end, epoch=known.epoch + (not is_later), by_gtid=True)
    if known.position.pos > max(sizes[known.position.file], end.pos if end.file == known.position.file else 0):
        raise log.lost(f"{known.position}, where reading resumes, is behind the end of that file: the log was reset")
    if known.gtid_until is not None and known.position < known.gtid_until and read is not None:
        return _continued(known, known.gtid_until, epoch=known.epoch, by_gtid=True)
    _check_next(log, known, read)
    return _continued(known, None, epoch=known.epoch, by_gtid=False)


def _continued(known: KnownPosition, gtid_until: BinlogPosition | None, *, epoch: int, by_gtid: bool) -> Continuation:
    return Continuation(
        server_uuid=known.server_uuid, epoch=epoch, position=known.position, by_gtid=by_gtid, gtid_until=gtid_until
    )


def _check_next(log: ServerLog, known: KnownPosition, read: Gtids | None) -> None:
    """Check that the next transaction was not read already: then the log would be another one."""
    try:
        begin = log.scan(known.position, StopRule(committed_us=0)).position
        first = log.scan(begin, StopRule(max_bytes=1)).first_gtid
    except OffsetError as error:
        raise log.lost(
            f"{known.position}, where reading resumes, is inside a transaction: the log was reset"
        ) from error
    if first is not None and read is not None and read.has_gtid(first):
        raise log.lost(
            f"at {known.position}, where reading resumes, the transaction is {first}, which was already read: the "
            f"server's binlog was reset (RESET), and positions mean other transactions now"
        )


def _check_purged(log: ServerLog, read: Gtids) -> None:
    if isinstance(read, DomainPositions):
        log.scan(str(read), StopRule(max_bytes=1))  # MariaDB does not list what it purged; it refuses the dump
        return
    missing = log.purged().minus(read)
    if missing:
        raise log.lost(f"transactions that were not read yet are no longer in the server's binlog ('{missing}')")


def _wait_for(log: ServerLog, read: Gtids, wait: _GtidWait) -> None:
    """Wait until another server has all transactions that were read."""
    is_replica = server_is_replica(log.connection, log.version)
    missing = wait.until_executed(read, can_catch_up=is_replica is not False)
    if missing is None:
        return
    if is_replica is False or _is_behind_others(missing, log.executed()):
        raise log.lost(
            f"the server {log.server_uuid()} lacks transactions that were read from another one and will not get them "
            f"('{missing}'): they were written to a server that was replaced (errant or lost transactions)"
        )
    raise SourceUnavailable(
        f"the server {log.settings} is behind the one that was read before: it lacks '{missing}' after "
        f"{wait.deadline_s:g} s. The query can be restarted once the server has caught up; nothing was read from it."
    )


def _is_behind_others(missing: Gtids, executed: Gtids) -> bool:
    """Whether the server has later transactions of the same source: those in between will not arrive."""
    if not isinstance(missing, GtidSet) or not isinstance(executed, GtidSet):
        return False
    last = {source: intervals[-1][1] for source, intervals in executed.sources}
    return any(last.get(source, 0) > intervals[0][0] for source, intervals in missing.sources)


def _base(position: BinlogPosition) -> str:
    return position.file.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class _GtidWait:
    """Waits until a server has executed transactions."""

    log: ServerLog
    deadline_s: float
    clock: Clock

    def until_executed(self, wanted: Gtids, *, can_catch_up: bool = True) -> Gtids | None:
        """Return which transactions are missing at the deadline, or now if none can arrive; None if there are none."""
        end_ns = self.clock.monotonic_ns() + int(self.deadline_s * _NANOS)
        while (missing := _missing(wanted, self.log.executed())) is not None:
            if not can_catch_up or self.clock.monotonic_ns() >= end_ns:
                return missing
            threading.Event().wait(_PAUSE_S)
        return None


def _missing(wanted: Gtids, executed: Gtids) -> Gtids | None:
    if isinstance(wanted, GtidSet) and isinstance(executed, GtidSet):
        return wanted.minus(executed) or None
    if isinstance(wanted, DomainPositions) and isinstance(executed, DomainPositions):
        return None if executed.contains(wanted) else wanted
    raise OffsetError(f"the offset names transactions of another kind of server: '{wanted}'. {_NEW_CHECKPOINT}")
