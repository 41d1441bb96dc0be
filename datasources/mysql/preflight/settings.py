"""Required values of the server's variables, with the statements that set them.

Rules of this file: one function per variable or group of them, each returns findings and none raises; a variable that a
server does not have is skipped, because it cannot be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from datasources.mysql.config.mysql_options import SnapshotLocking, parse_server_ids
from datasources.mysql.connection.log_retention import log_retention_s
from datasources.mysql.connection.server_dialect import ServerVersion
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.wanted import Wanted

_DAY_S: Final = 86_400
_SECONDS_PER_HOUR: Final = 3_600
_SMALL_PACKET: Final = 16 * 1024 * 1024
_GOOD_PACKET: Final = 64 * 1024 * 1024
_LARGEST_SKEW_US: Final = 5_000_000
_US: Final = 1_000_000

VARIABLES: Final = (
    "binlog_expire_logs_auto_purge",
    "binlog_expire_logs_seconds",
    "binlog_format",
    "binlog_order_commits",
    "binlog_row_image",
    "binlog_row_metadata",
    "binlog_row_value_options",
    "binlog_transaction_compression",
    "enforce_gtid_consistency",
    "expire_logs_days",
    "gtid_mode",
    "innodb_native_foreign_keys",
    "log_bin",
    "log_bin_compress",
    "log_replica_updates",
    "log_slave_updates",
    "max_allowed_packet",
    "max_binlog_total_size",
    "server_id",
    "server_uuid",
    "system_time_zone",
    "time_zone",
)
"""The variables that are checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """A server's variables and role.

    Attributes:
        version: Which server it is.
        variables: Those of `VARIABLES` that it has.
        skew_us: How far its clock is ahead of this machine's, in microseconds.
        is_replica: Whether it is a replica; None if the login may not query it.
    """

    version: ServerVersion
    variables: Mapping[str, str]
    skew_us: int
    is_replica: bool | None

    def has(self, name: str, *values: str) -> bool:
        """Return whether a variable exists and has one of these values."""
        return self.variables.get(name, "").upper() in values


def check_settings(info: ServerInfo, wanted: Wanted) -> list[Finding]:
    """Return the findings about the server as a whole."""
    findings: list[Finding] = []
    for check in _CHECKS:
        findings.extend(check(info, wanted))
    return findings


