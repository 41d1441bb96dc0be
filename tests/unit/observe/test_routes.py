"""What each address of the page answers, without a socket."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from http import HTTPStatus
from pathlib import Path

import pytest

import datasources.observe
from datasources.errors import OptionError
from datasources.observe.access import RemoteAccess, access_of
from datasources.observe.routes import SECURITY_HEADERS, Request, Routes, security_headers
from datasources.observe.sampler import Sampler
from datasources.task_counters import TASK_COUNTERS
from tests.support.project import ROOT
from tests.support.source.observed_tables import NOW_MS, ScriptedTables, split, table
from watermark.clock import ManualClock

STATIC = Path(datasources.observe.__file__).parent / "static"


@pytest.fixture
def clock():
    return ManualClock(NOW_MS * 1_000)


@pytest.fixture
def tables():
    return ScriptedTables(table(split("fast", watermark=NOW_MS), split("slow", watermark=NOW_MS - 9_000)))


@pytest.fixture
def sampler(tables, clock):
    made = Sampler(tables, clock=clock)
    made.sample()
    return made


@pytest.fixture
def get(sampler):
    routes = Routes(sampler, access_of("127.0.0.1", "127.0.0.1", 4055, RemoteAccess()))

    def ask(target, *hosts):
        return routes.answer(Request(target=target, hosts=hosts or ("localhost:4055",)))

    return ask


def test_the_page_is_at_the_root(get):
    response = get("/")
    assert (response.status, response.content_type) == (HTTPStatus.OK, "text/html; charset=utf-8")
    assert response.body.startswith(b"<!doctype html>")


@pytest.mark.parametrize("path", sorted(STATIC.iterdir()), ids=lambda path: path.name)
def test_every_file_of_the_page_is_served(get, path):
    target = "/" if path.name == "page.html" else f"/{path.name}"
    assert get(target).body == path.read_bytes()


def test_the_page_uses_only_what_is_served(get):
    used = {"/"}
    waiting = ["/"]
    while waiting:
        text = get(waiting.pop()).body.decode()
        names = re.findall(r'(?:src|href)="([^"#]+)"', text) + re.findall(r'from "\./([^"]+)"', text)
        for target in {f"/{name}" for name in names} - used:
            assert get(target).status == HTTPStatus.OK, target
            used.add(target)
            waiting.append(target)
    assert {"/page.js", "/page.css", "/chart.js", "/metrics"} <= used


@pytest.mark.parametrize("path", sorted(STATIC.iterdir()), ids=lambda path: path.name)
def test_the_page_needs_nothing_from_elsewhere_and_nothing_inline(path):
    text = path.read_text(encoding="utf-8")
    addresses = set(re.findall(r"\w+://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(
        r"\beval\b|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\bon\w+=|style=|@import", text
    )


def test_every_column_and_figure_of_the_page_is_documented():
    docs = (ROOT / "docs" / "observe.md").read_text(encoding="utf-8")
    columns = re.findall(r'key: "[a-z_]+", title: "([^"]+)"', (STATIC / "splits.js").read_text(encoding="utf-8"))
    assert len(columns) == 10
    assert [column for column in columns if f"\n| {column} |" not in docs] == []
    source = (STATIC / "source.js").read_text(encoding="utf-8")
    figures = re.findall(r'term: "([^"]+)"', source) + [each.label.capitalize() for each in TASK_COUNTERS]
    assert len(figures) == 15
    assert [figure for figure in figures if not re.search(rf"\n\| ([^|]*, )?{figure}(, [^|]*)? \|", docs)] == []


def test_the_tables_come_as_json_with_the_slowest_split_first(get, clock):
    clock.advance_us(2_500_000)
    answer = json.loads(get("/api/sources").body)
    assert (answer["time"], answer["sampled"]) == (NOW_MS + 2_500, NOW_MS)
    assert answer["counters"] == {each.key: each.label for each in TASK_COUNTERS}
    assert answer["tidemark"]
    (source,) = answer["sources"]
    assert [row["split"] for row in source["splits"]] == ["slow", "fast"]
    assert source == {**table(*reversed(source["splits"])), "splits": source["splits"]}


def test_the_history_comes_as_json(get, sampler):
    sampler.sample()
    answer = json.loads(get("/api/history?source=run-1&since=1").body)
    assert (answer["start"], answer["next"], set(answer["splits"])) == (1, 2, {"slow", "fast"})


def test_a_name_in_an_address_is_decoded(get, sampler, tables):
    tables.tables = [table(split("a"), source="run ü&=/?")]
    sampler.sample()
    answer = json.loads(get("/api/history?source=run%20%C3%BC%26%3D%2F%3F").body)
    assert answer["source"] == "run ü&=/?"


def test_the_metrics_are_those_of_the_newest_sample(get, sampler, tables):
    response = get("/metrics")
    assert response.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert b'split="slow"' in response.body
    tables.tables = []
    sampler.sample()
    assert b'split="slow"' not in get("/metrics").body


def test_without_prometheus_client_the_metrics_name_how_to_install_it(get, monkeypatch):
    monkeypatch.delitem(sys.modules, "datasources.observe.prometheus", raising=False)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    response = get("/metrics")
    assert response.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert b"pip install 'tidemark-spark[observe]'" in response.body
    assert get("/api/sources").status == HTTPStatus.OK


def test_viewers_do_not_make_the_driver_work(get, tables):
    calls = tables.calls
    bodies = {get(target).body for target in ("/metrics", "/api/sources", "/api/history?source=run-1", "/") * 5}
    assert (len(bodies), tables.calls) == (4, calls)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/nothing", 404),
        ("/static/", 404),
        ("/static/page.js", 404),
        ("/page.html", 404),
        ("/../server.py", 404),
        ("/%2e%2e/server.py", 404),
        ("/page.js/", 404),
        ("/PAGE.JS", 404),
        ("//page.js", 404),
        ("", 404),
        ("*", 404),
        ("http://localhost:4055/", 404),
        ("/api", 404),
        ("/api/history", 400),
        ("/api/history?", 400),
        ("/api/history?source", 400),
        ("/api/history?source=", 400),
        ("/api/history?source=run-1&source=run-2", 400),
        ("/api/history?source=run-1&since=-1", 400),
        ("/api/history?source=run-1&since=1.5", 400),
        ("/api/history?source=run-1&since=٣", 400),
        ("/api/history?source=run-1&since=%D9%A3", 400),
        ("/api/history?source=run-1&since=" + "9" * 16, 400),
        ("/api/history?source=run-1&since=1&since=2", 400),
        ("/api/history?source=run-1&other=1", 400),
        ("/api/history?source=%ff", 400),
        ("/api/history?" + "&".join(f"source={at}" for at in range(100)), 400),
        ("/api/history?source=run-2", 404),
        ("/" + "a" * 2_048, 414),
        ("/?" + "a" * 2_047, 414),
    ],
)
def test_a_wrong_address_gets_a_4xx_in_a_sentence_that_does_not_repeat_it(get, target, status):
    response = get(target)
    assert (response.status, response.content_type) == (status, "text/plain; charset=utf-8")
    sentence = response.body.decode()
    assert sentence.endswith(".\n")
    assert "run-" not in sentence
    assert "aaa" not in sentence


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:4055", "LOCALHOST:80", "127.0.0.1:4055", "127.8.8.8", "[::1]:4055", "[::1]"]
)
def test_a_request_that_names_this_machine_is_answered(get, host):
    assert get("/api/sources", host).status == HTTPStatus.OK


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:4055",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.1",
        "[::1",
        "[zz]",
        "a@b",
        "@",
        "::1::",
    ],
)
def test_a_request_that_names_another_machine_is_refused(get, host):
    for target in ("/", "/metrics", "/api/sources", "/nothing"):
        response = get(target, host)
        assert response.status == HTTPStatus.FORBIDDEN
        assert b"spark.tidemark.ui.host" in response.body


def test_a_request_has_one_host(sampler):
    routes = Routes(sampler, access_of("127.0.0.1", "127.0.0.1", 4055, RemoteAccess()))
    for hosts in ((), ("localhost", "evil.example"), ("localhost", "localhost")):
        assert routes.answer(Request(target="/", hosts=hosts)).status == HTTPStatus.BAD_REQUEST


TOKEN = "one-that_is-long-enough"


@pytest.fixture
def open_page(sampler):
    """A page that was opened to others."""
    access = access_of("0.0.0.0", "0.0.0.0", 4055, RemoteAccess(token=TOKEN, names=(" Driver.Example ",)))  # noqa: S104
    return Routes(sampler, access)


def ask_open(routes, target, host="driver.example:4055", **more):
    return routes.answer(Request(target=target, hosts=(host,), **more))


@pytest.mark.parametrize("target", ["/", "/page.js", "/metrics", "/api/sources", "/nothing", "/?token=wrong", "/?x=y"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"authorization": "Bearer"},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"cookies": (f"tidemark-4056={TOKEN}",)},
        {"cookies": ("tidemark-4055=wrong", "=;;==", "tidemark-4055")},
    ],
)
def test_a_remote_page_requires_its_token(open_page, target, more):
    response = ask_open(open_page, target, **more)
    assert response.status == HTTPStatus.UNAUTHORIZED
    assert response.headers == {"WWW-Authenticate": "Bearer"}
    assert TOKEN not in response.body.decode()


@pytest.mark.parametrize("more", [{"authorization": f"bearer {TOKEN}"}, {"cookies": (f"a=b; tidemark-4055={TOKEN}",)}])
def test_a_remote_page_answers_requests_with_its_token(open_page, more):
    for target in ("/", "/page.js", "/api/sources"):
        assert ask_open(open_page, target, **more).status == HTTPStatus.OK


def test_the_token_goes_from_the_address_into_a_cookie(open_page):
    response = ask_open(open_page, f"/?token={TOKEN}")
    assert (response.status, response.headers["Location"]) == (HTTPStatus.SEE_OTHER, "/")
    cookie = response.headers["Set-Cookie"]
    assert cookie == f"tidemark-4055={TOKEN}; Path=/; HttpOnly; SameSite=Lax"
    assert ask_open(open_page, "/", cookies=(cookie.partition(";")[0],)).status == HTTPStatus.OK


def test_a_page_for_others_is_known_by_its_names_and_by_addresses(open_page):
    known = {"authorization": f"Bearer {TOKEN}"}
    for host in ("localhost:1", "192.0.2.7:4055", "[2001:db8::1]:4055", "DRIVER.example", socket.gethostname()):
        assert ask_open(open_page, "/", host, **known).status == HTTPStatus.OK
    for host in ("evil.example", "driver.example.evil", "", "[::1"):
        response = ask_open(open_page, "/", host, **known)
        assert response.status == HTTPStatus.FORBIDDEN
        assert b"spark.tidemark.ui.names" in response.body


def test_a_page_for_others_makes_a_token_of_its_own_and_shows_none():
    one, other = (access_of("", "0.0.0.0", 1, RemoteAccess()) for _ in range(2))  # noqa: S104 - nothing is bound
    assert one.token != other.token
    assert len(one.token) > 30
    assert one.token not in repr(one)
    assert access_of("", "::1", 1, RemoteAccess(token=TOKEN)).token is None


@pytest.mark.parametrize("token", ["short", "a" * 15, "with spaces in the middle", "semicolon;semicolon;x"])
def test_an_invalid_token_is_an_error_with_a_hint(token):
    with pytest.raises(OptionError, match=r"spark\.tidemark\.ui\.token.* leave it out"):
        access_of("", "0.0.0.0", 1, RemoteAccess(token=token))  # noqa: S104 - nothing is bound


def test_the_name_that_was_bound_may_be_used(sampler):
    routes = Routes(sampler, access_of("Driver", "127.0.0.1", 4055, RemoteAccess()))
    assert routes.answer(Request(target="/", hosts=("driver:1",))).status == HTTPStatus.OK


def test_nothing_inline_nothing_from_elsewhere_and_no_frame_is_allowed():
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "frame-ancestors 'none'" in policy


def test_pages_of_named_origins_may_show_it_in_a_frame():
    headers = security_headers(["http://localhost:8888", "https://[::1]:8443"])
    assert "; frame-ancestors http://localhost:8888 https://[::1]:8443; " in headers["Content-Security-Policy"]
    assert headers.keys() == SECURITY_HEADERS.keys() - {"X-Frame-Options"}
    assert security_headers() == SECURITY_HEADERS


@pytest.mark.parametrize(
    "origin",
    ["*", "localhost:8888", "http://localhost:8888/", "http://*", "http://a; script-src *", "http://a:8888888"],
)
def test_what_is_not_an_origin_frames_nothing(origin):
    with pytest.raises(OptionError, match=r"spark\.tidemark\.ui\.frames"):
        security_headers([origin])


def malformed():
    """Tables that lack something, each in another way."""
    whole = table(split("a"))
    yield from ({key: value for key, value in whole.items() if key != left_out} for left_out in whole)
    yield from (table({key: value for key, value in split("a").items() if key != left_out}) for left_out in split("a"))
    yield from (table(split("a"), **{key: 1.5}) for key, value in whole.items() if not isinstance(value, float))
    yield from (table(split("a", **{key: float("nan")})) for key in split("a") if key != "split")
    yield from (
        {},
        [],
        None,
        table(7),
        table(split("a"), splits={}),
        table(split("a"), watermark="1"),
        table(split("a"), avgOffsetsBehindLatest="1"),
        table(split("a"), time=None),
    )


@pytest.mark.parametrize("wrong", tuple(malformed()))
def test_a_table_that_lacks_something_is_left_out_and_the_others_are_shown(sampler, tables, get, caplog, wrong):
    tables.tables = [wrong, table(split("b"), source="run-2")]
    sampler.sample()
    sampler.sample()
    assert [source["source"] for source in json.loads(get("/api/sources").body)["sources"]] == ["run-2"]
    assert b'split="b"' in get("/metrics").body
    assert [record.getMessage() for record in caplog.records] == ["observer_tables_dropped reason='malformed' count=1"]


def test_an_error_in_the_tables_ends_the_sampler_and_the_figures_show_their_age(sampler, tables, clock, get):
    class Broken(RuntimeError):
        pass

    def fail():
        raise Broken

    sampler._tables = fail
    with pytest.raises(Broken):
        sampler.run(threading.Event())
    clock.advance_us(60_000_000)
    answer = json.loads(get("/api/sources").body)
    assert answer["time"] - answer["sampled"] == 60_000
    assert len(answer["sources"]) == 1
