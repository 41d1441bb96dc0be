"""The options of a `jdbc` table: Flink's, and those of a MySQL connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

from pydantic import Field

from datasources.errors import OptionError
from datasources.mysql.config.mysql_options import MySqlConnectionOptions
from datasources.mysql.connection.connection import ConnectionSettings, connection_settings
from datasources.options import OptionGroup, lower_keys, parse_group, reject_unknown

_URL: Final = re.compile(
    r"jdbc:(?:mysql|mariadb)://(?P<host>\[[^\]]+\]|[^/:?,@]+)(?::(?P<port>\d{1,5}))?/(?P<database>[^/?]+)(?:\?(?P<rest>.*))?"
)
_FORM: Final = "jdbc:mysql://host:3306/database"
_IN_URL: Final = {
    "sslmode": "ssl.mode",
    "allowpublickeyretrieval": "get-server-public-key",
}
"""Parameters of MySQL's driver that have an option here."""
_WITHOUT_EFFECT: Final = frozenset(
    {
        "characterencoding",
        "connectioncollation",
        "rewritebatchedstatements",
        "servertimezone",
        "useunicode",
        "zerodatetimebehavior",
    }
)
"""Parameters of MySQL's driver for what is done here in any case: Unicode, UTC, statements of many rows."""
_ONE_TRANSACTION: Final = (
    "has no use here: a batch is one transaction. Remove it; 'execution.trigger' is the time between batches."
)
_REFUSED: Final = {
    "driver": "has no use here: no JDBC driver is needed. Remove it.",
    "sink.buffer-flush.max-rows": _ONE_TRANSACTION,
    "sink.buffer-flush.interval": _ONE_TRANSACTION,
    "sink.max-retries": "has no use here: 'connect.max-retries' bounds the attempts to connect. Remove it.",
    "sink.parallelism": _ONE_TRANSACTION,
    "dbtable": "is of Spark's JDBC format: write 'table-name'.",
    "user": "is of Spark's JDBC format: write 'username'.",
}
_OF_THE_URL: Final = frozenset({"hostname", "port"})


class JdbcOptions(OptionGroup):
    """Which table."""

    url: str = Field(..., alias="url", description=f"`{_FORM}`, the server and the database.")
    table_name: str = Field(..., alias="table-name", min_length=1, description="Table of that database.")


@dataclass(frozen=True, slots=True, kw_only=True)
class JdbcTarget:
    """A table of a server.

    Attributes:
        connection: the server and the login.
        database: of the table.
        table: its name.
    """

    connection: ConnectionSettings
    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table} at {self.connection}"


def jdbc_target(options: Mapping[str, str]) -> JdbcTarget:
    """Return the table that options name; contacts no server.

    Raises:
        OptionError: naming the option, never the value of a secret.
    """
    reject_unknown(
        {key: value for key, value in options.items() if key not in _OF_THE_URL},
        [JdbcOptions, MySqlConnectionOptions],
        refused=_REFUSED,
        what="jdbc",
        page="docs/changing-tables.md",
    )
    given = next((key for key in _OF_THE_URL if key in options), None)
    if given is not None:
        raise OptionError(f"option '{given}' is a part of 'url' = '{_FORM}' here.")
    own = parse_group(JdbcOptions, options)
    match = _URL.fullmatch(own.url)
    if match is None:
        raise OptionError(
            f"option 'url' is none of a MySQL: write '{_FORM}', one host without a login; 'username' and 'password' "
            f"are options of their own."
        )
    found = {"hostname": match["host"].strip("[]"), "port": match["port"] or "3306", **_parameters(match["rest"] or "")}
    connection = parse_group(MySqlConnectionOptions, {**found, **options})
    return JdbcTarget(
        connection=connection_settings(connection), database=unquote(match["database"]), table=own.table_name
    )


def _parameters(text: str) -> dict[str, str]:
    found = {}
    for key, value in lower_keys(dict(parse_qsl(text, keep_blank_values=True))).items():
        if key == "usessl":
            found["ssl.mode"] = "required" if value.lower() == "true" else "disabled"
        elif key in _IN_URL:
            found[_IN_URL[key]] = value.lower().replace("_", "-")
        elif key not in _WITHOUT_EFFECT:
            raise OptionError(
                f"option 'url' has the parameter '{key}', which is not known: write it as an option of the table "
                f"('username', 'password', 'ssl.mode', 'connect.timeout', ...), or remove it."
            )
    return found
