"""The shell: what it prints, when it stops, and how a statement is typed."""

from __future__ import annotations

import io
import signal
import threading
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkException, StreamingQueryException
from rich.console import Console

from datasources.errors import EnvironmentProblem, OptionError, SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.execute.result import StatementResult
from datasources.sql.shell import shell, shell_command, shell_output, shell_session
from datasources.sql.shell.interrupts import interruptible, noted_interrupts
from datasources.sql.shell.shell import Shell
from datasources.sql.shell.shell_command import ShellRequest, run_shell
from datasources.sql.shell.shell_output import error_text
from datasources.sql.shell.shell_session import parse_settings
from tests.support.console import console_script

PRESS = object()
"""Stands for an error: the user presses Ctrl-C, and the query goes on."""


class Query:
    """A streaming query that ends when it is stopped or awaited."""

    def __init__(self, error=None) -> None:
        self.isActive = True
        self.error = error
        self.ended = None

    def awaitTermination(self, _timeout):  # noqa: N802 - Spark's
        if self.error is PRESS:
            signal.raise_signal(signal.SIGINT)
            return False
        self._end("awaited")
        if self.error is not None:
            raise self.error
        return True

    def stop(self):
        self._end("stopped")

    def _end(self, how):
        self.isActive = False
        self.ended = self.ended or how


class Frame:
    """A bounded DataFrame."""

    isStreaming = False  # noqa: N815 - Spark's
    sparkSession = SimpleNamespace(  # noqa: N815 - Spark's
        sparkContext=SimpleNamespace(addJobTag=lambda _tag: None, cancelJobsWithTag=pytest.fail)
    )

    def __init__(self, columns, rows) -> None:
        self.columns = columns
        self.rows = rows

    @property
    def dtypes(self):
        return [(name, "int") for name in self.columns]

    def limit(self, count):
        return Frame(self.columns, self.rows[:count])

    def toDF(self, *names):  # noqa: N802 - Spark's
        return Frame(list(names), self.rows)

    def selectExpr(self, *texts):  # noqa: N802 - Spark's
        assert texts == tuple(f"CAST({name} AS STRING)" for name in self.columns)
        return self

    def collect(self):
        return self.rows


class FakeEnvironment:
    """Answers statements from a table; `started` are queries that INSERT started."""

    def __init__(self, answers=None) -> None:
        self.answers = answers or {}
        self.asked = []
        self.started = []

    settings = {}  # noqa: RUF012 - of all

    def check(self, statement):
        self.asked.append(f"check {statement.text}")
        answer = self.answers.get(statement.text, ())
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def queries(self):
        return tuple(self.started)

    def sql(self, statement):
        statement = SqlText(statement) if isinstance(statement, str) else statement
        self.asked.append(statement.text)
        answer = self.answers.get(statement.text, StatementResult(kind=statement.text.split(maxsplit=1)[0]))
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Query):
            self.started.append(answer)
            return StatementResult(kind="INSERT", query=answer)
        if answer == "refused":
            raise statement.error(Span(0, 2), "no")
        return answer


class Terminal:
    """A shell with its environment and what it printed; lines are typed, None = Ctrl-C."""

    def __init__(self, answers=None) -> None:
        self.environment = FakeEnvironment(answers)
        self.out, self.err = io.StringIO(), io.StringIO()
        consoles = [Console(file=file, width=80) for file in (self.out, self.err)]
        self.shell = Shell(self.environment, *consoles)
        self.prompts = []

    def run(self, *scripts, is_awaited=True):
        return self.shell.run_scripts([SqlText(each, name="a.sql") for each in scripts], is_awaited=is_awaited)

    def type(self, *lines):
        left = iter(lines)

        def read_line(prompt):
            self.prompts.append(prompt.strip())
            line = next(left, EOFError)
            if line is EOFError:
                raise EOFError
            if line is None:
                raise KeyboardInterrupt
            return line

        self.shell.interact(read_line)

    @property
    def printed(self):
        return self.out.getvalue()

    @property
    def errors(self):
        return self.err.getvalue()


