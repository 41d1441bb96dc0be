"""A real Prometheus scrapes a real query: every panel has an answer, and the alerts are those of its state."""

from __future__ import annotations

import json
import subprocess
import urllib.error
from urllib.parse import urlsplit

import pytest
import yaml
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.documented_code import blocks_of
from tests.support.project import ROOT
from tests.support.prometheus import prometheus_program, prometheus_server
from tests.support.source.loopback import wait_until
from tests.support.spark.observed_page import observed_page
from tests.support.spark.scripted_stream import Scripts, running

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.usefixtures("tiny_queries", "prometheus")]

FOLDER = ROOT / "monitoring"
OF_OTHERS = {
    "Reading of tables: rows left",
    "Reading of tables: time left",
    "MySQL: age of the oldest unread change",
    "Commits to consumer groups",
}
"""Panels of sources of MySQL and of Kafka."""


@pytest.fixture
def page(spark):
    """The address of the page of an application, as host:port."""
    with observed_page(spark) as url:
        yield urlsplit(url).netloc


def test_the_alerts_pass_their_tests():
    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run(
            [prometheus_program("promtool"), *command], cwd=FOLDER, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_panel_shows_a_running_query_and_the_alerts_its_state(spark, tmp_path, page):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s-0", *((1_000 + n * 10, "a", "") for n in range(20)), (5, "a", "late"))
    scripts.append("s-1", *((n * 10, "b", "") for n in range(20)))
    changes = {"scan.watermark.alignment.group": "seen", "scan.watermark.alignment.max-drift": "10 s"}
    stream = scripts.stream(spark, changes).groupBy(F.window("ts", "10 seconds")).count()
    panels = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    (tmp_path / "prometheus").mkdir()
    with running(stream) as query, prometheus_server(tmp_path / "prometheus", page, FOLDER / "alerts.yml") as server:
        query.drain()
        wait_until(lambda: _answered(server, "tidemark_split_watermark_alignment_drift_seconds"))
        wait_until(lambda: _answered(server, "rate(tidemark_source_batch[5m])"))  # two scrapes
        for panel in panels:
            for target in panel["targets"]:
                expression = target["expr"].replace("$name", ".*")
                found = server.ask(expression)
                assert bool(found) is (panel["title"] not in OF_OTHERS), (panel["title"], found)
        (written,) = (block.text for block in blocks_of("docs/observe.md") if " > 600 " in block.text)
        for line in written.strip().splitlines():
            server.ask(line.partition("#")[0])  # what is no query is an error
        wait_until(lambda: _answered(server, 'ALERTS{alertname="TidemarkWatermarkBehind"}'))  # of 1970: far behind
        found = {each["metric"]["alertname"] for each in server.ask("ALERTS")}
        assert found <= {rule["alert"] for rule in group["rules"]}
        assert not found & {
            "TidemarkLostPositions",
            "TidemarkBadRecords",
            "TidemarkServerSilent",
            "TidemarkSnapshotStalled",
            "TidemarkPurgeNear",
            "TidemarkCommitsFail",
        }


def _answered(server, expression):
    try:
        return bool(server.ask(expression))
    except (urllib.error.URLError, ConnectionError):  # it starts
        return False
