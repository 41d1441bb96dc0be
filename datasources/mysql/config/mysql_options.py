"""MySQL's options: Flink CDC's keys, and own ones where it has none; one declaration each."""

from __future__ import annotations

import enum
import re
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from datasources.options import DurationMs, OptionGroup, Secret

__all__ = [
    "MYSQL_OPTION_GROUPS",
    "BinlogOptions",
    "CascadePolicy",
    "MySqlConnectionOptions",
    "MySqlTableOptions",
    "NoKeyPolicy",
    "SnapshotLocking",
    "SnapshotOptions",
    "SnapshotTime",
    "StartupMode",
    "StartupOptions",
    "TlsMode",
    "parse_server_ids",
]

_LARGEST_SERVER_ID = 2**32 - 1
_LARGEST_PORT = 65_535
_SERVER_IDS = re.compile(r"([0-9]{1,10})(?:\s*-\s*([0-9]{1,10}))?")
_LOG_FILE = re.compile(r".+\.[0-9]{6,}")


class TlsMode(enum.Enum):
    """How a connection is protected, in MySQL's terms."""

    DISABLED = "disabled"
    PREFERRED = "preferred"
    REQUIRED = "required"
    VERIFY_CA = "verify-ca"
    VERIFY_IDENTITY = "verify-identity"

    @property
    def is_verified(self) -> bool:
        """Whether the server's certificate is checked."""
        return self in (TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY)


class StartupMode(enum.Enum):
    """Flink's scan.startup.mode."""

    INITIAL = "initial"
    SNAPSHOT = "snapshot"
    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    SPECIFIC = "specific-offset"
    TIMESTAMP = "timestamp"


class SnapshotTime(enum.Enum):
    """The value of op_ts in snapshot rows."""

    EPOCH = "epoch"
    MARK = "mark"


class NoKeyPolicy(enum.Enum):
    """How the snapshot of a table without a key is read."""

    LOCK = "lock"
    FAIL = "fail"


class SnapshotLocking(enum.Enum):
    """Whether a snapshot may lock a table for milliseconds where the server has no GTIDs."""

    NONE = "none"
    MINIMAL = "minimal"


class CascadePolicy(enum.Enum):
    """What to do about foreign keys whose changes are not in the binlog."""

    FAIL = "fail"
    WARN = "warn"


def parse_server_ids(text: str) -> range:
    """Parse server ids: ``5400``, or ``5400-5408`` with both ends included.

    Raises:
        ValueError: It is neither an id nor a range of ids between 1 and 2^32 - 1.
    """
    match = _SERVER_IDS.fullmatch(text.strip())
    if match is None:
        raise ValueError("write one id, '5400', or a range of them, '5400-5408'")
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= _LARGEST_SERVER_ID:
        raise ValueError(f"ids are between 1 and {_LARGEST_SERVER_ID}, the smaller one first")
    return range(first, last + 1)


def _server_ids(text: str) -> str:
    parse_server_ids(text)
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"it is no regular expression ({error})") from None
    if not text.strip():
        raise ValueError("it is empty; '.*' names all")
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]


class MySqlConnectionOptions(OptionGroup):
    """Which server, and how to log in."""

    hostname: str = Field(..., alias="hostname", min_length=1, description="Host name or address of the server.")
    port: int = Field(3306, alias="port", ge=1, le=_LARGEST_PORT, description="Port of the server.")
    username: str = Field(..., alias="username", min_length=1, description="The login at the server.")
    password: Secret | None = Field(None, alias="password", description="Its password; never shown.")
    tls_mode: TlsMode = Field(
        TlsMode.PREFERRED,
        alias="ssl.mode",
        description="`preferred` uses TLS, and does without on this machine only; `required` always uses it; "
        "`verify-ca` also checks the server's certificate, `verify-identity` its host name too; `disabled` never "
        "uses it. Only the two that check prove who the server is; plugins that want the password in clear text need "
        "one of them.",
    )
    tls_ca: str | None = Field(
        None, alias="ssl.ca", description="PEM file of the authorities to trust; by default those of the system."
    )
    tls_certificate: str | None = Field(None, alias="ssl.cert", description="PEM file of the client's certificate.")
    tls_key: str | None = Field(None, alias="ssl.key", description="PEM file of the client's key.")
    has_server_public_key: bool = Field(
        False,
        alias="get-server-public-key",
        description="Whether a login without TLS may ask a host that is not this one for the key that encrypts the "
        "password: whoever sits between could send its own.",
    )
    connect_timeout_ms: DurationMs = Field(
        30_000, alias="connect.timeout", ge=1, description="How long connecting may take."
    )
    read_timeout_ms: DurationMs = Field(
        300_000,
        alias="read.timeout",
        ge=1,
        description="How long the server may send nothing while an answer or rows of a table are waited for; then the "
        "connection counts as broken. Of the binlog, in which heartbeats come each second, at most 30 s.",
    )
    max_allowed_packet: int = Field(
        1 << 30,
        alias="max-allowed-packet",
        ge=1 << 20,
        description="The largest event, in bytes, that is taken out of a compressed one; the default is the largest "
        "`max_allowed_packet` that a server can have. Compressed transactions are unpacked in pieces.",
    )
    connect_retries: int = Field(
        30,
        alias="connect.max-retries",
        ge=0,
        le=1000,
        description="How often a server that does not answer is tried again while a query runs: after 0.2 s, then "
        "after twice as long each time, at most 5 s; by default for two minutes. At its start 3 times at most.",
    )

    @model_validator(mode="after")
    def _check_tls(self) -> MySqlConnectionOptions:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("options 'ssl.cert' and 'ssl.key' belong together: give both or none.")
        files = {"ssl.ca": self.tls_ca, "ssl.cert": self.tls_certificate}
        given = [key for key, value in files.items() if value is not None]
        if given and self.tls_mode is TlsMode.DISABLED:
            raise ValueError(f"option '{given[0]}' has no use with 'ssl.mode' = 'disabled'.")
        if self.tls_ca is not None and self.tls_mode in (TlsMode.PREFERRED, TlsMode.REQUIRED):
            raise ValueError(
                f"option 'ssl.ca' has no use with 'ssl.mode' = '{self.tls_mode.value}', which checks no certificate: "
                "set 'ssl.mode' to 'verify-identity' or 'verify-ca'."
            )
        return self


