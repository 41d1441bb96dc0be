"""`tidemark sql`: scripts and an interactive prompt.

A script stops at its first error; the prompt continues. INSERT statements start queries, and a script waits for those
that it started: they end when all input is read, when one fails, or on Ctrl-C.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from rich.console import Console
from rich.text import Text

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.execute.result import StatementResult
from datasources.sql.settings import SqlDialect
from datasources.sql.shell.interrupts import noted_interrupts
from datasources.sql.shell.shell_output import error_text, print_result, print_rows, print_stream
from datasources.sql.text.script import is_complete, statements_of
from datasources.terminal_text import plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_FAILED: Final = 1
_STOPPED: Final = 130
"""What shells return for a program that Ctrl-C ended."""

_LOOK_S: Final = 0.5
_FIRST_PROMPT: Final = "tidemark> "
_NEXT_PROMPT: Final = "       -> "
_HELP: Final = """A statement ends with a semicolon and may have several lines.
  CREATE TABLE ... WITH ('connector' = ...)   declare a table; WATERMARK FOR ts AS ... makes ts event time
  SHOW TABLES; DESCRIBE t; SHOW CREATE TABLE t; EXPLAIN SELECT ...
  SELECT ...                                  a stream is shown until Ctrl-C
  INSERT INTO sink SELECT ...                 start a query that runs in the background
  SET 'key' = 'value'; SET; RESET             settings
  help, quit                                  without a semicolon"""


class Environment(Protocol):
    """What the shell needs of a `TableEnvironment`."""

    def sql(self, statement: str | SqlText) -> DataFrame | StatementResult:
        """Run one statement."""
        ...

    def check(self, statement: str | SqlText) -> tuple[str, ...]:
        """Plan a statement; return what would mean something else in Flink."""
        ...

    @property
    def settings(self) -> dict[str, str]:
        """What was SET, by key."""
        ...

    @property
    def queries(self) -> tuple[StreamingQuery, ...]:
        """The queries that INSERT statements started."""
        ...


class Shell:
    """Runs statements and prints what they return."""

    def __init__(self, environment: Environment, console: Console, errors: Console) -> None:
        self._environment = environment
        self._console = console
        self._errors = errors

    def run_scripts(self, scripts: Iterable[SqlText], *, is_awaited: bool = True) -> int:
        """Run the statements of scripts one after another, and wait for the queries that they started.

        The first error ends its script and all others; with ``is_awaited`` = False it ends at once, and the queries end
        with the process.

        Returns:
            The exit status: 0, or 1 after an error, or 130 after Ctrl-C.
        """
        try:
            with self._reported() as outcome:
                for script in scripts:
                    for statement in statements_of(script, self._is_flink):
                        self._run(statement)
                if is_awaited:
                    self._await_queries()
        except KeyboardInterrupt:
            self._print_line("stopped")
            self.stop_queries()
            return _STOPPED
        if outcome.has_failed:
            self.stop_queries()
        return _FAILED if outcome.has_failed else 0

    def check_scripts(self, scripts: Iterable[SqlText]) -> int:
        """Plan the statements of scripts without starting queries; print what would mean something else in Flink.

        The first error ends its script and all others.

        Returns:
            The exit status: 0, or 1 after a warning or an error.
        """
        count = 0
        with self._reported() as outcome:
            for script in scripts:
                for statement in statements_of(script, self._is_flink):
                    for warning in self._environment.check(statement):
                        where = f"{statement.name}, " if statement.name else ""
                        self._console.print(Text(plain(f"warning: {where}{warning}")), soft_wrap=True)
                        count += 1
        if not outcome.has_failed:
            self._print_line("no warnings" if not count else "1 warning" if count == 1 else f"{count} warnings")
        return _FAILED if outcome.has_failed or count else 0

    def interact(self, read_line: Callable[[str], str]) -> None:
        """Read and run statements until `quit` or the end of the input.

        Args:
            read_line: shows a prompt and returns a line without its end; raises EOFError at the end of the input.
        """
        self._console.print(Text("Statements end with a semicolon; help shows more, quit ends."))
        typed = ""
        while True:
            try:
                line = read_line(_NEXT_PROMPT if typed else _FIRST_PROMPT)
            except EOFError:
                break
            except KeyboardInterrupt:
                typed = ""
                continue
            command = line.strip().rstrip(";").strip().lower() if not typed.strip() else ""
            if command in ("quit", "exit"):
                break
            if command == "help":
                self._console.print(Text(_HELP))
                continue
            typed = self._take(f"{typed}{line}\n")
        self.stop_queries()

    def stop_queries(self) -> None:
        """Stop the running queries and print their number."""
        active = [query for query in self._environment.queries if query.isActive]
        for query in active:
            query.stop()
        if active:
            self._print_line(f"{_queries(len(active))} stopped")

    def _take(self, typed: str) -> str:
        """Run the input if it is complete; return the rest that is to be continued."""
        if not _is_whole(typed, is_flink=self._is_flink()):
            return typed
        try:
            with self._reported():
                for statement in statements_of(SqlText(typed), self._is_flink):
                    self._run(statement)
        except KeyboardInterrupt:
            self._print_line("stopped")
        return ""

    def _run(self, statement: SqlText) -> None:
        result = self._environment.sql(statement)
        if isinstance(result, StatementResult):
            print_result(self._console, result)
        elif result.isStreaming:
            print_stream(self._console, result, trigger=self._trigger())
        else:
            print_rows(self._console, result)

    def _is_flink(self) -> bool:
        return self._environment.settings.get("table.sql-dialect", "").lower() == SqlDialect.FLINK.value

    def _trigger(self) -> str | None:
        """Return when streams make batches: the setting for INSERT holds for shown queries as well."""
        result = self._environment.sql("SET 'execution.trigger'")
        assert isinstance(result, StatementResult), "SET has a result"
        value = result.rows[0][1]
        return None if value is None else str(value)

    def _await_queries(self) -> None:
        active = [query for query in self._environment.queries if query.isActive]
        if active:
            self._print_line(f"waiting for {_queries(len(active))}; Ctrl-C ends")
        with noted_interrupts() as interrupts:
            for query in self._environment.queries:
                while not query.awaitTermination(_LOOK_S):
                    if interrupts.is_pressed:
                        raise KeyboardInterrupt

    @contextmanager
    def _reported(self) -> Iterator[_Outcome]:
        """Print an error of the user's, ours or Spark's, and continue after the block; bugs propagate."""
        outcome = _Outcome()
        try:
            yield outcome
        except Exception as error:
            text = error_text(error)
            if text is None:
                raise
            self._errors.print(Text(text), soft_wrap=True)
            outcome.has_failed = True

    def _print_line(self, text: str) -> None:
        self._errors.print(Text(text), soft_wrap=True)


class _Outcome:
    """Whether an error was printed."""

    has_failed = False


def line_reader() -> Callable[[str], str]:
    """Return what reads lines from the terminal: prompt_toolkit if it is installed, with a history, else `input`.

    The history ends with the process: statements may hold passwords.
    """
    if importlib.util.find_spec("prompt_toolkit") is not None:
        module = importlib.import_module("prompt_toolkit")
        prompt: Callable[[str], str] = module.PromptSession().prompt
        return prompt
    if importlib.util.find_spec("readline") is not None:
        importlib.import_module("readline")  # gives `input` its line editing
    return input


def _is_whole(typed: str, *, is_flink: bool) -> bool:
    """Return whether the input can be run; an open string or comment may continue in the next line."""
    try:
        return is_complete(SqlText(typed), is_flink=is_flink)
    except SqlError:
        return typed.rstrip().endswith(";")


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"
