"""The console script `tidemark`: demo, doctor, mysql, options, replay, sql, watch.

Errors of ours are one paragraph on standard error and exit status 2; there is a traceback for our bugs only. Commands
import what they need when they run: `tidemark doctor` must work where half of it is missing.
"""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from datasources.distribution import installed_version
from datasources.errors import OptionError, TidemarkError
from datasources.mysql.preflight.command import (
    Hostname,
    Password,
    Port,
    SourceOptions,
    mysql_app,
    parse_options,
    password_of,
)
from datasources.terminal_text import plain

__all__ = ["app", "main"]

_ERROR: Final = 2
_COLUMNS_OF_FILES: Final = 120
_FORMATS: Final = ("tidemark-kafka", "tidemark-mysql", "tidemark-scripted")

app = typer.Typer(
    name="tidemark",
    help="Event time for Spark: sources whose readers make the watermark, split by split.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(mysql_app)


def main() -> None:
    """Run the command line; the entry point of the console script."""
    try:
        app()
    except TidemarkError as error:
        _print_error(f"tidemark: {error}")
        sys.exit(_ERROR)
    except BrokenPipeError:
        # Whoever read the output has seen enough; the interpreter must not complain when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _print_error(message: str) -> None:
    sys.stderr.write(plain(message.rstrip(), keep="\n\t") + "\n")


def _console() -> Console:
    """Return a console as wide as the terminal; a file or a pipe gets lines that are long enough for tables."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _COLUMNS_OF_FILES)


def _print_version(is_wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if is_wanted:
        typer.echo(f"tidemark {installed_version()}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take the options that come before a command; the help text is the app's."""


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="The seed of the orders.")] = 7,
    page: Annotated[Path, typer.Option(help="The HTML file with the charts.")] = Path("tidemark-demo.html"),
    picture: Annotated[Path | None, typer.Option(help="Also write the chart of watermarks as an SVG file.")] = None,
    bootstrap_servers: Annotated[
        str | None,
        typer.Option(
            envvar=["TIDEMARK_DEMO_KAFKA", "TIDEMARK_KAFKA"],
            help="host:port of a running Kafka; else one is started. The demo's topic is deleted at the end.",
        ),
    ] = None,
    spark_kafka: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--spark-kafka", help="Read Spark's side with Spark's own Kafka source, fetched once.")
    ] = False,
) -> None:
    """Count the orders of a lagging topic twice, with Spark's watermark and with Tidemark's, and compare."""
    from datasources.demo.command import DemoRequest
    from datasources.demo.command import demo as run
    from datasources.demo.run import DemoSettings

    servers = (bootstrap_servers or "").strip() or None
    settings = DemoSettings(bootstrap_servers=servers, with_spark_kafka=spark_kafka)
    raise typer.Exit(run(DemoRequest(seed=seed, page=page, picture=picture, settings=settings)))


@app.command()
def doctor(
    bootstrap_servers: Annotated[str | None, typer.Option(help="host:port of a Kafka that should answer.")] = None,
    spark: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--spark", help="Also run a task on Spark and check its executor's environment.")
    ] = False,
) -> None:
    """Check the requirements on this machine, and print how to install those that are missing."""
    from datasources.doctor import check_broker, check_findings, examine, has_problem
    from datasources.doctor import render as render_checks

    checks = examine()
    if bootstrap_servers is not None:
        from datasources.demo.story.broker import require_answer

        checks.append(check_broker(bootstrap_servers, require_answer))
    if spark:
        from datasources.demo.spark.spark_probe import probe_spark

        checks += check_findings(probe_spark())
    _console().print(render_checks(checks))
    raise typer.Exit(int(has_problem(checks)))


@app.command()
def options(
    source_format: Annotated[str | None, typer.Argument(metavar="[FORMAT]", help=" | ".join(_FORMATS))] = None,
) -> None:
    """Print the options of a source: key, type, default, meaning."""
    if source_format is not None and source_format not in _FORMATS:
        near = difflib.get_close_matches(source_format.lower(), _FORMATS, n=1, cutoff=0.4)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise OptionError(f"unknown format '{source_format}'.{hint} Tidemark's formats are {', '.join(_FORMATS)}.")
    console = _console()
    for name in _FORMATS if source_format is None else (source_format,):
        console.print(f"\n{name}", style="bold")
        for table in _option_tables(name):
            console.print(table)


