"""The command `tidemark sql`: creates a session and an environment, and runs scripts or a prompt."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from datasources.errors import OptionError
from datasources.grammar.source_text import SqlText
from datasources.sql.catalog import Catalog, open_catalog
from datasources.sql.shell.shell import Shell, line_reader
from datasources.sql.shell.shell_session import start_session
from datasources.sql.statements.statements import ObjectKind
from datasources.sql.table_environment import TableEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellRequest:
    """What was asked for.

    Attributes:
        file: a script; None = none.
        text: statements that are run after the file's; None = none. Without both, standard input is the script, or the
            prompt if it is a terminal.
        catalog: the directory of the catalog; None = in memory.
        settings: of Spark.
        is_awaited: whether scripts wait for their queries.
        is_check: whether scripts are planned only, with a copy of the catalog.
    """

    file: Path | None = None
    text: str | None = None
    catalog: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    is_awaited: bool = True
    is_check: bool = False


def run_shell(request: ShellRequest, console: Console) -> int:
    """Run the command; return the exit status.

    Raises:
        OptionError: the script cannot be read.
        EnvironmentProblem: Spark does not start.
    """
    scripts = _scripts(request)
    spark = start_session(request.settings)
    try:
        catalog = _copy_of(request.catalog) if request.is_check else request.catalog
        shell = Shell(TableEnvironment(spark, catalog), console, Console(stderr=True, width=console.width))
        if request.is_check:
            return shell.check_scripts(scripts)
        if scripts:
            return shell.run_scripts(scripts, is_awaited=request.is_awaited)
        shell.interact(line_reader())
        return 0
    finally:
        spark.stop()


def _scripts(request: ShellRequest) -> list[SqlText]:
    """Return the scripts to run; none = there is a terminal to talk to."""
    scripts = [] if request.file is None else [SqlText(_read(request.file), name=str(request.file))]
    if request.text is not None:
        scripts.append(SqlText(request.text))
    if not scripts and not sys.stdin.isatty():
        scripts.append(SqlText(sys.stdin.read(), name="standard input"))
    return scripts


def _copy_of(directory: Path | None) -> Catalog:
    """Return a catalog in memory with the objects of a directory; damaged ones are missing."""
    copy = open_catalog()
    if directory is not None:
        stored = open_catalog(directory)
        for kind in ObjectKind:
            for entry in stored.entries(kind):
                if entry.problem is None:
                    copy.create(stored.get(kind, entry.name))
    return copy


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OptionError(f"the script '{file}' cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"the script '{file}' is no UTF-8 text (byte {error.start}); save it as UTF-8.") from error
