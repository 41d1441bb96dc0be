"""The documentation site: it builds without a warning, every page shows all that it has, and its Python type-checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from datasources.embedded.process.ports import LOOPBACK
from tests.support.project import ROOT

pytestmark = pytest.mark.long

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TYPED_PAGES = (
    "README.md",
    "docs/sql.md",
    *(f"docs/start/{name}" for name in ("first-job.md", "from-with-watermark.md")),
)
PRELUDE = """from pyspark.sql import SparkSession, functions as F
from datasources import read_stream
from datasources.sql import TableEnvironment

spark = SparkSession.builder.getOrCreate()
kafka: dict[str, str] = {}
options: dict[str, str] = {}
t = TableEnvironment(spark)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def served(site):
    """The address of the site."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer((LOOPBACK, 0), partial(Handler, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_address[1]}"
        server.shutdown()


def test_every_page_loads_all_that_it_names_from_the_site(site, served, chromium):
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        chromium.get(f"{served}/{page}")
        loaded = chromium.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        assert [name for name in loaded if not name.startswith(served)] == [], page
        broken = "return [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src)"
        assert chromium.execute_script(broken) == [], page
        wider = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not chromium.execute_script(wider), page
    assert [entry["message"] for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_every_link_within_the_site_leads_somewhere(site, served, chromium):
    for page in sorted(site.rglob("*.html")):
        chromium.get(f"{served}/{page.relative_to(site)}")
        links = chromium.execute_script("return [...document.links].map((link) => link.href)")
        for link in {link.partition("#")[0] for link in links if link.startswith(served)}:
            path = site / link.removeprefix(f"{served}/")
            assert path.is_file() or (path / "index.html").is_file(), f"{page.relative_to(site)}: {link}"


def test_the_python_of_the_first_pages_type_checks(tmp_path):
    """Each block is a module; `spark`, `t`, `F`, `kafka` and `options` are what the pages call so."""
    for page in TYPED_PAGES:
        for number, block in enumerate(BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))):
            if not block.startswith('"'):
                name = f"{page.replace('/', '_').replace('-', '_').removesuffix('.md')}_{number}.py"
                (tmp_path / name).write_text(PRELUDE + block, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", os.devnull, "--ignore-missing-imports", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Success" in done.stdout, done.stdout
