"""What `tidemark mysql sync` was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from datasources.durations import parse_duration_ms
from datasources.errors import OptionError
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.config.mysql_options import MySqlConnectionOptions
from datasources.mysql.connection.connection import ConnectionSettings, connection_settings
from datasources.options import lower_keys, parse_group

_SCHEME: Final = "delta:"
_SET_BY_SYNC: Final = frozenset(
    {
        "database-name",
        "table-name",
        "schema",
        "scan.metadata",
        "schema.change.behavior",
        "on-rewrite-ddl",
        "watermark.on-change",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """Which tables are copied, and to where.

    Attributes:
        source_options: of the source: server, login and whatever else, but for the options that the command sets.
        database: the name of a database.
        tables: a regular expression that whole names of tables match.
        exclude: a regular expression for tables that are left out; None = none.
        directory: where the copies are.
        rereads: whether a table is read again after a statement that changes rows without row events.
        is_once: whether to end when everything that there is was copied.
        interval: between two batches of a table, such as `10 s`.
        restarts: how often in sequence a table's query is started again after an error that may pass.
    """

    source_options: Mapping[str, str] = field(repr=False)
    database: str
    tables: str = ".*"
    exclude: str | None = None
    directory: str
    rereads: bool = False
    is_once: bool = False
    interval: str = "10 s"
    restarts: int = 10

    def __post_init__(self) -> None:
        taken = sorted(_SET_BY_SYNC.intersection(map(str.lower, self.source_options)))
        if taken:
            raise OptionError(f"option '{taken[0]}' is set by the command itself: leave it out.")
        for pattern in filter(None, (self.tables, self.exclude)):
            try:
                re.compile(pattern)
            except re.error as error:
                raise OptionError(f"'{pattern}' is no regular expression: {error}.") from error
        parse_duration_ms(self.interval, key="--interval")
        if self.restarts < 0:
            raise OptionError(f"--restarts {self.restarts} is no number of restarts: write 0 for none.")

    @property
    def connection(self) -> ConnectionSettings:
        """The server and the login."""
        options = parse_group(MySqlConnectionOptions, lower_keys(self.source_options))
        return connection_settings(options).for_first_contact()

    @property
    def trigger(self) -> dict[str, str | bool]:
        """The trigger of a table's query, as `DataStreamWriter.trigger` takes it."""
        if self.is_once:
            return {"availableNow": True}
        return {"processingTime": f"{parse_duration_ms(self.interval, key='--interval')} milliseconds"}

    def captured(self, table: str) -> CapturedTables:
        """Return the pattern of one table."""
        return CapturedTables(re.escape(self.database), re.escape(table))

    def wants(self, database: str, table: str) -> bool:
        """Return whether a table is copied."""
        is_excluded = self.exclude is not None and re.fullmatch(self.exclude, table) is not None
        return database == self.database and re.fullmatch(self.tables, table) is not None and not is_excluded

    def copy_of(self, table: str) -> str:
        """Return the directory of a table's copy; characters that a path cannot have are escaped as in a URL."""
        return f"{self.directory}/{quote(table, safe='')}"

    def checkpoint_of(self, table: str) -> str:
        """Return the directory of the checkpoint of a table's query."""
        return f"{self.directory}/_checkpoints/{quote(table, safe='')}"


def parse_target(text: str) -> str:
    """Return the directory of `delta:/directory`, without slashes at its end.

    Raises:
        OptionError: it is no such text.
    """
    directory = text.removeprefix(_SCHEME).rstrip("/")
    if not text.startswith(_SCHEME) or not directory:
        raise OptionError(f"--to '{text}' is no target: write delta:/directory, or delta:s3a://bucket/directory.")
    return directory
