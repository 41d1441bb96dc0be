"""The dashboard and the alerts ask for metrics that exist, and every alert has a test."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from datasources.observe.prometheus import METRICS
from tests.support.project import ROOT

FOLDER = ROOT / "monitoring"
NAME = re.compile(r"\btidemark_\w+")
KNOWN = {f"{each.name}_total" if each.is_counter else each.name for each in METRICS}


def dashboard():
    return json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))


def rules():
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return group["rules"]


@pytest.mark.parametrize("panel", dashboard()["panels"], ids=lambda panel: panel["title"])
def test_a_panel_asks_for_metrics_that_exist(panel):
    for target in panel["targets"]:
        assert set(NAME.findall(target["expr"])) <= KNOWN
        assert 'name=~"$name"' in target["expr"]
    assert panel["description"]


def test_panels_do_not_overlap_and_fill_their_rows():
    cells = [
        (at["x"] + x, at["y"] + y)
        for at in (panel["gridPos"] for panel in dashboard()["panels"])
        for x in range(at["w"])
        for y in range(at["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert len(cells) == 24 * (1 + max(y for _, y in cells))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_exist_and_is_tested(rule):
    assert set(NAME.findall(rule["expr"])) <= KNOWN
    assert {"summary", "description"} <= set(rule["annotations"])
    cases = yaml.safe_load((FOLDER / "alerts_test.yml").read_text(encoding="utf-8"))["tests"]
    fired = {each["alertname"] for case in cases for each in case["alert_rule_test"] if each.get("exp_alerts")}
    assert rule["alert"] in fired
