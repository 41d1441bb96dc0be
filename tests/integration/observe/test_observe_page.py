"""The page in a real browser: what it shows of scripted tables, and that it follows them."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from datasources.observe import start_observer
from datasources.observe.access import RemoteAccess
from tests.support.source.observed_tables import NOW_MS, hold, load, log, snapshot, split, table
from watermark.clock import ManualClock

pytestmark = pytest.mark.slow

WAIT_S: Final = 20
DASH: Final = "\u2013"


class Driver:
    """Stands for the driver's process: tables that a test changes, on a clock that moves a second per sample."""

    def __init__(self, *tables: dict[str, Any]) -> None:
        self.clock = ManualClock(NOW_MS * 1_000)
        self.tables = list(tables)
        self.plans = True
        self.is_stuck, self._respond, self._go_on = threading.Event(), threading.Event(), threading.Event()
        self.observer = start_observer(self._sample, clock=self.clock)

    def _sample(self) -> list[dict[str, Any]]:
        self.clock.advance_us(1_000_000)
        if self._respond.is_set():
            self.is_stuck.set()
            self._go_on.wait(WAIT_S)
        if self.plans:
            self.planned_ms = self.clock.now_us() // 1_000
        return [{**each, "time": self.planned_ms} for each in self.tables]

    def get_stuck(self) -> None:
        """Give no tables any more, until the driver ends."""
        self._respond.set()
        assert self.is_stuck.wait(WAIT_S)

    def close(self) -> None:
        """End."""
        self._go_on.set()
        self.observer.close()

    def restart(self) -> None:
        """Serve again at the same address."""
        self.observer.close()
        self.observer = start_observer(self._sample, port=urlsplit(self.observer.url).port, clock=self.clock)


