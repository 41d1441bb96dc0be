"""A real browser without a window: Debian's Chromium, driven through its own driver.

Nothing is fetched: where the two programs are missing, the tests report that they were not run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from datasources.errors import EnvironmentProblem

__all__ = ["find_chromium", "open_browser"]

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_DRIVER: Final = "chromedriver"
_FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",  # it runs as root in containers, and opens our own page only
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--window-size=1280,1000",
)


def find_chromium() -> tuple[str, str]:
    """Return the programs: browser and driver.

    Raises:
        EnvironmentProblem: one of them, or the library that speaks to them, is missing.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which(_DRIVER)
    try:
        import selenium  # noqa: F401 - whether it is there
    except ImportError:
        raise EnvironmentProblem("selenium is not installed. Run `make setup`.") from None
    if browser is None or driver is None:
        raise EnvironmentProblem(
            "there is no Chromium with its driver. On Debian: apt-get install chromium chromium-driver"
        )
    return browser, driver


@contextmanager
def open_browser(directory: Path) -> Iterator[Any]:
    """Yield a browser that keeps its files in a directory; it is closed at the end.

    Raises:
        EnvironmentProblem: there is no Chromium on this machine.
    """
    binary, driver = find_chromium()
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={directory}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    environment = {**os.environ, "NO_PROXY": "127.0.0.1,localhost"}
    browser = webdriver.Chrome(options=options, service=Service(driver, env=environment))
    try:
        yield browser
    finally:
        browser.quit()