class MySqlTableOptions(OptionGroup):
    """Which tables."""

    database_name: Pattern = Field(
        ..., alias="database-name", description="Database, or a regular expression that whole database names match."
    )
    table_name: Pattern = Field(
        ..., alias="table-name", description="Table, or a regular expression that whole table names match."
    )


class StartupOptions(OptionGroup):
    """From where a stream starts."""

    mode: StartupMode = Field(
        StartupMode.INITIAL,
        alias="scan.startup.mode",
        description="`initial` reads the tables and follows their changes, `snapshot` reads them and ends, the others "
        "read changes only.",
    )
    file: str | None = Field(
        None, alias="scan.startup.specific-offset.file", description="Binlog file of mode specific-offset."
    )
    position: int | None = Field(
        None, alias="scan.startup.specific-offset.pos", ge=4, description="Position in that file; 4 is its beginning."
    )
    gtid_set: str | None = Field(
        None,
        alias="scan.startup.specific-offset.gtid-set",
        description="Transactions that were read already, instead of file and position.",
    )
    timestamp_ms: int | None = Field(
        None,
        alias="scan.startup.timestamp-millis",
        ge=0,
        description="Mode timestamp starts with the first transaction that was committed then or later, epoch ms.",
    )

    @model_validator(mode="after")
    def _check_mode(self) -> StartupOptions:
        specific = {
            "scan.startup.specific-offset.file": self.file,
            "scan.startup.specific-offset.pos": self.position,
            "scan.startup.specific-offset.gtid-set": self.gtid_set,
        }
        given = [key for key, value in specific.items() if value is not None]
        if self.mode is StartupMode.SPECIFIC:
            self._check_specific()
        elif given:
            raise ValueError(f"option '{given[0]}' needs 'scan.startup.mode' = 'specific-offset'.")
        if (self.mode is StartupMode.TIMESTAMP) != (self.timestamp_ms is not None):
            raise ValueError(
                "'scan.startup.mode' = 'timestamp' and option 'scan.startup.timestamp-millis' need each other."
            )
        return self

    def _check_specific(self) -> None:
        has_position = self.file is not None and self.position is not None
        if has_position == (self.gtid_set is not None) or (self.file is None) != (self.position is None):
            raise ValueError(
                "'scan.startup.mode' = 'specific-offset' needs either 'scan.startup.specific-offset.file' and '.pos', "
                "or 'scan.startup.specific-offset.gtid-set'."
            )
        if self.file is not None and not _LOG_FILE.fullmatch(self.file):
            raise ValueError(
                f"option 'scan.startup.specific-offset.file' = '{self.file}' is no binlog file such as "
                "'binlog.000042' (SHOW BINARY LOGS lists them)."
            )


class SnapshotOptions(OptionGroup):
    """How tables are read."""

    chunk_size: int = Field(
        50_000,
        alias="scan.incremental.snapshot.chunk.size",
        ge=1,
        description="Rows of a chunk, the part of a table that is read by one statement.",
    )
    no_key: NoKeyPolicy = Field(
        NoKeyPolicy.FAIL,
        alias="scan.snapshot.no-key",
        description="A table without a key is read as one chunk, for which it is locked for milliseconds (`lock`), or "
        "not at all (`fail`).",
    )
    locking: SnapshotLocking = Field(
        SnapshotLocking.NONE,
        alias="scan.snapshot.locking",
        description="`minimal`: where the server has no GTIDs, LOCK TABLES for milliseconds fixes what a chunk sees; "
        "needs that privilege.",
    )
    op_ts: SnapshotTime = Field(
        SnapshotTime.EPOCH,
        alias="scan.snapshot.op-ts",
        description="op_ts of snapshot rows: 1970-01-01 (a version valid since ever), or the time of the batch's mark.",
    )
    max_rows_per_second: int | None = Field(
        None,
        alias="scan.snapshot.max-rows-per-second",
        ge=1,
        description="Reads no more rows of tables per second, over all tasks.",
    )


class BinlogOptions(OptionGroup):
    """How changes are read."""

    server_id: Annotated[str, AfterValidator(_server_ids)] | None = Field(
        None,
        alias="server-id",
        description="Ids under which readers register at the server: `5400`, or `5400-5419`, twice as many as "
        "`scan.snapshot.parallelism` and four more. MariaDB needs them; MySQL tells readers apart by a uuid.",
    )
    heartbeat_ms: DurationMs = Field(
        10_000,
        alias="heartbeat.interval",
        ge=1,
        description="How often the position moves on although no captured table changed.",
    )
    on_fk_cascade: CascadePolicy = Field(
        CascadePolicy.FAIL,
        alias="on-fk-cascade",
        description="Servers before 9.6 do not log what a foreign key's ON DELETE / ON UPDATE action changes in "
        "captured tables: refuse such tables, or warn.",
    )


MYSQL_OPTION_GROUPS: tuple[type[OptionGroup], ...] = (
    MySqlConnectionOptions,
    MySqlTableOptions,
    StartupOptions,
    SnapshotOptions,
    BinlogOptions,
)
"""All groups of MySQL's options, in the order of the reference."""