def test_a_script_is_run_statement_by_statement():
    terminal = Terminal()
    assert terminal.run("SET a; -- why\nDROP TABLE b;", "c") == 0
    assert terminal.environment.asked == ["SET a", "DROP TABLE b", "c"]
    assert terminal.printed == "SET: ok\nDROP: ok\nc: ok\n"
    assert terminal.errors == ""


def test_a_check_asks_what_differs_and_runs_nothing():
    terminal = Terminal({"SELECT 5 / 2": ("line 1, `5 / 2`: it differs.",)})
    assert terminal.shell.check_scripts([SqlText("SET a; SELECT 5 / 2;", name="a.sql")]) == 1
    assert terminal.environment.asked == ["check SET a", "check SELECT 5 / 2"]
    assert terminal.printed == "warning: a.sql, line 1, `5 / 2`: it differs.\n"
    assert terminal.errors == "1 warning\n"
    assert Terminal().shell.check_scripts([SqlText("SET a")]) == 0


def test_a_script_stops_at_its_first_error():
    terminal = Terminal({"b": "refused"})
    assert terminal.run("a;\n  b; c", "d") == 1
    assert terminal.environment.asked == ["a", "b"]
    assert terminal.errors == "[TIDEMARK_SQL] a.sql, line 2, column 3: no.\n  b\n  ^\n"


@pytest.mark.parametrize(
    "rest",
    ["", "\n\nJVM stacktrace:\nat a.b.c", ";\n'Project ['x]\n+- ~SubqueryAlias r", "\n=== Streaming Query ===\nId"],
)
def test_an_error_of_spark_has_no_traceback_and_no_plan(rest):
    error = AnalysisException(f"\n[UNRESOLVED_COLUMN] no x; line 1 pos 77{rest}")
    terminal = Terminal({"SELECT x": error})
    assert terminal.run("SELECT x") == 1
    assert terminal.errors == "[UNRESOLVED_COLUMN] no x; line 1 pos 77\n"


def test_an_error_of_spark_keeps_its_lines():
    error = ParseException("\n[PARSE_SYNTAX_ERROR] no;\n== SQL (line 1, position 1) ==\nSELCT 1\n^^^\n")
    assert error_text(error) == "[PARSE_SYNTAX_ERROR] no;\n== SQL (line 1, position 1) ==\nSELCT 1\n^^^"


def test_an_error_of_a_sink_is_shown_without_the_traceback_before_it():
    text = (
        "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred. Reason: Traceback (most recent call last):\n"
        "datasources.errors.RecordError: [TIDEMARK_RECORD] a value of column 'c' is longer than 2 characters.\n SQLSTATE"
    )
    shown = error_text(PySparkException(text))
    assert shown == "[TIDEMARK_RECORD] a value of column 'c' is longer than 2 characters."


def test_a_bug_is_not_hidden():
    assert error_text(ZeroDivisionError()) is None
    terminal = Terminal({"a": ZeroDivisionError("division by zero")})
    with pytest.raises(ZeroDivisionError):
        terminal.run("a")


def test_a_script_with_an_open_string_runs_nothing():
    terminal = Terminal()
    assert terminal.run("a; 'b") == 1
    assert terminal.environment.asked == []
    assert "a.sql, line 1, column 4: this string is not closed" in terminal.errors