class Page:
    """The page as a person sees it. What is looked for is waited for."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser = browser
        self.url = url

    def until(self, what: Any) -> Any:
        """Wait until `what(page)` is true; return it."""
        from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        wait = WebDriverWait(
            self.browser, WAIT_S, poll_frequency=0.1, ignored_exceptions=[StaleElementReferenceException]
        )
        try:
            return wait.until(lambda _: what(self))
        except TimeoutException:
            seen = self.browser.find_element("css selector", "body").text
            raise AssertionError(f"it never came true; the page says: {seen}") from None

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.until(lambda page: next(iter(page.all(selector)), None))

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def css(self, selector: str, name: str) -> str:
        script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
        self.one(selector)
        return self.browser.execute_script(script, selector, name)

    def attribute(self, selector: str, name: str) -> str | None:
        """The attribute of the first such element, None if there is none; read at once, as the chart is redrawn."""
        script = "return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null"
        return self.browser.execute_script(script, selector, name)

    def names(self) -> list[str]:
        script = "return [...document.querySelectorAll('tbody tr')].map((row) => row.dataset.split)"
        return self.browser.execute_script(script)

    def cell(self, name: str, column: str) -> str:
        return self.text(f'tr[data-split="{name}"] [data-column="{column}"]')

    def shows(self, *names: str) -> None:
        self.until(lambda page: page.names() == list(names))

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def emulate(self, **features: str) -> None:
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})


@pytest.fixture
def show(chromium):
    """Serve tables and open their page: (page, driver). No page may leave an error behind."""
    drivers = []

    def open_page(*tables):
        driver = Driver(*tables)
        drivers.append(driver)
        chromium.get_log("browser")
        chromium.get(driver.observer.url)
        page = Page(chromium, driver.observer.url)
        page.until(lambda page: page.attribute("body", "data-state"))
        return page, driver

    yield open_page
    elsewhere = chromium.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith(location.origin))"
    )
    errors = [
        entry["message"] for entry in chromium.get_log("browser") if "ERR_CONNECTION_REFUSED" not in entry["message"]
    ]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    chromium.get("about:blank")
    for driver in drivers:
        driver.close()
    assert (elsewhere, errors) == ([], [])


def four(**changes):
    """An aligned source with a split of every status."""
    splits = [
        split("orders-0", watermark=NOW_MS - 90_000, watermark_lag=90_000, lag=2_173, drift=0),
        split("orders-1", watermark=NOW_MS - 31_000, status="paused", paused_since=NOW_MS - 4_000, drift=59_000),
        split("orders-2", watermark=NOW_MS - 200_000, watermark_lag=200_000, status="idle", idle_since=NOW_MS - 60_000),
        split(
            "orders-10", watermark=NOW_MS - 40_000, status="finished", late_rows=12, max_lateness_ms=4_200, drift=None
        ),
    ]
    info = {
        "group": "g",
        "watermark": NOW_MS - 90_000,
        "max_allowed": NOW_MS - 30_000,
        "late_rows": 12,
        "max_lateness_ms": 4_200,
    }
    return table(*splits, **{**info, **changes})


def points(path):
    """[(x, y)] of the corners of a line of steps: M x y, then H x and V y."""
    found = []
    for command, first, second in re.findall(r"([MHV])(-?[\d.]+)(?: (-?[\d.]+))?", path):
        x = float(first) if command in "MH" else found[-1][0]
        y = float(second) if command == "M" else float(first) if command == "V" else found[-1][1]
        found.append((x, y))
    return found


# -- what is there --


def test_a_source_has_a_heading_with_its_watermark_and_how_far_it_is_behind(show):
    page, _ = show(four(bad_records=7))
    assert page.text("h2") == "topic orders"
    assert page.text(".about") == "query 6c1f2a · group g · batch 17 · run run-1"
    assert page.text('[data-figure="Watermark"] dd') == "2025-10-09T08:51:50.000Z"
    assert re.fullmatch(r"1 min 3\d s", page.text('[data-figure="Behind the clock"] dd'))
    assert page.text('[data-figure="Status"] dd') == "active"
    assert page.text('[data-figure="Splits"] dd') == "1 active, 1 paused, 1 idle, 1 finished"
    assert page.text('[data-figure="Late rows"] dd') == "12, up to 4.2 s"
    assert page.text('[data-figure="Bad records"] dd') == "7"
    assert page.all('[data-figure="Lost positions"]') == []


def test_a_snapshot_scan_shows_its_progress(show):
    page, driver = show(four(snapshot=snapshot()))
    assert page.text('[data-figure="Snapshot"] dd') == (
        "shop.orders: 12 of about 40 chunks, 600,000 of about 2,000,000 rows, 55,000 rows/s, about 25 s left"
    )
    driver.tables = [four(snapshot=snapshot(seconds_left=None))]
    page.until(lambda page: page.text('[data-figure="Snapshot"] dd').endswith("time left not known yet"))
    driver.tables = [four(snapshot=snapshot(status="done", table=None, chunks=40, rows=1_999_998))]
    page.until(lambda page: page.text('[data-figure="Snapshot"] dd') == "done: 40 chunks, 1,999,998 rows")
    driver.tables = [four()]
    page.until(lambda page: not page.all('[data-figure="Snapshot"]'))


def test_a_log_that_is_purged_soon_is_shown(show):
    page, driver = show(four(log=log()))
    assert page.text('[data-figure="Purge"] dd') == (
        "the oldest unread change is 1 d 3 h old, and the server purges its log after 2 d"
    )
    driver.tables = [four(log=log(unread_age_ms=0))]
    page.until(lambda page: not page.all('[data-figure="Purge"]'))


@pytest.mark.parametrize("is_named", [True, False])
def test_a_page_of_a_named_origin_shows_it_in_a_frame(chromium, is_named):
    """Such as a notebook: another page, at another port."""

    class Notebook(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe src="{observer.url}" width="900" height="640"></iframe>'.encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Notebook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_address[1]}"
        remote = RemoteAccess(frames=(origin,) if is_named else ())
        observer = start_observer(lambda: [four()], clock=ManualClock(NOW_MS * 1_000), remote=remote)
        try:
            page = Page(chromium, origin)
            chromium.get(origin)
            chromium.switch_to.frame(page.one("iframe"))
            if is_named:
                assert page.text("h2") == "topic orders"
            else:
                page.until(lambda page: page.all("body"))
                assert page.all("h2") == []
        finally:
            chromium.switch_to.default_content()
            observer.close()
            server.shutdown()


def test_a_waiting_source_shows_its_build_sources_and_their_progress(show):
    page, driver = show(four(hold=hold()))
    shown = page.text('[data-figure="Waits"] dd')
    assert shown.startswith("for rates since ")
    assert ", loading, snapshot shop.orders: 12 of about 40 chunks, " in shown
    driver.tables = [four(load=load())]
    page.until(lambda page: page.text('[data-figure="Waits"] dd') == "others, for rates: 1,200 unread")
    driver.tables = [four(hold=hold(status="released", released=3, builds=[]))]
    page.until(lambda page: not page.all('[data-figure="Waits"]'))


def test_a_source_whose_servers_do_not_answer_shows_since_when_and_why(show):
    since = {"unanswered_since": NOW_MS - 9_000, "unanswered_reason": "timed out"}
    page, driver = show(table(split("orders-0"), split("orders-1", **since), unanswered_splits=1))
    shown = page.text('[data-figure="No answer"] dd')
    assert shown == "about 1 of 2 splits; orders-1 since 2025-10-09T08:53:11Z: timed out"
    driver.tables = [table(split("orders-0"), split("orders-1"))]
    page.until(lambda page: not page.all('[data-figure="No answer"]'))


def test_every_split_has_a_row_with_its_figures(show):
    page, _ = show(four())
    page.shows("orders-0", "orders-1", "orders-2", "orders-10")
    row = {
        "status": "active",
        "watermark": "2025-10-09T08:51:50.000Z",
        "watermark_lag": "1 min 30 s",
        "lag": "2,173",
        "position": "1,234",
        "drift": "0 ms",
        "since": DASH,
        "late_rows": "0",
        "max_lateness_ms": DASH,
    }
    assert {column: page.cell("orders-0", column) for column in row} == row
    assert page.cell("orders-1", "since") == "2025-10-09T08:53:16Z"
    assert page.cell("orders-2", "since") == "2025-10-09T08:52:20Z"
    assert (page.cell("orders-10", "late_rows"), page.cell("orders-10", "max_lateness_ms")) == ("12", "4.2 s")


def test_each_status_has_a_colour_a_word_a_sign_and_a_line_of_its_own(show):
    page, _ = show(four())
    names = {"active": "orders-0", "paused": "orders-1", "idle": "orders-2", "finished": "orders-10"}
    page.one(".chart path.split.finished")
    colours, signs, dashes = set(), set(), set()
    for status, name in names.items():
        cell = f'tr[data-split="{name}"] [data-column="status"]'
        line = f'.chart path[data-split="{name}"]'
        assert page.text(cell) == status
        assert page.css(cell, "color") == page.css(line, "stroke")
        colours.add(page.css(line, "stroke"))
        dashes.add(page.css(line, "strokeDasharray"))
        signs.add(
            page.browser.execute_script("return document.querySelector(arguments[0]).outerHTML", f"{cell} .mark > *")
        )
    assert [len(found) for found in (colours, signs, dashes)] == [4, 4, 4]
    legend = page.text(".legend")
    assert all(f"{status} split" in legend for status in names)


def test_the_chart_has_the_combined_watermark_and_the_limit(show):
    page, _ = show(four())
    page.one(".chart path.line.combined")
    page.one(".chart path.line.limit")
    assert "limit of alignment" in page.text(".legend")
    assert page.css(".chart path.line.combined", "strokeWidth") > page.css(".chart path.split.active", "strokeWidth")
    assert "Combined: 2025-10-09T08:51:50Z. orders-0 is the slowest split" in page.attribute(".chart", "aria-label")


def test_without_alignment_there_is_no_limit_and_no_drift(show):
    page, _ = show(table(split("orders-0")))
    page.one(".chart path.line.combined")
    assert page.all(".chart path.line.limit") == []
    assert page.css('th[data-column="drift"]', "display") == "none"
    assert page.attribute(".more", "hidden") is not None


def test_of_200_splits_the_worst_are_shown_and_the_rest_is_a_band(show):
    splits = [split(f"s{at}", watermark=NOW_MS - at * 1_000, watermark_lag=at * 1_000) for at in range(200)]
    page, _ = show(table(*splits, watermark=NOW_MS - 199_000))
    page.shows(*(f"s{at}" for at in range(199, 187, -1)))
    assert page.text("caption") == "12 of 200 splits, those that hold the source back first"
    drawn = {path.get_attribute("data-split") for path in page.all(".chart path[data-split]")}
    assert drawn == {f"s{at}" for at in range(194, 200)}
    page.one(".chart path.band")
    page.one(".more").click()
    page.until(lambda page: len(page.names()) == 200)
    assert page.text(".more") == "Show 12"
    page.one(".more").click()
    page.until(lambda page: len(page.names()) == 12)


def test_a_split_of_many_is_drawn_when_it_is_chosen(show):
    page, _ = show(table(*(split(f"s{at}", watermark=NOW_MS - at * 1_000) for at in range(30))))
    page.until(lambda page: len(page.names()) == 12)
    assert page.all('.chart path[data-split="s20"]') == []
    page.one('tr[data-split="s20"] .pin').click()
    page.one('.chart path[data-split="s20"]')
    assert page.attribute('tr[data-split="s20"] .pin', "aria-pressed") == "true"


# -- what follows the driver --


def test_the_lines_move_with_new_samples(show):
    page, driver = show(four())
    combined = (
        '.chart path.line.combined[d*="H"]'  # from the second sample on there is a line and not only its beginning
    )
    first = page.until(lambda page: page.attribute(combined, "d"))
    driver.tables = [four(watermark=NOW_MS - 60_000)]
    later = page.until(lambda page: (d := page.attribute(combined, "d")) != first and "V" in d and d)
    assert points(later)[-1][1] < points(later)[0][1]  # a later watermark is higher
    # the chart is asked for after the figures, so it can be one sample ahead of them
    page.until(lambda page: page.text('[data-figure="Watermark"] dd') == "2025-10-09T08:52:20.000Z")


def test_a_split_that_is_paused_changes_its_row_and_its_line(show):
    page, driver = show(table(split("orders-0"), split("orders-1", watermark=NOW_MS)))
    row = 'tr[data-split="orders-1"]'
    page.until(lambda page: page.attribute(row, "data-status") == "active")
    before = page.css(f"{row} [data-column=status]", "color")
    assert page.all(".chart path.split.paused") == []
    driver.tables = [
        table(split("orders-0"), split("orders-1", watermark=NOW_MS, status="paused", paused_since=NOW_MS))
    ]
    page.until(lambda page: page.attribute(row, "data-status") == "paused")
    page.one('.chart path.split.paused[data-split="orders-1"]')
    assert page.css(f"{row} [data-column=status]", "color") != before
    assert page.css(".chart path.split.paused", "strokeDasharray") != "none"
    assert page.cell("orders-1", "since") == "2025-10-09T08:53:20Z"
    assert "paused split" in page.text(".legend")
    driver.tables = [table(split("orders-0"), split("orders-1", watermark=NOW_MS))]
    page.until(lambda page: page.attribute(row, "data-status") == "active")
    assert page.css(f"{row} [data-column=status]", "color") == before
    assert page.all('.chart path.split.paused[data-split="orders-1"]') != []  # the past keeps its colour


def test_splits_and_sources_come_and_go(show):
    page, driver = show()
    assert "No source is running" in page.text(".empty")
    driver.tables = [table(split("a"))]
    page.shows("a")
    assert page.all(".empty") == []
    driver.tables = [table(split("b"), source="run-2", name="topic payments"), table(split("a"), split("c"))]
    page.shows("b", "a", "c")
    assert [link.text.split("\n")[0] for link in page.all("nav a")] == ["topic payments", "topic orders"]
    driver.tables = [table(split("b"), source="run-2", name="topic payments")]
    page.shows("b")
    assert page.browser.title == "Tidemark: 1 source"
    driver.tables = []
    assert "No source is running" in page.text(".empty")


def test_a_driver_that_is_gone_is_called_so_and_its_last_state_stays(show):
    page, driver = show(table(split("a")))
    page.shows("a")
    driver.observer.close()
    banner = page.until(lambda page: page.text("#banner"))
    assert banner.startswith("No answer from the driver since 2025-10-09T08:53:")
    assert "Below is the last known state." in banner
    assert page.attribute("body", "data-state") == "gone"
    assert page.names() == ["a"]
    driver.tables = [table(split("a"), split("b"))]
    driver.restart()
    page.shows("a", "b")
    page.until(lambda page: page.attribute("body", "data-state") == "live")
    assert not page.one("#banner").is_displayed()


def test_figures_that_got_old_are_called_so(show):
    page, driver = show(table(split("a")))
    page.shows("a")
    driver.get_stuck()
    driver.clock.advance_us(60_000_000)
    banner = page.until(lambda page: page.text("#banner"))
    assert "The driver answers, but its figures are from 2025-10-09T08:53:" in banner
    assert page.attribute("body", "data-state") == "stale"


def test_a_source_that_planned_long_ago_is_called_so(show):
    page, driver = show(table(split("a")))
    page.shows("a")
    assert "ago" not in page.text(".about")
    driver.plans = False
    driver.clock.advance_us(60_000_000)
    page.until(
        lambda page: re.search(
            r"planned 1 min( \d+ s)? ago: the figures are of 2025-10-09T08:53:2\dZ", page.text(".about")
        )
    )
    page.until(lambda page: page.attribute("body", "data-state") == "live")


def test_a_reader_can_stop_the_page_and_go_on(show):
    page, driver = show(table(split("a")))
    page.shows("a")
    page.one("#pause").click()
    assert page.text("#status").startswith("Paused at 2025-10-09T08:53:")
    calls = driver.clock.now_us()
    driver.tables = [table(split("a"), split("b"))]
    page.until(lambda _: driver.clock.now_us() >= calls + 3_000_000)
    assert page.names() == ["a"]
    page.one("#pause").click()
    page.shows("a", "b")


# -- who reads it, and how --


def test_the_table_is_sorted_from_the_keyboard(show):
    from selenium.webdriver.common.keys import Keys

    page, _ = show(four())
    page.shows("orders-0", "orders-1", "orders-2", "orders-10")
    page.one('th[data-column="watermark"] button').send_keys(Keys.ENTER)
    page.shows("orders-2", "orders-0", "orders-10", "orders-1")
    assert page.attribute('th[data-column="watermark"]', "aria-sort") == "ascending"
    page.press(Keys.ENTER)
    page.shows("orders-1", "orders-10", "orders-0", "orders-2")
    page.press(Keys.ENTER)
    page.shows("orders-0", "orders-1", "orders-2", "orders-10")
    assert page.attribute('th[data-column="watermark"]', "aria-sort") == "none"


def test_the_focus_stays_where_it_is_when_figures_change(show):
    from selenium.webdriver.common.keys import Keys

    page, driver = show(table(split("a"), split("b")))
    page.shows("a", "b")
    page.one('tr[data-split="b"] .pin').send_keys(Keys.NULL)
    driver.tables = [table(split("0"), split("a"), split("b", lag=5))]
    page.shows("0", "a", "b")
    page.until(lambda page: page.cell("b", "lag") == "5")
    assert page.browser.switch_to.active_element.text == "b"


def test_every_control_can_be_reached_with_the_tabulator(show):
    from selenium.webdriver.common.keys import Keys

    page, _ = show(table(split("a"), split("b")), table(split("c"), source="run-2"))
    page.until(lambda page: len(page.names()) == 3)
    page.browser.execute_script("window.reached = new Set()")
    for _ in range(60):
        page.press(Keys.TAB)
        page.browser.execute_script("window.reached.add(document.activeElement)")
    missed = page.browser.execute_script(
        "return [...document.querySelectorAll('a, button, .chart, .scroll')]"
        ".filter((one) => one.getClientRects().length && !window.reached.has(one)).map((one) => one.outerHTML)"
    )
    assert missed == []


def test_the_chart_is_read_with_the_arrow_keys_and_with_the_pointer(show):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    page, _ = show(four())
    page.one('.chart path.line.combined[d*="H"]')
    page.one(".chart").send_keys(Keys.HOME)
    assert re.match(
        r"2025-10-09T08:53:2\dZ: combined 2025-10-09T08:51:50.000Z \(1 min 3\d s behind\)", page.text(".readout")
    )
    page.press(Keys.ESCAPE)
    page.until(lambda page: page.text(".readout") == "")
    ActionChains(page.browser).move_to_element(page.one(".chart")).perform()
    page.until(lambda page: "combined 2025-10-09T08:51:50.000Z" in page.text(".readout"))


def luminance(colour):
    def linear(value):
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(float(part) / 255) for part in re.findall(r"[\d.]+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_lines_stand_out_in_both_schemes(show, scheme):
    page, _ = show(four())
    page.emulate(prefers_color_scheme=scheme)
    page.until(lambda page: (luminance(page.css("body", "backgroundColor")) > 0.5) == (scheme == "light"))
    card = page.css(".source", "backgroundColor")
    cells = [
        f'tr[data-status="{status}"] [data-column="status"]' for status in ("active", "paused", "idle", "finished")
    ]
    for selector in ("h2", ".about", ".legend", "td.loss", '[data-figure="Watermark"] dd', *cells):
        assert contrast(page.css(selector, "color"), card) >= 4.5, selector
    for selector in (
        ".chart path.combined",
        ".chart path.limit",
        ".chart path.active",
        ".chart path.paused",
        ".chart path.idle",
        ".chart path.finished",
    ):
        assert contrast(page.css(selector, "stroke"), card) >= 3, selector
    assert contrast(page.css(".tick", "fill"), card) >= 4.5


def test_a_small_screen_shows_the_page_without_scrolling_sideways(show):
    page, _ = show(four())
    page.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        page.one(".chart path.line.combined")
        assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


HOSTILE: Final = [
    "<img src=x onerror='window.hurt=1'>",
    "</title><script>window.hurt=1</script>",
    '"><svg onload="window.hurt=1">',
    "javascript:window.hurt=1",
    "url(#x) & `${1}` \\ ] [data-split=x]",
    "long " * 60,
]


def test_names_are_text_whatever_they_are(show):
    splits = [split(name, watermark=NOW_MS - at) for at, name in enumerate(HOSTILE)]
    page, _ = show(table(*splits, name=HOSTILE[0], query=HOSTILE[1], group=HOSTILE[2], source=HOSTILE[3]))
    page.until(lambda page: sorted(page.names()) == sorted(HOSTILE))
    page.one(".chart path.line.combined")
    assert page.text("h2") == HOSTILE[0]
    assert page.browser.execute_script("return window.hurt ?? null") is None
    assert page.all("img, main script, svg[onload]") == []


def test_what_is_not_known_and_what_has_no_bounds_does_not_break_the_page(show):
    splits = [
        split("none", watermark=None, lag=None, position=None),
        split("end", watermark=253_402_300_799_999, status="finished"),
        split("far", watermark=-(10**15), status="idle", idle_since=0),
        split("new", status="asleep"),
    ]
    page, _ = show(
        table(*splits, watermark=None, query=None, status="processing-time"), table(source="run-2", watermark=None)
    )
    page.shows("end", "far", "new", "none")
    assert page.cell("none", "watermark") == DASH
    assert (page.cell("end", "watermark"), page.cell("end", "watermark_lag")) == ("end of input", DASH)
    assert page.cell("far", "watermark") == "-029719-04-05T22:13:20.000Z"
    assert page.text('[data-figure="Watermark"] dd') == DASH
    page.until(lambda page: page.attribute("body", "data-state") == "live")


def test_a_split_at_the_end_of_its_input_does_not_stretch_the_chart(show):
    end = 253_402_300_799_999
    page, _ = show(table(split("a"), split("end", watermark=end, status="finished"), watermark=end, max_allowed=end))
    page.one('.chart path[data-split="a"]')
    assert page.all('.chart path[data-split="end"], .chart path.combined, .chart path.limit') == []
    assert "08:53:15" in [tick.text for tick in page.all(".tick")]
