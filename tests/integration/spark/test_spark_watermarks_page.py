"""docs/spark-watermarks.md says what Spark does: every claim of it is run, and page and proof say the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.spark_watermarks.__main__ import mismatch
from examples.spark_watermarks.claim import Observed
from examples.spark_watermarks.claims import CLAIMS
from examples.spark_watermarks.settings import SETTINGS
from examples.spark_watermarks.sides import Stage
from tests.support.forms import full
from tests.support.project import ROOT
from tests.support.spark.scripted_stream import settings

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PAGE = (ROOT / "docs" / "spark-watermarks.md").read_text(encoding="utf-8")
NAMES = [claim.name for claim in CLAIMS]
FEW = ("late-rows",)
NOT_CLAIMS = ["What changes in your job", "Where to find it in Spark"]


@pytest.mark.parametrize("claim", [claim if claim.name in FEW else full(claim)[0] for claim in CLAIMS], ids=NAMES)
def test_both_sides_give_what_the_page_claims(spark, tmp_path, claim):
    with settings(spark, SETTINGS):
        observed = claim.prove(Stage(spark, tmp_path))
    assert observed == claim.expected
    assert claim.line(observed) in PAGE.splitlines()


def test_the_pages_table_holds_every_claim_and_nothing_else():
    table = [line for line in PAGE.splitlines() if re.match(r"\| `[a-z-]+` \|", line)]
    assert table[: len(CLAIMS)] == [claim.line(claim.expected) for claim in CLAIMS]


def test_every_claim_has_its_section():
    assert sorted(re.findall(r"^## (.+)$", PAGE, re.MULTILINE)) == sorted(NAMES + NOT_CLAIMS)


def test_every_link_of_the_page_leads_somewhere():
    anchors = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", PAGE, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
    files = set(re.findall(r"\]\(([^)#:]+)\)", PAGE)) | set(re.findall(r"`(tests/[\w/.]+)`", PAGE))
    assert [name for name in files if not ((ROOT / "docs" / name).exists() or (ROOT / name).exists())] == []


def test_every_class_and_setting_that_the_page_names_exists(spark):
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    classes = re.findall(r"`(org\.apache\.spark\.[\w.]+)`", PAGE)
    assert len(classes) == 12
    for name in classes:
        loader.loadClass(name)
    keys = set(re.findall(r"`(spark\.sql\.streaming\.[\w.]+)`", PAGE))
    assert len(keys) == 3
    for key in keys:
        assert spark.conf.get(key) is not None


@pytest.mark.long
def test_the_command_prints_the_line_of_the_page_and_ends_with_json(tmp_path):
    done = command(tmp_path, "lost-attribute")
    assert done.returncode == 0, done.stdout + done.stderr
    *table, last = done.stdout.splitlines()
    claim = CLAIMS[NAMES.index("lost-attribute")]
    assert table == ["| claim | Spark | Tidemark |", "|---|---|---|", claim.line(claim.expected)]
    figures = json.loads(last)
    assert (figures["claims"], figures["wrong"]) == (1, [])
    assert figures["observed"][claim.name] == {"spark": claim.expected.spark, "tidemark": claim.expected.tidemark}
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("hsperfdata")] == []


def test_the_command_knows_its_claims_by_name(tmp_path):
    done = command(tmp_path, "no-such-claim")
    assert done.returncode == 2
    assert "no such claim: no-such-claim" in done.stdout
    assert all(name in done.stdout for name in NAMES)


def test_a_claim_that_does_not_hold_is_named_and_is_the_exit_status():
    first, second, *_ = CLAIMS
    other = Observed(spark=first.expected.spark, tidemark="something else")
    figures, status = mismatch({first.name: other, second.name: second.expected}, [first, second])
    assert (figures["wrong"], status) == ([first.name], 1)
    assert mismatch({second.name: second.expected}, [second])[1] == 0


def command(temporary: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.spark_watermarks", *names],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
