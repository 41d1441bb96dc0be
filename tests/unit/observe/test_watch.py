"""`tidemark watch`: what it prints, live and once, and what it says when there is no page."""

from __future__ import annotations

import inspect
import io
import re
import socket
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from rich.console import Console

from datasources import cli
from datasources.errors import OptionError, SourceUnavailable
from datasources.observe import start_observer
from datasources.observe.tables import END_OF_TIME_MS
from datasources.observe.terminal import Shown, duration_text, plain, render, time_text
from datasources.observe.watch import DEFAULT_URL, fetch, watch
from tests.support.console import console_script
from tests.support.source.observed_tables import NOW_MS, ScriptedTables, hold, load, log, snapshot, split, table
from watermark.clock import ManualClock

WAIT_S = 20


def orders():
    return ScriptedTables(
        table(
            split("orders-0", watermark=NOW_MS - 5_000, lag=1_017),
            split("orders-1", watermark=NOW_MS, status="paused", paused_since=NOW_MS - 9_500, drift=5_000),
            split(
                "orders-2",
                watermark=NOW_MS - 65_000,
                status="idle",
                idle_since=NOW_MS - 60_000,
                late_rows=3,
                max_lateness_ms=740,
            ),
            group="g",
            late_rows=3,
            max_lateness_ms=740,
            bad_records=2,
        )
    )


@pytest.fixture(scope="module")
def page():
    """A page that many tests read."""
    observer = start_observer(orders(), clock=ManualClock(NOW_MS * 1_000))
    yield observer
    observer.close()


@pytest.fixture
def tidemark(monkeypatch, capfd):
    """Run the console script: arguments in, (exit status, output, errors) out."""
    return console_script(monkeypatch, capfd)


def text_of(*tables, lines=100, width=120, **answer):
    """What is drawn of these tables."""
    console = Console(file=io.StringIO(), width=width)
    shown = Shown(answer={"time": NOW_MS, "sampled": NOW_MS, "sources": list(tables), **answer})
    for part in render(shown, lines=lines, width=width):
        console.print(part)
    return console.file.getvalue()


def words(line):
    return line.split()


# -- once --


def test_once_prints_the_splits_and_ends(tidemark, page):
    status, output, errors = tidemark("watch", page.url, "--once")
    assert (status, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0] == "topic orders  watermark 2025-10-09T08:53:15.000Z  5.0 s behind  active"
    assert "query 6c1f2a | group g | batch 17 | 1 active, 1 paused, 1 idle | 3 late rows, up to 740 ms" in lines[1]
    assert "2 bad records" in output
    rows = {words(line)[0]: words(line)[1:] for line in lines if line.lstrip().startswith("orders-")}
    assert rows == {
        "orders-0": words("active 2025-10-09T08:53:15.000Z 5.0 s 1,017 0 - 1,234 - -"),
        "orders-1": words("paused 2025-10-09T08:53:20.000Z 0 ms 0 0 - 1,234 5.0 s 9.5 s"),
        "orders-2": words("idle 2025-10-09T08:52:15.000Z 1 min 5 s 0 3 740 ms 1,234 - 1 min"),
    }


def test_output_that_is_no_terminal_gets_one_table(tidemark, page):
    assert tidemark("watch", page.url) == tidemark("watch", page.url, "--once")


def test_the_address_comes_from_the_environment_too(tidemark, page, monkeypatch):
    monkeypatch.setenv("TIDEMARK_UI", page.url)
    assert "orders-0" in tidemark("watch", "--once")[1]


def test_the_default_address_is_the_documented_one():
    assert inspect.signature(cli.watch).parameters["url"].default == DEFAULT_URL == "http://127.0.0.1:4055"


@pytest.mark.parametrize(
    "spelling", ["{url}", "http://127.0.0.1:{port}", "127.0.0.1:{port}", "http://localhost:{port}/"]
)
def test_an_address_is_understood_as_people_write_it(page, spelling):
    url = spelling.format(url=page.url, port=urlsplit(page.url).port)
    assert fetch(url)["sources"][0]["name"] == "topic orders"