def _option_tables(source_format: str) -> list[Table]:
    from datasources.kafka.source import KafkaSource
    from datasources.mysql.source import MySqlSource
    from datasources.options import OptionGroup, render_options
    from datasources.scripted.source import ScriptedSource
    from datasources.source.api.connector import ScanSource
    from datasources.spark.options.scan_options import SHARED_GROUPS

    connectors: tuple[type[ScanSource], ...] = (KafkaSource, MySqlSource, ScriptedSource)
    source = {each.format_name: each for each in connectors}[source_format]
    groups: list[type[OptionGroup]] = [*source.option_groups, *SHARED_GROUPS]
    tables = []
    for group in groups:
        table = Table(title=(group.__doc__ or "").splitlines()[0], title_justify="left", show_lines=True)
        for heading in ("option", "type", "default", "meaning"):
            table.add_column(heading, overflow="fold")
        for key, kind, default, meaning in render_options(group):
            table.add_row(*(Text(cell) for cell in (key, kind.replace("\\|", "|"), default, meaning)))
        tables.append(table)
    return tables


@app.command()
def replay(file: Annotated[Path, typer.Argument(metavar="FILE.json", help="A timeline of splits.")]) -> None:
    """Replay a timeline and print what the reader would emit, as `python -m watermark` does."""
    from watermark.__main__ import main as replay_file

    raise typer.Exit(replay_file([str(file)]))


@app.command()
def sql(  # noqa: PLR0913, PLR0917 - options of the command line
    file: Annotated[Path | None, typer.Option("-f", "--file", metavar="FILE", help="Run this script.")] = None,
    text: Annotated[
        str | None, typer.Option("-e", "--execute", metavar="TEXT", help="Run these statements, after the file's.")
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where tables, views and functions are stored; default: in memory."),
    ] = None,
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark's, such as spark.master=local[2].")
    ] = None,
    remote: Annotated[
        str | None, typer.Option(metavar="URL", help="Run on this Spark Connect server, such as sc://spark.example.")
    ] = None,
    no_wait: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--no-wait", help="End after the last statement; queries that still run are stopped.")
    ] = False,
    check: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--check", help="Run nothing: plan, and warn of what means something else in Flink SQL.")
    ] = False,
) -> None:
    """Run SQL: a script, or an interactive prompt. A script ends with its queries, or at its first error."""
    from datasources.sql.shell.shell_command import ShellRequest, run_shell
    from datasources.sql.shell.shell_session import parse_settings

    settings = parse_settings([*(conf or ()), *([] if remote is None else [f"spark.remote={remote}"])])
    request = ShellRequest(
        file=file, text=text, catalog=catalog, settings=settings, is_awaited=not no_wait, is_check=check
    )
    raise typer.Exit(run_shell(request, _console()))


@mysql_app.command()
def sync(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    database: Annotated[str, typer.Option(help="Its name.")],
    to: Annotated[str, typer.Option(metavar="delta:DIR", help="Directory of the copies, tables of Delta Lake.")],
    hostname: Hostname = "localhost",
    port: Port = 3306,
    username: Annotated[str, typer.Option(help="The login that reads.")] = "root",
    password: Password = None,
    table_name: Annotated[str, typer.Option(help="Which tables, a regular expression.")] = ".*",
    exclude: Annotated[str | None, typer.Option(help="Tables to leave out, a regular expression.")] = None,
    reread_after_ddl: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--reread-after-ddl", help="Read a table again where a statement rewrote its rows.")
    ] = False,
    once: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--once", help="Copy what there is, and end.")
    ] = False,
    interval: Annotated[str, typer.Option(help="Between two batches of a table.")] = "10 s",
    restarts: Annotated[
        int, typer.Option(help="How often in sequence a table is tried again after an error that may pass.")
    ] = 10,
    option: SourceOptions = None,
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark's, such as spark.master=local[2].")
    ] = None,
) -> None:
    """Keep a copy of every table of a database in Delta Lake: rows, and columns that come, go and grow."""
    from datasources.sql.shell.shell_session import parse_settings
    from datasources.sync.sync_command import run_sync
    from datasources.sync.sync_request import SyncRequest, parse_target

    login = {
        "hostname": hostname,
        "port": str(port),
        "username": username,
        "password": password_of(username, password),
    }
    request = SyncRequest(
        source_options={**login, **parse_options(option or [])},
        database=database,
        tables=table_name,
        exclude=exclude,
        directory=parse_target(to),
        rereads=reread_after_ddl,
        is_once=once,
        interval=interval,
        restarts=restarts,
    )
    run_sync(request, parse_settings(conf or ()), lambda line: typer.echo(plain(line)))


@app.command()
def watch(
    url: Annotated[
        str, typer.Argument(metavar="[URL]", envvar="TIDEMARK_UI", help="Where the driver serves its page.")
    ] = "http://127.0.0.1:4055",
    once: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--once", help="Print one table and end.")
    ] = False,
) -> None:
    """Show the watermark of every split of a running application, live."""
    from datasources.observe.watch import watch as run

    run(url, console=_console(), is_once=once)


if __name__ == "__main__":
    main()
