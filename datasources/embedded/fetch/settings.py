"""The environment variables of embedded servers: the only module here that reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from datasources.embedded.fetch.mysql_address import MySqlAddress, parse_mysql_url
from datasources.errors import EnvironmentProblem

__all__ = [
    "CACHE_VARIABLE",
    "IVY_SETTINGS_VARIABLE",
    "KAFKA_VARIABLE",
    "MYSQL_VARIABLE",
    "cache_directory",
    "external_kafka",
    "external_mysql",
    "ivy_settings",
]

CACHE_VARIABLE: Final = "TIDEMARK_CACHE"
"""Directory that holds fetched servers; else ``tidemark`` under ``XDG_CACHE_HOME`` or ``~/.cache``."""

IVY_SETTINGS_VARIABLE: Final = "TIDEMARK_IVY_SETTINGS"
"""Path or URL of an Ivy settings file that names a mirror, its credentials or an internal repository."""

KAFKA_VARIABLE: Final = "TIDEMARK_KAFKA"
"""``host:port`` of a running broker that is used instead of an embedded one."""

MYSQL_VARIABLE: Final = "TIDEMARK_MYSQL"
"""``mysql://user:password@host:port`` of a running server that is used instead of an embedded one."""


def cache_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Return the directory in which fetched servers are cached; it need not exist yet."""
    variables = os.environ if environment is None else environment
    own = variables.get(CACHE_VARIABLE, "")
    if own:
        return Path(own).expanduser().absolute()
    shared = variables.get("XDG_CACHE_HOME", "")
    # By the XDG rules a relative value is ignored.
    base = Path(shared) if shared.startswith("/") else Path("~/.cache").expanduser()
    return base / "tidemark"


def ivy_settings(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the Ivy settings file or URL that the user named, if any.

    Raises:
        EnvironmentProblem: It is the path of a file that does not exist.
    """
    variables = os.environ if environment is None else environment
    named = variables.get(IVY_SETTINGS_VARIABLE, "")
    if not named:
        return None
    if "://" not in named and not Path(named).is_file():
        raise EnvironmentProblem(
            f"{IVY_SETTINGS_VARIABLE} is {named!r}, and there is no such file: "
            "give the path or URL of an ivysettings.xml"
        )
    return named


def external_kafka(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the ``host:port`` list of the running broker that the user named, if any."""
    variables = os.environ if environment is None else environment
    return variables.get(KAFKA_VARIABLE, "").strip() or None


def external_mysql(environment: Mapping[str, str] | None = None) -> MySqlAddress | None:
    """Return the running MySQL that the user named, if any.

    Raises:
        OptionError: The variable is no URL of a server.
    """
    variables = os.environ if environment is None else environment
    named = variables.get(MYSQL_VARIABLE, "").strip()
    return parse_mysql_url(named, what=MYSQL_VARIABLE) if named else None