def test_rows_and_hints_of_results_are_printed():
    answers = {
        "SHOW TABLES": StatementResult(
            kind="SHOW TABLES", columns=("name", "problem"), rows=(("[b]o[/b]", None),), hints=("line 1: why",)
        ),
        "EXPLAIN SELECT 1": StatementResult(kind="EXPLAIN", columns=("plan",), rows=(("Scan[t]\n+- x",),)),
    }
    terminal = Terminal(answers)
    assert terminal.run("SHOW TABLES; EXPLAIN SELECT 1") == 0
    lines = [line.rstrip() for line in terminal.printed.splitlines()]
    assert lines == [
        "┏━━━━━━━━━━┳━━━━━━━━━┓",
        "┃ name     ┃ problem ┃",
        "┡━━━━━━━━━━╇━━━━━━━━━┩",
        "│ [b]o[/b] │ NULL    │",
        "└──────────┴─────────┘",
        "hint: line 1: why",
        "Scan[t]",
        "+- x",
    ]


STEERING = "a\x1b[2Jb\x07\x9b31m\u202ec\td\ne"
SHOWN = r"a\x1b[2Jb\x07\x9b31m\u202ec"


@pytest.mark.parametrize("kind", ["SELECT", "EXPLAIN", "SHOW CREATE TABLE"])
def test_text_of_records_cannot_steer_the_terminal(kind):
    output = io.StringIO()
    console = Console(file=output, width=200)
    shell_output.print_result(
        console, StatementResult(kind=kind, columns=("x",), rows=((STEERING,),), hints=(STEERING,))
    )
    text = output.getvalue()
    assert text.count(SHOWN) == 2
    assert set(text) & set("\x1b\x07\x9b\u202e") == set()
    assert SHOWN in error_text(OptionError(STEERING))
    assert "d\ne" in error_text(OptionError(STEERING))


def test_a_bounded_query_is_a_table(monkeypatch):
    monkeypatch.setattr(shell_output, "MAX_ROWS", 2)
    terminal = Terminal(
        {"one": Frame(["a"], [(1,)]), "two": Frame(["a"], [(1,), (2,)]), "three": Frame(["a"], [(1,), (2,), (3,)])}
    )
    assert terminal.run("one; two; three") == 0
    assert [line for line in terminal.printed.splitlines() if "row" in line] == ["1 row", "2 rows", "the first 2 rows"]
    assert terminal.printed.count("│ 3") == 0


def test_a_statement_of_spark_without_rows_is_ok():
    terminal = Terminal({"USE x": Frame([], [])})
    assert terminal.run("USE x") == 0
    assert terminal.printed == "ok\n"


def test_a_script_waits_for_its_queries():
    query = Query()
    terminal = Terminal({"INSERT": query})
    assert terminal.run("INSERT") == 0
    assert query.ended == "awaited"
    assert terminal.errors == "waiting for 1 query; Ctrl-C ends\n"


def test_a_script_need_not_wait():
    query = Query()
    terminal = Terminal({"INSERT": query})
    assert terminal.run("INSERT", is_awaited=False) == 0
    assert query.isActive


def test_a_failed_query_fails_the_script_and_stops_the_others():
    failed, other = Query(SqlError("bad record")), Query()
    terminal = Terminal({"INSERT 1": failed, "INSERT 2": other})
    assert terminal.run("INSERT 1; INSERT 2") == 1
    assert other.ended == "stopped"
    assert terminal.errors == "waiting for 2 queries; Ctrl-C ends\n[TIDEMARK_SQL] bad record\n1 query stopped\n"


def test_an_error_stops_the_queries_that_were_started():
    query = Query()
    terminal = Terminal({"INSERT": query, "b": "refused"})
    assert terminal.run("INSERT; b") == 1
    assert query.ended == "stopped"


def test_ctrl_c_ends_a_script_and_its_queries():
    query = Query()
    terminal = Terminal({"INSERT": query, "SELECT": KeyboardInterrupt()})
    assert terminal.run("INSERT; SELECT; c") == 130
    assert terminal.environment.asked == ["INSERT", "SELECT"]
    assert query.ended == "stopped"


