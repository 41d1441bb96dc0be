"""The options that decide which findings are problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.config.mysql_options import (
    MYSQL_OPTION_GROUPS,
    BinlogOptions,
    MySqlConnectionOptions,
    MySqlTableOptions,
    SnapshotOptions,
    StartupMode,
    StartupOptions,
)
from datasources.mysql.scan.row_options import MySqlBatchOptions, MySqlRowOptions
from datasources.options import lower_keys, parse_group, reject_unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options of a source that the preflight needs."""

    connection: MySqlConnectionOptions
    tables: MySqlTableOptions
    startup: StartupOptions
    snapshot: SnapshotOptions
    binlog: BinlogOptions

    @property
    def has_snapshot(self) -> bool:
        """Whether tables are read, not only changes."""
        return self.startup.mode in (StartupMode.INITIAL, StartupMode.SNAPSHOT)

    def captures(self, database: str, table: str) -> bool:
        """Return whether a table is captured."""
        return CapturedTables(self.tables.database_name, self.tables.table_name)(database, table)


def parse_wanted(options: Mapping[str, str]) -> Wanted:
    """Parse the options of a source.

    Raises:
        OptionError: An option is unknown, missing or malformed.
    """
    given = lower_keys(options)
    reject_unknown(given, (*MYSQL_OPTION_GROUPS, MySqlRowOptions, MySqlBatchOptions), what="tidemark-mysql")
    return Wanted(
        connection=parse_group(MySqlConnectionOptions, given),
        tables=parse_group(MySqlTableOptions, given),
        startup=parse_group(StartupOptions, given),
        snapshot=parse_group(SnapshotOptions, given),
        binlog=parse_group(BinlogOptions, given),
    )
