"""`tidemark watch`: the page's tables in a terminal.

It asks the same address as the page does, without a proxy and without following redirections: what it shows comes from
the driver that was named. Names are shown without their control characters, which could steer the terminal.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, urlsplit

from rich.console import Console
from rich.live import Live
from rich.text import Text

from datasources.errors import OptionError, SourceUnavailable
from datasources.observe.routes import SERVER_NAME
from datasources.observe.terminal import Shown, render
from datasources.terminal_text import plain
from watermark.clock import Clock, SystemClock

DEFAULT_URL: Final = "http://127.0.0.1:4055"

_ANSWER_S: Final = 5.0
_EVERY_S: Final = 1.0
_MAX_BYTES: Final = 256 * 1024 * 1024
_MICROS_PER_MILLI: Final = 1_000
_OK: Final = 200
_MAX_REASON_CHARACTERS: Final = 500
_LINES_OF_A_FILE: Final = 1_000_000


def watch(
    url: str,
    *,
    console: Console,
    is_once: bool,
    clock: Clock = SystemClock(),  # noqa: B008 - it has no state
    stopped: threading.Event | None = None,
) -> None:
    """Print the tables once, or show them until the user interrupts.

    Args:
        url: of the page, as `start_observer` gives it.
        console: where to print.
        is_once: print one answer and return, as is done where the console is no terminal.
        clock: for the time since the last answer.
        stopped: ends the live view as Ctrl-C does.

    Raises:
        OptionError: the address is not one of a page.
        SourceUnavailable: nothing answers there, or something else than a page of Tidemark. Once there was an answer,
            the live view shows the error instead, and keeps polling.
    """
    answer = fetch(url)
    if is_once or not console.is_terminal:
        for part in render(Shown(answer=answer), lines=_LINES_OF_A_FILE, width=console.width):
            console.print(part)
        return
    try:
        _live(url, answer, console, clock, stopped or threading.Event())
    except KeyboardInterrupt:
        return


def fetch(url: str) -> dict[str, Any]:
    """Return the answer of a page: `time`, `sampled`, `sources`.

    Raises:
        OptionError: the address is not one of a page.
        SourceUnavailable: nothing answers there, or something else than a page of Tidemark.
    """
    address = _parsed_url(url)
    try:
        response = _get(address)
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: a name that cannot be encoded
        reason = str(error) or type(error).__name__
        raise SourceUnavailable(
            f"no page answers at {url} ({reason}). Start the application with the Spark setting "
            f"spark.tidemark.ui.port, then name its page: `tidemark watch URL`, or set TIDEMARK_UI."
        ) from None
    answer = _parse(response.body) if response.status == _OK else None
    if answer is None:
        raise SourceUnavailable(_refusal(url, response))
    return answer


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    server: str | None
    body: bytes


def _refusal(url: str, response: _Response) -> str:
    if response.server == SERVER_NAME:
        sentence = plain(response.body[:_MAX_REASON_CHARACTERS].decode("utf-8", "replace").strip())
        return f"the page at {url} refuses to show its tables (HTTP status {response.status}): {sentence}"
    return (
        f"what answers at {url} is not a page of Tidemark (HTTP status {response.status}). Name the address that the "
        f"driver has as its page: host and spark.tidemark.ui.port."
    )


def _parsed_url(url: str) -> SplitResult:
    text = url if "://" in url else f"http://{url}"
    try:
        address = urlsplit(text)
        is_usable = address.scheme == "http" and bool(address.hostname) and (address.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise OptionError(f"'{url}' is not the address of a page. Write it as in {DEFAULT_URL}.")
    return address


def _get(address: SplitResult) -> _Response:
    assert address.hostname is not None
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=_ANSWER_S)
    try:
        headers = {"Accept": "application/json"}
        tokens = parse_qs(address.query).get("token", [])
        if len(tokens) == 1:
            headers["Authorization"] = f"Bearer {tokens[0]}"
        connection.request("GET", f"{address.path.rstrip('/')}/api/sources", headers=headers)
        response = connection.getresponse()
        return _Response(response.status, response.getheader("Server"), response.read(_MAX_BYTES))
    finally:
        connection.close()


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    is_ours = isinstance(answer, dict) and answer.keys() >= {"tidemark", "time", "sampled", "sources"}
    return answer if is_ours else None


def _live(url: str, first: dict[str, Any], console: Console, clock: Clock, stopped: threading.Event) -> None:
    with Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
        for shown in _answers(url, first, clock, stopped):
            live.update(_Screen(shown), refresh=True)


def _answers(url: str, first: dict[str, Any], clock: Clock, stopped: threading.Event) -> Iterator[Shown]:
    answer, gone_since_ms = first, None
    while True:
        yield Shown(answer=answer, gone_since_ms=gone_since_ms)
        if stopped.wait(_EVERY_S):
            return
        try:
            answer, gone_since_ms = fetch(url), None
        except SourceUnavailable:
            gone_since_ms = gone_since_ms or clock.now_us() // _MICROS_PER_MILLI


@dataclass(frozen=True, slots=True)
class _Screen:
    """One screen: as many lines as the terminal has at the moment of drawing."""

    shown: Shown

    def __rich_console__(self, console: Console, _options: object) -> Iterator[Any]:
        yield from render(self.shown, lines=console.height - 1, width=console.width)
        yield Text("Ctrl-C ends it", style="dim", end="")