def test_ctrl_c_ends_the_waiting_for_queries():
    query = Query(PRESS)
    terminal = Terminal({"INSERT": query})
    assert terminal.run("INSERT") == 130
    assert query.ended == "stopped"
    assert terminal.errors == "waiting for 1 query; Ctrl-C ends\nstopped\n1 query stopped\n"


def test_ctrl_c_cancels_what_runs_and_leaves_the_handler_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    started, cancelled = threading.Event(), threading.Event()

    def action():
        started.set()
        signal.raise_signal(signal.SIGINT)
        assert cancelled.wait(10)

    with pytest.raises(KeyboardInterrupt):
        interruptible(action, cancelled.set)
    assert cancelled.is_set()
    assert signal.getsignal(signal.SIGINT) is before


def test_what_has_not_begun_when_ctrl_c_is_pressed_is_cancelled_when_it_has():
    has_begun, cancelled = threading.Event(), threading.Event()

    def action():
        signal.raise_signal(signal.SIGINT)
        assert not cancelled.wait(0.5)
        has_begun.set()
        assert cancelled.wait(10)

    with pytest.raises(KeyboardInterrupt):
        interruptible(action, lambda: cancelled.set() if has_begun.is_set() else None)
    assert cancelled.is_set()


def test_what_runs_gives_its_result_or_its_error():
    assert interruptible(lambda: 5, pytest.fail) == 5
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, pytest.fail)


def test_outside_of_the_main_thread_ctrl_c_is_left_alone():
    handlers = []

    def run():
        with noted_interrupts() as interrupts:
            handlers.append((signal.getsignal(signal.SIGINT), interrupts.is_pressed))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [(signal.getsignal(signal.SIGINT), False)]


def test_a_typed_statement_ends_with_its_semicolon():
    terminal = Terminal()
    terminal.type("SELECT 'a", " b", "c';  d;", "", "-- why", "e", ";", "quit", "never")
    assert terminal.environment.asked == ["SELECT 'a\n b\nc'", "d", "e"]
    assert terminal.prompts == ["tidemark>", "->", "->", "tidemark>", "tidemark>", "tidemark>", "->", "tidemark>"]


def test_an_error_at_the_prompt_is_shown_and_the_shell_goes_on():
    terminal = Terminal({"bad": "refused"})
    terminal.type("bad; never;", "good;")
    assert terminal.environment.asked == ["bad", "good"]
    assert terminal.errors == "[TIDEMARK_SQL] line 1, column 1: no.\n  bad\n  ^^\n"


def test_a_string_that_is_not_closed_is_an_error_once_a_line_ends_with_a_semicolon():
    terminal = Terminal()
    terminal.type("SELECT `a", "b;", "good;")
    assert "this quoted name is not closed" in terminal.errors
    assert terminal.environment.asked == ["good"]


def test_ctrl_c_at_the_prompt_forgets_what_was_typed():
    terminal = Terminal()
    terminal.type("SELECT", None, "good;")
    assert terminal.environment.asked == ["good"]


def test_ctrl_c_in_a_statement_goes_back_to_the_prompt():
    terminal = Terminal({"SELECT": KeyboardInterrupt()})
    terminal.type("SELECT;", "good;")
    assert terminal.environment.asked == ["SELECT", "good"]
    assert terminal.errors == "stopped\n"


@pytest.mark.parametrize("word", ["quit", "QUIT;", "exit", " exit ; "])
def test_a_word_ends_the_shell_and_its_queries(word):
    query = Query()
    terminal = Terminal({"INSERT": query})
    terminal.type("INSERT;", word, "never;")
    assert terminal.environment.asked == ["INSERT"]
    assert query.ended == "stopped"


def test_help_is_a_word_only_where_a_statement_begins():
    terminal = Terminal()
    terminal.type("help", "SELECT", "help", ";")
    assert terminal.environment.asked == ["SELECT\nhelp"]
    assert terminal.printed.count("CREATE TABLE ... WITH") == 1


