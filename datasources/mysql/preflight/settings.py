"""What the server's variables must be, each with the statement that makes it so.

Rules of this file: one function per variable or group of them, each returns findings and none raises; what a server
does not have is passed over, because it does not have that fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from datasources.mysql.config.mysql_options import SnapshotLocking, parse_server_ids
from datasources.mysql.connection.server_dialect import ServerVersion
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.wanted import Wanted

__all__ = ["VARIABLES", "ServerFacts", "check_settings"]

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
"""The variables that the checks look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server says about itself.

    Units: ``skew_us`` is how much its clock is ahead of ours, in µs. ``is_replica`` is None if the login may not know.
    """

    version: ServerVersion
    variables: Mapping[str, str]
    skew_us: int
    is_replica: bool | None

    def has(self, name: str, *values: str) -> bool:
        """Return whether a variable has one of these values; one that the server does not have, has none."""
        return self.variables.get(name, "").upper() in values


def check_settings(facts: ServerFacts, wanted: Wanted) -> list[Finding]:
    """Return what was found about the server as a whole."""
    findings: list[Finding] = []
    for check in _CHECKS:
        findings.extend(check(facts, wanted))
    return findings


def _version(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    supported = facts.version.is_supported
    yield Finding(
        check="version",
        found=str(facts.version),
        severity=Severity.OK if supported else Severity.PROBLEM,
        why="" if supported else "the source was made for MySQL 8.0 and newer and MariaDB 10.11 and newer",
        fix=() if supported else ("upgrade the server, or read from a newer replica of it",),
    )


def _log_bin(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    if facts.has("log_bin", "ON"):
        yield Finding(check="log_bin", found="ON")
        return
    yield Finding(
        check="log_bin",
        found=facts.variables.get("log_bin", "unknown"),
        severity=Severity.PROBLEM,
        why="the server writes no binlog, so there is nothing to follow",
        fix=("put 'log_bin = binlog' into the [mysqld] section of the server's configuration file and restart it",),
    )


def _exact(name: str, value: str, why: str) -> Callable[[ServerFacts, Wanted], Iterator[Finding]]:
    def check(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
        if name not in facts.variables:
            return
        if facts.has(name, value):
            yield Finding(check=name, found=value)
            return
        statement = facts.version.set_global(name, f"'{value}'" if value != "ON" else value)
        yield Finding(
            check=name,
            found=facts.variables[name],
            severity=Severity.PROBLEM,
            why=why,
            fix=(statement, *_lasting(facts, name, value)),
        )

    return check


def _lasting(facts: ServerFacts, name: str, value: str) -> tuple[str, ...]:
    """MariaDB forgets at a restart what was set, and sessions that are open keep what they have on both."""
    sessions = "sessions that are open keep the old value: let the writers connect anew"
    if facts.version.is_mariadb:
        return (f"put '{name} = {value}' into the [mariadb] section of its configuration file too", sessions)
    return (sessions,)


def _gtid_mode(facts: ServerFacts, wanted: Wanted) -> Iterator[Finding]:
    if "gtid_mode" not in facts.variables:
        return
    if facts.has("gtid_mode", "ON"):
        yield Finding(check="gtid_mode", found="ON")
        return
    has_way_out = not wanted.has_snapshot or wanted.snapshot.locking is SnapshotLocking.MINIMAL
    why = (
        "after a switch to another server the position cannot be found there"
        if has_way_out
        else "nothing else tells when a commit that is in the binlog can be seen by a SELECT, so no snapshot is exact"
    )
    yield Finding(
        check="gtid_mode",
        found=facts.variables["gtid_mode"],
        severity=Severity.WARNING if has_way_out else Severity.PROBLEM,
        why=why,
        fix=(
            *_gtid_statements(facts),
            *(() if has_way_out else ("or set the option 'scan.snapshot.locking' = 'minimal'",)),
        ),
    )


def _gtid_statements(facts: ServerFacts) -> Iterator[str]:
    """Yield the steps from where the server is to ON; it can be led there one at a time only."""
    if not facts.has("enforce_gtid_consistency", "ON"):
        yield facts.version.set_global("enforce_gtid_consistency", "ON")
    steps = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")
    at = steps.index(facts.variables["gtid_mode"].upper())
    for step in steps[at + 1 :]:
        yield facts.version.set_global("gtid_mode", step)


def _retention(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    if facts.has("binlog_expire_logs_auto_purge", "OFF"):
        yield Finding(check="retention", found="binlog files are kept until somebody purges them")
        return
    seconds = _number(facts, "binlog_expire_logs_seconds") or _number(facts, "expire_logs_days") * _DAY_S
    if seconds == 0 or seconds >= _DAY_S:
        found = "without limit" if seconds == 0 else f"{seconds // _SECONDS_PER_HOUR} h"
        yield Finding(check="retention", found=found)
    else:
        yield Finding(
            check="retention",
            found=f"{seconds} s",
            severity=Severity.WARNING,
            why="a query that is down for longer cannot go on where it stopped",
            fix=(facts.version.set_global("binlog_expire_logs_seconds", str(7 * _DAY_S)),),
        )
    limit = _number(facts, "max_binlog_total_size")
    if limit:
        yield Finding(
            check="max_binlog_total_size",
            found=f"{limit} bytes",
            severity=Severity.WARNING,
            why="binlog files are purged when there are more, whoever still needs them",
            fix=(facts.version.set_global("max_binlog_total_size", "0"),),
        )


def _server_id(facts: ServerFacts, wanted: Wanted) -> Iterator[Finding]:
    own = _number(facts, "server_id")
    if own == 0:
        yield Finding(
            check="server_id",
            found="0",
            severity=Severity.PROBLEM,
            why="a server without an id sends its binlog to nobody",
            fix=(facts.version.set_global("server_id", "1"),),
        )
        return
    ids = wanted.binlog.server_id
    if ids is not None and own in parse_server_ids(ids):
        yield Finding(
            check="server_id",
            found=str(own),
            severity=Severity.PROBLEM,
            why=f"the option 'server-id' = '{ids}' holds the server's own id",
            fix=("set the option 'server-id' to ids that no server and no other reader has",),
        )
        return
    uuid = facts.variables.get("server_uuid")
    yield Finding(check="server_id", found=str(own) + (f", uuid {uuid}" if uuid else ""))


def _compression(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    for name in ("binlog_transaction_compression", "log_bin_compress"):
        if name in facts.variables:
            is_on = facts.has(name, "ON", "1")
            yield Finding(check=name, found="ON: transactions are read as they are" if is_on else "OFF")
    if facts.variables.get("binlog_row_value_options"):
        yield Finding(check="binlog_row_value_options", found=facts.variables["binlog_row_value_options"])


def _time(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    zone = facts.variables.get("time_zone", "")
    system = facts.variables.get("system_time_zone", "")
    yield Finding(check="time_zone", found=f"{zone} ({system})" if zone == "SYSTEM" else zone)
    if abs(facts.skew_us) > _LARGEST_SKEW_US:
        yield Finding(
            check="clock",
            found=f"{facts.skew_us / _US:+.1f} s against this machine's",
            severity=Severity.WARNING,
            why="op_ts is the server's time: watermarks and processing time will differ by that much",
            fix=("set both clocks by NTP",),
        )
    else:
        yield Finding(check="clock", found="as this machine's")


def _packet(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    size = _number(facts, "max_allowed_packet")
    if size >= _SMALL_PACKET:
        yield Finding(check="max_allowed_packet", found=f"{size} bytes")
        return
    yield Finding(
        check="max_allowed_packet",
        found=f"{size} bytes",
        severity=Severity.WARNING,
        why="a larger row or event cannot be sent and stops the query",
        fix=(facts.version.set_global("max_allowed_packet", str(_GOOD_PACKET)),),
    )


def _replica(facts: ServerFacts, _wanted: Wanted) -> Iterator[Finding]:
    if facts.is_replica is None:
        return
    if facts.is_replica and facts.has("log_slave_updates", "OFF") and not facts.has("log_replica_updates", "ON"):
        name = "log_slave_updates" if facts.version.is_mariadb else "log_replica_updates"
        yield Finding(
            check=name,
            found="OFF, and the server is a replica",
            severity=Severity.PROBLEM,
            why="what it copies from its source is not in its own binlog",
            fix=(f"put '{name} = ON' into the [mysqld] section of its configuration file and restart it",),
        )
    else:
        yield Finding(check="replica", found="a replica that logs what it copies" if facts.is_replica else "no replica")


def _number(facts: ServerFacts, name: str) -> int:
    return int(float(facts.variables.get(name, "0") or "0"))


_CHECKS: Final[tuple[Callable[[ServerFacts, Wanted], Iterator[Finding]], ...]] = (
    _version,
    _log_bin,
    _exact("binlog_format", "ROW", "statements do not say which rows they changed"),
    _exact("binlog_row_image", "FULL", "rows are logged without the columns that did not change"),
    _exact("binlog_row_metadata", "FULL", "without it the binlog holds neither names nor signs nor enum values"),
    _exact(
        "binlog_order_commits", "ON", "transactions become visible in another order than the binlog's: no mark is exact"
    ),
    _gtid_mode,
    _retention,
    _server_id,
    _compression,
    _time,
    _packet,
    _replica,
)