def test_a_proxy_of_the_environment_is_not_asked(page, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert fetch(page.url)["sources"]


def test_a_server_that_does_not_answer_is_an_error_with_the_reason():
    since = {"unanswered_since": NOW_MS - 9_000, "unanswered_reason": "timed out"}
    shown = text_of(
        table(
            split("a-0"),
            split("a-1", **since),
            split("a-2", **{**since, "unanswered_since": NOW_MS}),
            unanswered_splits=2,
        )
    )
    assert "no answer about 2 of 3 splits | a-1 since 2025-10-09T08:53:11.000Z: timed out\n" in shown
    assert "no answer" not in text_of(table(split("a-0")))
    assert "no answer about 3 of 9 splits\n" in text_of(table(split("a-0"), split_count=9, unanswered_splits=3))


def test_no_source_is_reported():
    assert "No source is running." in text_of()


# -- errors --


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return bound.getsockname()[1]


@contextmanager
def other_server(answer: bytes):
    """A server that answers one connection with these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            peer, _ = server.accept()
            with peer:
                peer.recv(65_536)
                peer.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(WAIT_S)


def is_one_paragraph(errors):
    return errors.count("\n") == 1 and "Traceback" not in errors


def test_without_a_page_the_error_has_a_hint(tidemark, free_port):
    status, output, errors = tidemark("watch", f"http://127.0.0.1:{free_port}")
    assert (status, output) == (2, "")
    assert f"no page answers at http://127.0.0.1:{free_port}" in errors
    assert "spark.tidemark.ui.port" in errors
    assert is_one_paragraph(errors)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\n\r\n<!doctype html>",
        b"HTTP/1.0 200 OK\r\n\r\n[]",
        b'HTTP/1.0 200 OK\r\n\r\n{"sources": []}',
        b"HTTP/1.0 200 OK\r\n\r\n\xff\xfe",
        b"HTTP/1.0 404 Not Found\r\n\r\n",
        b"HTTP/1.0 302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n",
    ],
)
def test_another_server_at_the_address_is_an_error(answer):
    with other_server(answer) as url, pytest.raises(SourceUnavailable, match="is not a page of Tidemark"):
        fetch(url)


def test_where_the_page_refuses_the_error_has_its_reason():
    answer = b"HTTP/1.0 403 Forbidden\r\nServer: tidemark\r\n\r\nThis page is for its own machine.\x1b[2J\n"
    reason = r"refuses to show its tables \(HTTP status 403\): This page is for its own machine\.\\x1b\[2J$"
    with other_server(answer) as url, pytest.raises(SourceUnavailable, match=reason):
        fetch(url)


@pytest.mark.parametrize("answer", [b"", b"220 mail.example ESMTP\r\n", b"\x00\x01\x02"])
def test_where_no_web_server_answers_the_error_names_the_address(answer):
    with other_server(answer) as url, pytest.raises(SourceUnavailable, match="no page answers at http://127.0.0.1:"):
        fetch(url)


@pytest.mark.parametrize(
    "url", ["", "http://", "https://127.0.0.1:4055", "ftp://x", "http://x:port", "http://x:99999", "http://[::1", ":"]
)
def test_what_is_no_address_is_an_error_that_shows_one(url):
    with pytest.raises(OptionError, match=re.escape(DEFAULT_URL)):
        fetch(url)


@pytest.mark.parametrize(
    "url", ["http://no such host", "http://" + "a" * 70 + "/", "http://127.0.0.1:1/\x00", "http://127.0.0.1:1/ü"]
)
def test_an_address_that_cannot_be_asked_is_an_error_of_ours(url):
    with pytest.raises(SourceUnavailable, match="no page answers"):
        fetch(url)


# -- live --


class Screen(io.StringIO):
    """A terminal; a test is notified of a text."""

    def __init__(self) -> None:
        super().__init__()
        self._expected: list[tuple[str, int, threading.Event]] = []

    def write(self, text: str) -> int:
        written = super().write(text)
        for expected, start, event in self._expected:
            if expected in self.getvalue()[start:]:
                event.set()
        return written

    def wait_for(self, text: str) -> None:
        """Wait until the text is written once more."""
        event = threading.Event()
        self._expected.append((text, len(self.getvalue()), event))
        assert event.wait(WAIT_S), f"{text!r} is not in {self.getvalue()[-2_000:]}"


def test_the_live_view_survives_an_outage_of_the_driver():
    tables = orders()
    page = start_observer(tables)
    screen, stopped = Screen(), threading.Event()
    console = Console(file=screen, force_terminal=True, width=120, height=30, color_system=None)
    clock = ManualClock((NOW_MS + 77_000) * 1_000)
    arguments = {"console": console, "is_once": False, "clock": clock, "stopped": stopped}
    thread = threading.Thread(target=watch, args=(page.url,), kwargs=arguments, daemon=True)
    thread.start()
    again = None
    try:
        screen.wait_for("orders-0")
        tables.tables = [table(split("payments-7"), name="topic payments")]
        screen.wait_for("payments-7")
        page.close()
        screen.wait_for("No answer since 2025-10-09T08:54:37.000Z")
        screen.wait_for("payments-7")
        tables.tables = [table(split("returns-1"))]
        again = start_observer(tables, port=urlsplit(page.url).port)
        screen.wait_for("returns-1")
    finally:
        stopped.set()
        thread.join(WAIT_S)
        if again is not None:
            again.close()
    assert not thread.is_alive()


def test_ctrl_c_ends_the_live_view_without_a_word(page):
    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    console = Console(file=io.StringIO(), force_terminal=True, width=120, height=30, color_system=None)
    watch(page.url, console=console, is_once=False, stopped=Interrupted())
    written = console.file.getvalue()
    assert "orders-0" in written
    assert written.endswith(("\x1b[?1049l\x1b[?25h", "\x1b[?25h\x1b[?1049l"))  # the user's screen is back


# -- drawing --


def test_of_many_splits_those_are_drawn_that_hold_the_source_back():
    many = table(*(split(f"s{at}", watermark=NOW_MS - at * 1_000) for at in range(200)))
    drawn = text_of(many, lines=24)
    rows = [words(line)[0] for line in drawn.splitlines() if re.match(r" +s\d", line)]
    assert rows[:3] == ["s199", "s198", "s197"]
    assert f"{len(rows)} of 200 splits, those that hold the source back first" in drawn
    assert len(drawn.splitlines()) <= 24


def test_a_truncated_table_shows_the_number_of_splits():
    assert "1 of 1,500 splits" in text_of(table(split("a"), split_count=1_500))


def test_several_sources_share_the_lines():
    tables = [table(*(split(f"s{at}") for at in range(50)), source=str(run)) for run in range(3)]
    assert len(text_of(*tables, lines=48).splitlines()) <= 48


def test_a_narrow_terminal_gets_fewer_columns_and_no_cut_ones():
    drawn = text_of(table(split("orders-12", lag=12_345, late_rows=1_000)), width=80)
    assert "lateness" not in drawn
    assert "…" not in drawn
    assert max(map(len, drawn.splitlines())) <= 80


def test_figures_that_are_old_are_called_so():
    assert "its figures are from 2025-10-09T08:53:10.000Z" in text_of(table(split("a")), sampled=NOW_MS - 10_000)
    assert "figures" not in text_of(table(split("a")), sampled=NOW_MS - 2_000)


def test_a_source_that_planned_long_ago_is_called_so():
    assert "batch 17 | planned 45 s ago | " in text_of(table(split("a"), time=NOW_MS - 45_000))
    assert "ago" not in text_of(table(split("a"), time=NOW_MS - 5_000))


def test_a_log_that_is_purged_soon_is_shown():
    line = "  the oldest unread change is 1 d 3 h old, and the server purges its log after 2 d"
    assert line in text_of(table(split("a"), log=log()), width=160)
    for near in (log(unread_age_ms=86_000_000), log(unread_age_ms=None), log(retention_ms=None)):
        assert "purges" not in text_of(table(split("a"), log=near), width=160)


def test_a_snapshot_scan_shows_its_progress():
    assert (
        "  snapshot of shop.orders | 12 of about 40 chunks | 600,000 of about 2,000,000 rows | 55,000 rows/s | about 25 s left"
    ) in text_of(table(split("a"), snapshot=snapshot()), width=160)
    assert "time left not known yet" in text_of(table(split("a"), snapshot=snapshot(seconds_left=None)), width=160)
    done = snapshot(status="done", table=None, chunks=40, rows=1_999_998)
    assert "  snapshot done | 40 chunks | 1,999,998 rows" in text_of(table(split("a"), snapshot=done))
    assert "snapshot" not in text_of(table(split("a")))


def test_a_waiting_source_shows_what_it_waits_for():
    assert (
        "  waits for rates since 2025-10-09T08:53:11.000Z | loading | snapshot of shop.orders | 12 of about 40 chunks | "
    ) in text_of(table(split("a"), hold=hold()), width=200)
    unheard = {"name": "rats", "status": "not heard", "since": None, "unread": None, "snapshot": None}
    topic = {"name": "rates", "status": "loading", "since": 0, "unread": 1_200, "snapshot": None}
    drawn = text_of(table(split("a"), hold=hold(unheard, topic)), width=200)
    assert "waits for rats since 2025-10-09T08:53:11.000Z | not heard\n" in drawn
    assert "waits for rates since 2025-10-09T08:53:11.000Z | loading | 1,200 unread\n" in drawn
    assert "waits" not in text_of(table(split("a"), hold=hold(status="released", released=4, builds=[])))


def test_an_awaited_source_shows_its_remaining_work():
    assert "  loading: others wait for rates | 1,200 unread" in text_of(table(split("a"), load=load()))
    assert "loading" not in text_of(table(split("a"), load=load(status="loaded", unread=0)))


def test_what_is_not_known_is_a_dash():
    bare = split("a", watermark=None, watermark_lag=None, lag=None, position=None)
    drawn = text_of(table(bare, watermark=None, query=None))
    assert "watermark -  - behind" in drawn
    assert "query - | group - " in drawn
    (row,) = (line for line in drawn.splitlines() if line.startswith("  a "))
    assert words(row) == ["a", "active", "-", "-", "-", "0", "-", "-", "-", "-"]


def test_a_finished_source_is_at_its_end_and_not_behind():
    done = split("a", watermark=END_OF_TIME_MS, status="finished")
    assert "watermark end of input  - behind  finished" in text_of(
        table(done, watermark=END_OF_TIME_MS, status="finished")
    )


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "a\rb", "a\nb", "bell\x07", "\u202eright to left", "[bold]no markup[/]", "\x9b1m"]
)
def test_a_name_cannot_steer_the_terminal(name):
    drawn = text_of(table(split(name), name=name, group=name, query=name, status=name))
    assert not set(drawn) & set("\x1b\r\x07\x9b\u202e")
    assert plain(name) in drawn


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (9_999, "9.9 s"),
        (10_000, "10 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (245_000, "4 min 5 s"),
        (3_600_000, "1 h"),
        (3_605_000, "1 h"),
        (93_600_000, "1 d 2 h"),
        (-245_000, "-4 min 5 s"),
    ],
)
def test_a_duration_has_its_two_largest_units(value, text):
    assert duration_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "1970-01-01T00:00:00.000Z"),
        (NOW_MS, "2025-10-09T08:53:20.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (END_OF_TIME_MS, "end of input"),
        (-(2**62), f"{-(2**62)} ms"),
    ],
)
def test_a_time_is_iso_text_in_utc(value, text):
    assert time_text(value) == text