def test_lines_come_from_prompt_toolkit_if_it_is_there(monkeypatch):
    monkeypatch.setattr(shell.importlib.util, "find_spec", lambda _name: object())
    module = SimpleNamespace(PromptSession=lambda: SimpleNamespace(prompt=str.upper))
    monkeypatch.setattr(shell.importlib, "import_module", lambda _name: module)
    assert shell.line_reader()("a") == "A"


def test_lines_come_from_input_otherwise(monkeypatch):
    monkeypatch.setattr(shell.importlib.util, "find_spec", lambda _name: None)
    assert shell.line_reader() is input


class Stream:
    """A stream whose batches are given; in append mode it is refused if its rows change."""

    isStreaming = True  # noqa: N815 - Spark's

    def __init__(self, *batches, has_changes=False, watermarks=(), error=None) -> None:
        self.batches = batches
        self.has_changes = has_changes
        self.watermarks = list(watermarks)
        self.error = error
        self.triggers = []
        self.mode = None
        self.is_stopped = False

    sparkSession = SimpleNamespace()  # noqa: N815 - Spark's
    writeStream = property(lambda self: self)  # noqa: N815 - Spark's

    def foreachBatch(self, show):  # noqa: N802 - Spark's
        self.show = show
        return self

    def trigger(self, **kind):
        self.triggers.append(kind)
        return self

    def outputMode(self, mode):  # noqa: N802 - Spark's
        self.mode = mode
        return self

    def start(self):
        if self.mode == "append" and self.has_changes:
            error = AnalysisException("append mode is not supported for streaming aggregations")
            error.getCondition = lambda: "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"
            raise error
        for number, batch in enumerate(self.batches):
            self.show(batch, number)
        return self

    @property
    def lastProgress(self):  # noqa: N802 - Spark's
        watermark = self.watermarks.pop(0) if self.watermarks else None
        return None if watermark is None else {"eventTime": {} if watermark == "none" else {"watermark": watermark}}

    def awaitTermination(self, _timeout):  # noqa: N802 - Spark's
        if self.error is PRESS:
            signal.raise_signal(signal.SIGINT)
            return False
        if not self.watermarks and isinstance(self.error, BaseException):
            raise self.error
        return len(self.watermarks) <= 1

    def stop(self):
        self.is_stopped = True


def streaming(stream, trigger=None):
    setting = StatementResult(kind="SET", columns=("key", "value"), rows=(("execution.trigger", trigger),))
    return Terminal({"SELECT": stream, "SET 'execution.trigger'": setting})


def test_a_stream_is_shown_batch_by_batch_with_its_watermark():
    stream = Stream(
        Frame(["a"], [("x",)]),
        Frame(["a"], []),
        Frame(["a"], [(None,)]),
        watermarks=["none", "1970-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z", "2026-01-01T00:00:01.000Z"],
    )
    terminal = streaming(stream)
    assert terminal.run("SELECT") == 0
    lines = [
        line.strip() for line in terminal.printed.splitlines() if "│" in line or "batch" in line or "water" in line
    ]
    assert lines == ["batch 0", "│ x │", "batch 2", "│ NULL │", "watermark 2026-01-01T00:00:01.000Z"]
    assert (stream.mode, stream.triggers, stream.is_stopped) == ("append", [], True)


def test_a_stream_whose_rows_change_is_marked():
    stream = Stream(Frame(["n"], [("1",)]), has_changes=True)
    terminal = streaming(stream, "available-now")
    assert terminal.run("SELECT") == 0
    assert "hint: rows of this query change" in terminal.printed
    assert (stream.mode, stream.triggers) == ("update", [{"availableNow": True}])


def test_a_stream_makes_batches_as_inserts_do():
    stream = Stream()
    assert streaming(stream, "5 s").run("SELECT") == 0
    assert stream.triggers == [{"processingTime": "5000 milliseconds"}]


