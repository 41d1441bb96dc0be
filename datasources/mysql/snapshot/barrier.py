"""The visibility barrier: when a SELECT sees everything in the binlog up to a position.

Theory of operation. That a transaction is in the binlog does not make it visible: the server's status advances when it
is flushed to the binlog, and the engine makes its rows visible only afterwards, a second later if the group commit
delay is a second. A SELECT in between misses rows before the position, and they are never read again.

* MySQL with GTIDs: a transaction owns its GTID from before it is flushed until after its rows are visible. So: read
  the position, read ``@@gtid_owned`` once, and wait until none of those GTIDs is owned. It costs one query on an idle
  server, locks nothing, and needs no privilege beyond those of a reader.
* MySQL without GTIDs: a table's read lock is granted only when no change to it is being committed. One connection
  locks, the other opens its snapshot, the first unlocks.
* MariaDB: a consistent snapshot has a position in the binlog; one before the wanted position is discarded.

A replica's applier owns the GTID of a transaction while it applies it, also before it is in the binlog, so on a replica
the wait may last as long as its longest transaction.
"""

from __future__ import annotations

import re
import threading
from typing import Any, Final

import pymysql
from pymysql.constants import ER

from datasources.errors import SourceUnavailable
from datasources.mysql.connection.quoting import table_name
from watermark.clock import Clock, SystemClock

_NANOS_PER_SECOND: Final = 1_000_000_000
_MIN_PAUSE_S: Final = 0.001
_MAX_PAUSE_S: Final = 0.05
_DEADLINE_S: Final = 60.0
_SHOWN: Final = 3
_LOCK_MODES: Final = ("READ", *["WRITE"] * 9)
_LOCK_WAIT_S: Final = 1
_LOCK_PAUSE_S: Final = 0.5
_SNAPSHOT: Final = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_FILE_NUMBER: Final = re.compile(r"(?P<base>.+)\.(?P<number>\d+)")


def owned_gtids(text: str) -> frozenset[str]:
    """Return the GTIDs that ``@@gtid_owned`` lists, without the threads that own them.

    Args:
        text: ``uuid:3#17:5#18,`` line break ``uuid:tag:1#4``: per uuid, and tag if it has one, numbers with threads.

    Returns:
        ``uuid:3``, ``uuid:5``, ``uuid:tag:1``.
    """
    found: set[str] = set()
    for group in re.split(r"[,\s]+", text.strip()):
        name: list[str] = []
        numbers: list[str] = []
        for part in group.split(":"):
            (numbers if "#" in part else name).append(part.partition("#")[0])
        found.update(":".join([*name, number]) for number in numbers)
    return frozenset(found)


def wait_until_visible(connection: Any, *, deadline_s: float = _DEADLINE_S, clock: Clock | None = None) -> int:
    """Return when every transaction in the binlog is visible to a SELECT that starts afterwards.

    For MySQL with gtid_mode=ON. The position must have been read before the call.

    The connection may be the one that will SELECT, outside a transaction.

    Returns:
        The number of queries.

    Raises:
        SourceUnavailable: A transaction did not become visible in time; names its GTID.
    """
    clock = clock or SystemClock()
    end_ns = clock.monotonic_ns() + int(deadline_s * _NANOS_PER_SECOND)
    waiting, queries, pause_s = _query_owned(connection), 1, _MIN_PAUSE_S
    while waiting:
        if clock.monotonic_ns() >= end_ns:
            raise _not_visible(f"transaction {', '.join(sorted(waiting)[:_SHOWN])}", deadline_s)
        threading.Event().wait(pause_s)
        pause_s = min(2 * pause_s, _MAX_PAUSE_S)
        waiting &= _query_owned(connection)
        queries += 1
    return queries


