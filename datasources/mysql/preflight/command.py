"""`tidemark mysql check`: exit code 0 if a query can run, 1 if something must be fixed first, 2 if the check failed."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Final

import typer

from datasources.errors import OptionError

__all__ = ["Hostname", "Password", "Port", "SourceOptions", "mysql_app", "parse_options", "password_of"]

_COLUMNS_OF_FILES: Final = 160
_PASSWORD_VARIABLE: Final = "TIDEMARK_MYSQL_PASSWORD"  # noqa: S105 - a variable's name

Hostname = Annotated[str, typer.Option(help="Host name or address of the server.")]
Port = Annotated[int, typer.Option(help="Its port.")]
Password = Annotated[
    str | None, typer.Option(envvar=_PASSWORD_VARIABLE, show_envvar=True, help="Its password; asked for at a terminal.")
]
SourceOptions = Annotated[
    list[str] | None, typer.Option("--option", "-o", metavar="KEY=VALUE", help="Another option of the source.")
]

mysql_app = typer.Typer(name="mysql", help="MySQL and MariaDB.", no_args_is_help=True)


@mysql_app.callback()
def _mysql() -> None:
    """MySQL and MariaDB."""


@mysql_app.command()
def check(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    hostname: Hostname = "localhost",
    port: Port = 3306,
    username: Annotated[str, typer.Option(help="The login that the query will use.")] = "root",
    password: Password = None,
    database_name: Annotated[str, typer.Option(help="Database, or a regular expression.")] = ".*",
    table_name: Annotated[str, typer.Option(help="Table, or a regular expression.")] = ".*",
    option: SourceOptions = None,
    is_json: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Look at what a server, a login and tables lack for their changes to be read; change nothing."""
    from datasources.mysql.preflight.check import run_preflight
    from datasources.mysql.preflight.report import render, to_json
    from datasources.mysql.preflight.wanted import parse_wanted

    given = {
        "hostname": hostname,
        "port": str(port),
        "username": username,
        "password": password_of(username, password),
        "database-name": database_name,
        "table-name": table_name,
    }
    found = run_preflight(parse_wanted({**given, **parse_options(option or [])}))
    if is_json:
        typer.echo(to_json(found))
    else:
        _print(render(found))
    raise typer.Exit(int(found.has_problem))


def _print(report: object) -> None:
    from rich.console import Console

    is_wide = sys.stdout.isatty() or "COLUMNS" in os.environ
    Console(width=None if is_wide else _COLUMNS_OF_FILES).print(report)


def password_of(username: str, given: str | None) -> str:
    """Return a login's password: the given one, or what is typed at a terminal; none elsewhere."""
    if given is not None:
        return given
    if sys.stdin.isatty():
        return str(typer.prompt(f"Password of {username}", hide_input=True, default="", show_default=False))
    return ""


def parse_options(texts: list[str]) -> dict[str, str]:
    """Return options of the source from texts such as `scan.snapshot.no-key=lock`.

    Raises:
        OptionError: a text has no key or no `=`.
    """
    options: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise OptionError(f"--option '{text}' is no KEY=VALUE, such as 'scan.snapshot.no-key=lock'.")
        options[key.strip()] = value
    return options