def _version(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    supported = info.version.is_supported
    yield Finding(
        check="version",
        found=str(info.version),
        severity=Severity.OK if supported else Severity.PROBLEM,
        why="" if supported else "the source was made for MySQL 8.0 and newer and MariaDB 10.11 and newer",
        fix=() if supported else ("upgrade the server, or read from a newer replica of it",),
    )


def _log_bin(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    if info.has("log_bin", "ON"):
        yield Finding(check="log_bin", found="ON")
        return
    yield Finding(
        check="log_bin",
        found=info.variables.get("log_bin", "unknown"),
        severity=Severity.PROBLEM,
        why="the server writes no binlog, so there is nothing to follow",
        fix=("put 'log_bin = binlog' into the [mysqld] section of the server's configuration file and restart it",),
    )


def _required(name: str, value: str, why: str) -> Callable[[ServerInfo, Wanted], Iterator[Finding]]:
    def check(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
        if name not in info.variables:
            return
        if info.has(name, value):
            yield Finding(check=name, found=value)
            return
        statement = info.version.set_global(name, f"'{value}'" if value != "ON" else value)
        yield Finding(
            check=name,
            found=info.variables[name],
            severity=Severity.PROBLEM,
            why=why,
            fix=(statement, *_lasting(info, name, value)),
        )

    return check


def _lasting(info: ServerInfo, name: str, value: str) -> tuple[str, ...]:
    """MariaDB loses a SET GLOBAL at a restart; on both servers open sessions keep the old value."""
    sessions = "open sessions keep the old value: reconnect the writers"
    if info.version.is_mariadb:
        return (f"put '{name} = {value}' into the [mariadb] section of its configuration file too", sessions)
    return (sessions,)


def _gtid_mode(info: ServerInfo, wanted: Wanted) -> Iterator[Finding]:
    if "gtid_mode" not in info.variables:
        return
    if info.has("gtid_mode", "ON"):
        yield Finding(check="gtid_mode", found="ON")
        return
    has_alternative = not wanted.has_snapshot or wanted.snapshot.locking is SnapshotLocking.MINIMAL
    why = (
        "after a switch to another server the position cannot be found there"
        if has_alternative
        else "nothing else shows when a commit that is in the binlog is visible to a SELECT, so no snapshot is exact"
    )
    yield Finding(
        check="gtid_mode",
        found=info.variables["gtid_mode"],
        severity=Severity.WARNING if has_alternative else Severity.PROBLEM,
        why=why,
        fix=(
            *_gtid_statements(info),
            *(() if has_alternative else ("or set the option 'scan.snapshot.locking' = 'minimal'",)),
        ),
    )


def _gtid_statements(info: ServerInfo) -> Iterator[str]:
    """Yield the statements from the current mode to ON; a server accepts one step at a time only."""
    if not info.has("enforce_gtid_consistency", "ON"):
        yield info.version.set_global("enforce_gtid_consistency", "ON")
    steps = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")
    at = steps.index(info.variables["gtid_mode"].upper())
    for step in steps[at + 1 :]:
        yield info.version.set_global("gtid_mode", step)


def _retention(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    if info.has("binlog_expire_logs_auto_purge", "OFF"):
        yield Finding(check="retention", found="binlog files are kept until they are purged manually")
        return
    seconds = log_retention_s(info.variables)
    if seconds is None or seconds >= _DAY_S:
        found = "without limit" if seconds is None else f"{seconds // _SECONDS_PER_HOUR} h"
        yield Finding(check="retention", found=found)
    else:
        yield Finding(
            check="retention",
            found=f"{seconds} s",
            severity=Severity.WARNING,
            why="a query that is down for longer cannot be resumed",
            fix=(info.version.set_global("binlog_expire_logs_seconds", str(7 * _DAY_S)),),
        )
    limit = _number(info, "max_binlog_total_size")
    if limit:
        yield Finding(
            check="max_binlog_total_size",
            found=f"{limit} bytes",
            severity=Severity.WARNING,
            why="binlog files are purged when there are more, even if a query still needs them",
            fix=(info.version.set_global("max_binlog_total_size", "0"),),
        )


def _server_id(info: ServerInfo, wanted: Wanted) -> Iterator[Finding]:
    own = _number(info, "server_id")
    if own == 0:
        yield Finding(
            check="server_id",
            found="0",
            severity=Severity.PROBLEM,
            why="a server without an id does not send its binlog",
            fix=(info.version.set_global("server_id", "1"),),
        )
        return
    ids = wanted.binlog.server_id
    if ids is not None and own in parse_server_ids(ids):
        yield Finding(
            check="server_id",
            found=str(own),
            severity=Severity.PROBLEM,
            why=f"the option 'server-id' = '{ids}' contains the server's own id",
            fix=("set the option 'server-id' to ids that no server and no other reader has",),
        )
        return
    uuid = info.variables.get("server_uuid")
    yield Finding(check="server_id", found=str(own) + (f", uuid {uuid}" if uuid else ""))


def _compression(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    for name in ("binlog_transaction_compression", "log_bin_compress"):
        if name in info.variables:
            is_on = info.has(name, "ON", "1")
            yield Finding(check=name, found="ON: transactions are read as they are" if is_on else "OFF")
    if info.variables.get("binlog_row_value_options"):
        yield Finding(check="binlog_row_value_options", found=info.variables["binlog_row_value_options"])


def _time(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    zone = info.variables.get("time_zone", "")
    system = info.variables.get("system_time_zone", "")
    yield Finding(check="time_zone", found=f"{zone} ({system})" if zone == "SYSTEM" else zone)
    if abs(info.skew_us) > _LARGEST_SKEW_US:
        yield Finding(
            check="clock",
            found=f"{info.skew_us / _US:+.1f} s against this machine's",
            severity=Severity.WARNING,
            why="op_ts is the server's time: watermarks and processing time will differ by that much",
            fix=("set both clocks by NTP",),
        )
    else:
        yield Finding(check="clock", found="as this machine's")


def _packet(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    size = _number(info, "max_allowed_packet")
    if size >= _SMALL_PACKET:
        yield Finding(check="max_allowed_packet", found=f"{size} bytes")
        return
    yield Finding(
        check="max_allowed_packet",
        found=f"{size} bytes",
        severity=Severity.WARNING,
        why="a larger row or event cannot be sent and stops the query",
        fix=(info.version.set_global("max_allowed_packet", str(_GOOD_PACKET)),),
    )


def _replica(info: ServerInfo, _wanted: Wanted) -> Iterator[Finding]:
    if info.is_replica is None:
        return
    if info.is_replica and info.has("log_slave_updates", "OFF") and not info.has("log_replica_updates", "ON"):
        name = "log_slave_updates" if info.version.is_mariadb else "log_replica_updates"
        yield Finding(
            check=name,
            found="OFF, and the server is a replica",
            severity=Severity.PROBLEM,
            why="the changes that it replicates are not in its own binlog",
            fix=(f"put '{name} = ON' into the [mysqld] section of its configuration file and restart it",),
        )
    else:
        yield Finding(check="replica", found="a replica that logs its changes" if info.is_replica else "no replica")


def _number(info: ServerInfo, name: str) -> int:
    return int(float(info.variables.get(name, "0") or "0"))


_CHECKS: Final[tuple[Callable[[ServerInfo, Wanted], Iterator[Finding]], ...]] = (
    _version,
    _log_bin,
    _required("binlog_format", "ROW", "statements do not contain the rows that they changed"),
    _required("binlog_row_image", "FULL", "rows are logged without the columns that did not change"),
    _required("binlog_row_metadata", "FULL", "without it the binlog has neither names nor signs nor enum values"),
    _required(
        "binlog_order_commits",
        "ON",
        "transactions become visible in another order than the binlog's: no watermark is exact",
    ),
    _gtid_mode,
    _retention,
    _server_id,
    _compression,
    _time,
    _packet,
    _replica,
)
