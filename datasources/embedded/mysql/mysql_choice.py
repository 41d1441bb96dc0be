"""Any MySQL that this machine can run, best first: for uses to which the version does not matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from datasources.embedded.fetch.directory_cache import report_on_stderr
from datasources.embedded.fetch.mysql_programs import INSTEAD, MySqlVersion
from datasources.embedded.mysql.mysql_server import EmbeddedMySql, MySqlProcessOptions
from datasources.errors import EnvironmentProblem

__all__ = ["BEST_FIRST", "start_any_mysql"]

BEST_FIRST: Final = (MySqlVersion.NEWEST, MySqlVersion.V8_0, MySqlVersion.MARIADB)
"""The newest needs apt, 8.0 a library of the system, MariaDB nothing but Java."""


def start_any_mysql(
    config: Mapping[str, str] | None = None,
    *,
    versions: Sequence[MySqlVersion] = BEST_FIRST,
    report: Callable[[str], None] = report_on_stderr,
) -> EmbeddedMySql:
    """Start the first of several servers that this machine can run.

    Args:
        config: Settings that every one of them has, in the server's names.
        versions: Which to try, in this order.
        report: Receives a line for each that cannot run, and for what takes long.

    Returns:
        A running server; use it in a ``with`` block, or close it.

    Raises:
        EnvironmentProblem: None can run here; the message has each one's reason.
    """
    reasons = []
    for version in versions:
        server = EmbeddedMySql(version, config, options=MySqlProcessOptions(report=report))
        try:
            server.start()
        except EnvironmentProblem as problem:
            reasons.append(f"{version.title}: {problem.message.removesuffix(INSTEAD).strip()}")
            report(f"{version.title} cannot run here: {problem.message.splitlines()[0]}")
        else:
            return server
    raise EnvironmentProblem("no MySQL can run on this machine:\n" + "\n".join(reasons) + f"\n{INSTEAD}")