def test_ctrl_c_stops_a_stream():
    stream = Stream(error=PRESS)
    terminal = streaming(stream)
    assert terminal.run("SELECT") == 130
    assert stream.is_stopped


def test_a_stream_that_fails_is_an_error_without_a_traceback():
    error = StreamingQueryException(
        "[STREAM_FAILED] no\n=== Streaming Query ===\nIdentifier: x\n\nJVM stacktrace:\nat a.b"
    )
    terminal = streaming(Stream(error=error))
    assert terminal.run("SELECT") == 1
    assert terminal.errors == "[STREAM_FAILED] no\n"


def test_settings_of_spark_are_pairs():
    assert parse_settings(["spark.a=b=c", " spark.d = "]) == {"spark.a": "b=c", "spark.d": ""}
    with pytest.raises(OptionError, match="--conf 'spark.a' is no setting"):
        parse_settings(["spark.a"])


class Session:
    """A Spark session that notes that it was stopped."""

    is_stopped = False

    def stop(self):
        self.is_stopped = True


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Run the command without Spark: arguments in, (status, output, errors) out."""
    made = SimpleNamespace(
        session=Session(), environment=FakeEnvironment({"bad": "refused"}), settings=None, catalog=None
    )

    def start(settings):
        made.settings = dict(settings)
        return made.session

    def environment(_spark, catalog):
        made.catalog = catalog
        return made.environment

    monkeypatch.setattr(shell_command, "start_session", start)
    monkeypatch.setattr(shell_command, "TableEnvironment", environment)
    made.file = tmp_path / "script.sql"
    return made


def test_the_command_runs_a_file_and_then_the_text(command, monkeypatch, capfd, tmp_path):
    command.file.write_text("\ufeffSET a;\nb;", encoding="utf-8")
    tidemark = console_script(monkeypatch, capfd)
    arguments = ("-f", str(command.file), "-e", "c", "--catalog", str(tmp_path), "--conf", "spark.master=local[1]")
    assert tidemark("sql", *arguments) == (0, "SET: ok\nb: ok\nc: ok\n", "")
    assert command.catalog == tmp_path
    assert command.settings == {"spark.master": "local[1]"}
    assert command.session.is_stopped


def test_the_command_fails_with_its_script(command, monkeypatch, capfd):
    status, output, errors = console_script(monkeypatch, capfd)("sql", "-e", "a; bad; c")
    assert (status, output) == (1, "a: ok\n")
    assert errors == "[TIDEMARK_SQL] line 1, column 4: no.\n  bad\n  ^^\n"
    assert command.session.is_stopped


def test_the_command_reads_standard_input(command, monkeypatch, capfd):
    monkeypatch.setattr("sys.stdin", io.StringIO("a;\nbad;"))
    status, _, errors = console_script(monkeypatch, capfd)("sql")
    assert status == 1
    assert "standard input, line 2, column 1: no." in errors


def test_the_command_runs_in_a_terminal(command, monkeypatch):
    lines = iter(["a;", "quit"])
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(shell_command, "line_reader", lambda: lambda _prompt: next(lines))
    assert run_shell(ShellRequest(), Console(file=io.StringIO())) == 0
    assert command.environment.asked == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: No such file or directory."), (b"SELECT '\xff'", "is no UTF-8 text (byte 8)")],
)
def test_a_script_that_cannot_be_read_is_an_error_before_spark_starts(command, monkeypatch, capfd, content, message):
    if content is not None:
        command.file.write_bytes(content)
    status, _, errors = console_script(monkeypatch, capfd)("sql", "-f", str(command.file))
    assert status == 2
    assert message in errors
    assert command.settings is None


def test_without_pyspark_the_error_has_a_hint(monkeypatch):
    monkeypatch.setattr(shell_session, "find_java", lambda: None)
    monkeypatch.setattr(shell_session.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'tidemark-spark\[spark\]'"):
        shell_session.start_session({})
