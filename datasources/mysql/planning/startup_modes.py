"""Where a stream starts: each startup mode as a position in the binlog."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from datasources.errors import DataLossError, OffsetError, OptionError
from datasources.mysql.binlog import FIRST_POSITION, BinlogPosition, BinlogRangeInfo, StopRule
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.config.mysql_options import StartupMode, StartupOptions
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.server_dialect import ServerVersion
from datasources.mysql.server.server_log import Gtids, LogFile, ServerLog

_US_PER_MS: Final = 1000
_FILE: Final = "scan.startup.specific-offset.file"
_GTIDS: Final = "scan.startup.specific-offset.gtid-set"
_TIME: Final = "scan.startup.timestamp-millis"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPosition:
    """Where reading starts.

    Attributes:
        position: where; with `by_gtid` the first transaction that is not in the set.
        gtid: the transactions before it, as canonical text; None where some have no GTID.
        by_gtid: whether the first dump is requested by GTID set: transactions of it may also follow the position, up to
            `log_end`.
        log_end: the end of the log when this was resolved.
    """

    position: BinlogPosition
    gtid: str | None
    by_gtid: bool
    log_end: BinlogPosition


def resolve_start(
    settings: ConnectionSettings, startup: StartupOptions, version: ServerVersion, *, server_id: int | None = None
) -> StartPosition:
    """Return where a stream without a checkpoint starts.

    Args:
        settings: the server.
        startup: the options; the modes initial and snapshot start at the end of the log.
        version: which server it is.
        server_id: the number of the log's reader, if one is needed; by default a private one.

    Raises:
        OptionError: the option names no position of this server's log.
        DataLossError: the log no longer holds the start; names the files that it has.
        SourceUnavailable: the server does not answer.
    """
    with closing(connect(settings, doing="looking for the start position")) as connection:
        chosen = {} if server_id is None else {"server_id": server_id}
        log = ServerLog(connection=connection, settings=settings, version=version, **chosen)
        if startup.mode is StartupMode.EARLIEST:
            return _at(log, _head(log.files()[0]))
        if startup.mode is StartupMode.TIMESTAMP and startup.timestamp_ms is not None:
            return _at(log, _at_time(log, startup.timestamp_ms * _US_PER_MS))
        if startup.mode is StartupMode.SPECIFIC:
            return _specific(log, startup)
        end, gtids = log.end_with_gtids()
        return StartPosition(position=end, gtid=_text(gtids), by_gtid=False, log_end=end)


def _at(log: ServerLog, position: BinlogPosition) -> StartPosition:
    return StartPosition(position=position, gtid=_text(log.gtids_at(position)), by_gtid=False, log_end=log.end())


def _head(file: LogFile) -> BinlogPosition:
    return BinlogPosition(file.name, FIRST_POSITION)


def _text(gtids: Gtids | None) -> str | None:
    return None if gtids is None else str(gtids)


def _at_time(log: ServerLog, at_us: int) -> BinlogPosition:
    """Return the first transaction committed at a time or later; the end of the log if there is none."""
    files = log.files()
    first = log.scan(_head(files[0]), StopRule(committed_us=0))
    if first.next_commit_us is not None and first.next_commit_us >= at_us:
        return _before_all(log, files[0], first, at_us)
    low, high = 0, len(files)  # the first transaction of file `low` is too old
    while high - low > 1:
        middle = (low + high) // 2
        found = log.scan(_head(files[middle]), StopRule(committed_us=0)).next_commit_us
        low, high = (middle, high) if found is not None and found < at_us else (low, middle)
    return log.scan(_head(files[low]), StopRule(committed_us=at_us)).position


def _before_all(log: ServerLog, file: LogFile, first: BinlogRangeInfo, at_us: int) -> BinlogPosition:
    """Return the head of the log if no transaction between the time and it can have been purged."""
    is_whole = log.has_gtids() and not log.before_file(file.name)
    if first.format_time_us > at_us and not is_whole and _head(file).file_number > 1:
        raise log.lost(
            f"'{_TIME}' = '{at_us // _US_PER_MS}' lies before the first transaction that the binlog still holds, which "
            f"was committed at {(first.next_commit_us or 0) // _US_PER_MS} (in {file.name})"
        )
    return _head(file)


def _specific(log: ServerLog, startup: StartupOptions) -> StartPosition:
    if startup.gtid_set is not None:
        return _behind_gtids(log, log.parse_gtids(startup.gtid_set))
    position = BinlogPosition(startup.file or "", startup.position or FIRST_POSITION)
    sizes = {file.name: file.size for file in log.files()}
    if position.file not in sizes:
        raise log.lost(f"'{_FILE}' = '{position.file}' is no file of the server's binlog")
    # The listed size of the current file may lag behind the status, which is exact.
    if position.pos > max(sizes[position.file], log.end().pos if log.end().file == position.file else 0):
        raise OptionError(
            f"'scan.startup.specific-offset.pos' = '{position.pos}' lies behind the end of {position.file}, which has "
            f"{sizes[position.file]} bytes."
        )
    try:
        log.scan(position, StopRule(committed_us=0))
    except (OffsetError, DataLossError) as error:
        raise OptionError(
            f"'scan.startup.specific-offset.pos' = '{position.pos}' is no position between two transactions of "
            f"{position.file} (SHOW BINLOG EVENTS IN '{position.file}' lists the events): {error.message}"
        ) from error
    return _at(log, position)


def _behind_gtids(log: ServerLog, wanted: Gtids) -> StartPosition:
    executed = log.executed()
    if isinstance(wanted, GtidSet) and isinstance(executed, GtidSet):
        _check_mysql_set(log, wanted, executed)
    elif isinstance(wanted, DomainPositions) and not _contains(executed, wanted):
        raise OptionError(f"'{_GTIDS}' = '{wanted}' is ahead of the server, which is at '{executed}'.")
    log_end = log.end()
    found = log.scan(str(wanted), StopRule(committed_us=0))
    return StartPosition(position=found.position, gtid=str(wanted), by_gtid=True, log_end=log_end)


def _contains(executed: Gtids, wanted: DomainPositions) -> bool:
    return isinstance(executed, DomainPositions) and executed.contains(wanted)


def _check_mysql_set(log: ServerLog, wanted: GtidSet, executed: GtidSet) -> None:
    if not log.has_gtids():
        raise OptionError(f"'{_GTIDS}' needs a server with gtid_mode=ON; give file and position instead.")
    unknown = wanted.minus(executed)
    if unknown:
        raise OptionError(f"'{_GTIDS}' names transactions that the server never committed: '{unknown}'.")
    missing = log.purged().minus(wanted)
    if missing:
        raise log.lost(f"'{_GTIDS}' lacks transactions that are no longer in the server's binlog ('{missing}')")