def open_locked_snapshot(
    locker: Any, reader: Any, database: str, table: str, *, status: str | None = None
) -> tuple[str, int] | None:
    """Open a snapshot on ``reader`` that sees everything of one table that is in the binlog.

    For MySQL with gtid_mode=OFF. The position must have been read before the call. The lock is held for two or three
    short statements. A read lock is tried first; it is granted only when there is no writer, which may never happen on
    a busy table. A write lock has priority over later writers and blocks them, so its attempts are short.

    Args:
        locker: A connection of the same login, with the privilege LOCK TABLES; starting a transaction on it would drop
            the lock, so it cannot be the reader.
        reader: The connection that will SELECT; its transaction is open afterwards.
        database: The table's database.
        table: The table.
        status: The statement that returns the end of the binlog, executed under the lock: of this table the snapshot
            then holds exactly what the binlog holds up to there.

    Returns:
        File and position, if `status` was given.

    Raises:
        SourceUnavailable: The lock was not granted in time.
    """
    with locker.cursor() as lock, reader.cursor() as read:
        _lock(lock, table_name(database, table))
        try:
            for statement in _SNAPSHOT:
                read.execute(statement)
            if status is None:
                return None
            lock.execute(status)
            file, position, *_ = lock.fetchone()
            return str(file), int(position)
        finally:
            lock.execute("UNLOCK TABLES")


def open_positioned_snapshot(
    connection: Any, file: str, position: int, *, deadline_s: float = _DEADLINE_S, clock: Clock | None = None
) -> tuple[str, int]:
    """Open a snapshot that sees everything in the binlog up to a position.

    For MariaDB, whose consistent snapshots have a position.

    The connection's transaction is open afterwards.

    Returns:
        File and position of the snapshot, at or after the given one.

    Raises:
        SourceUnavailable: No snapshot reached the position in time.
    """
    clock = clock or SystemClock()
    end_ns, pause_s = clock.monotonic_ns() + int(deadline_s * _NANOS_PER_SECOND), _MIN_PAUSE_S
    with connection.cursor() as cursor:
        while True:
            for statement in _SNAPSHOT:
                cursor.execute(statement)
            found = _positioned_at(cursor)
            if _order(*found) >= _order(file, position):
                return found
            cursor.execute("ROLLBACK")
            if clock.monotonic_ns() >= end_ns:
                raise _not_visible(
                    f"the binlog's {file}:{position} (the newest snapshot is at {found[0]}:{found[1]})", deadline_s
                )
            threading.Event().wait(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)


def _lock(cursor: Any, name: str) -> None:
    for attempt, mode in enumerate(_LOCK_MODES):
        if attempt > 1:
            threading.Event().wait(_LOCK_PAUSE_S)
        cursor.execute(f"SET SESSION lock_wait_timeout = {_LOCK_WAIT_S}")
        try:
            cursor.execute(f"LOCK TABLES {name} {mode}")
        except pymysql.MySQLError as error:
            if error.args[0] != ER.LOCK_WAIT_TIMEOUT:
                raise
        else:
            return
    raise SourceUnavailable(
        f"table {name} could not be locked for milliseconds within {len(_LOCK_MODES) * _LOCK_WAIT_S} s: a transaction "
        f"that changed it, or a prepared XA transaction, is open (SHOW PROCESSLIST, XA RECOVER)."
    )


def _query_owned(connection: Any) -> frozenset[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@GLOBAL.gtid_owned")
        return owned_gtids(cursor.fetchone()[0])


def _positioned_at(cursor: Any) -> tuple[str, int]:
    cursor.execute("SHOW STATUS LIKE 'binlog_snapshot_%'")
    status = {name.lower(): value for name, value in cursor.fetchall()}
    return status["binlog_snapshot_file"], int(status["binlog_snapshot_position"])


def _order(file: str, position: int) -> tuple[str, int, int]:
    match = _FILE_NUMBER.fullmatch(file)
    if match is None:
        raise SourceUnavailable(f"the name of the server's binlog file, '{file}', does not end in a number.")
    return match["base"], int(match["number"]), position


def _not_visible(what: str, deadline_s: float) -> SourceUnavailable:
    return SourceUnavailable(
        f"{what} did not become visible in {deadline_s:g} s, so no table can be read as of there: is a commit stuck "
        "(SHOW PROCESSLIST), a GTID reserved by hand (gtid_next), or a replica's applier in a long transaction?"
    )
