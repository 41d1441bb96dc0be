"""The environment variables of embedded servers: the only module here that reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from datasources.errors import EnvironmentProblem

CACHE_VARIABLE: Final = "TIDEMARK_CACHE"
"""Directory that holds fetched servers; else ``tidemark`` under ``XDG_CACHE_HOME`` or ``~/.cache``."""

IVY_SETTINGS_VARIABLE: Final = "TIDEMARK_IVY_SETTINGS"
"""Path or URL of an Ivy settings file that names a mirror, its credentials or an internal repository."""

KAFKA_VARIABLE: Final = "TIDEMARK_KAFKA"
"""``host:port`` of a running broker that is used instead of an embedded one."""


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
