"""The console script: what it prints, where, and how it ends."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from datasources.demo import command
from datasources.demo.results.outcome import Outcome
from datasources.demo.spark import spark_probe
from datasources.demo.story import broker
from datasources.errors import SourceUnavailable
from datasources.session import FORMATS
from tests.support.console import console_script
from tests.support.demo_outcome import demo_outcome
from watermark.__main__ import main as replay_main

REPLAYS = Path(__file__).parents[1] / "replays"


@pytest.fixture
def tidemark(monkeypatch, capfd):
    """Run the console script: arguments in, (exit status, output, errors) out."""
    return console_script(monkeypatch, capfd)


@pytest.fixture
def demo_gives(monkeypatch, tmp_path):
    """Let the demo end with an outcome or an error, without running it; return where its page goes."""

    def give(result):
        def run(_story, settings, _directory, _display) -> Outcome:
            give.settings = settings
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(command, "run_demo", run)
        return tmp_path / "demo.html"

    return give


def test_the_version_is_that_of_the_distribution(tidemark):
    assert tidemark("--version") == (0, f"tidemark {importlib.metadata.version('tidemark-spark')}\n", "")


def test_the_help_lists_every_command(tidemark):
    status, output, _ = tidemark("--help")
    assert status == 0
    assert all(name in output for name in ("demo", "doctor", "options", "replay", "sql", "watch"))


def test_shells_complete_the_commands():
    """The shell runs the script with what was typed so far."""
    given = {"_TIDEMARK_COMPLETE": "complete_bash", "COMP_WORDS": "tidemark d", "COMP_CWORD": "1"}
    script = Path(sys.executable).with_name("tidemark")
    done = subprocess.run([script], env={**os.environ, **given}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["demo", "doctor"]


def test_a_replay_prints_what_the_module_prints(tidemark, capfd):
    for file in sorted(REPLAYS.glob("r0*.json")):
        status = replay_main([str(file)])
        expected = capfd.readouterr()
        assert tidemark("replay", str(file)) == (status, expected.out, expected.err)


@pytest.mark.parametrize("name", ["no_such_file.json", "malformed/not_json.json"])
def test_a_replay_that_cannot_be_read_is_one_line_and_status_2(tidemark, name):
    status, output, errors = tidemark("replay", str(REPLAYS / name))
    assert (status, output) == (2, "")
    assert len(errors.splitlines()) == 1


def test_options_of_both_sources_are_printed_with_their_defaults(tidemark):
    status, output, _ = tidemark("options")
    assert status == 0
    for key in ("startingOffsets", "scripted.bounded", "watermark.for", "maxOffsetsPerTrigger", "(required)"):
        assert key in output


def test_options_of_one_source_leave_the_other_out(tidemark):
    _, output, _ = tidemark("options", "tidemark-scripted")
    assert "scripted.bounded" in output
    assert "startingOffsets" not in output
    assert "true | false" in output


@pytest.mark.parametrize("source", FORMATS)
def test_options_of_every_format_are_printed(tidemark, source):
    status, output, errors = tidemark("options", source.name())
    assert (status, errors) == (0, "")
    assert source.name() in output
    assert "watermark.for" in output


def test_options_of_an_unknown_format_name_the_known_ones(tidemark):
    status, output, errors = tidemark("options", "kafka")
    assert (status, output) == (2, "")
    assert "Did you mean 'tidemark-kafka'?" in errors
    assert "tidemark-kafka, tidemark-mysql, tidemark-scripted" in errors
    assert "Traceback" not in errors


def test_a_demo_that_shows_what_it_claims_ends_with_0_and_a_page(tidemark, demo_gives):
    page = demo_gives(demo_outcome())
    status, output, errors = tidemark("demo", "--page", str(page))
    assert (status, errors) == (0, "")
    assert str(page) in output
    assert page.read_text().startswith("<!doctype html>")
    assert [file.name for file in page.parent.glob("*.svg")] == []


def test_a_demo_draws_its_picture_where_it_is_asked_to(tidemark, demo_gives, tmp_path):
    page, picture = demo_gives(demo_outcome()), tmp_path / "demo.svg"
    status, _, errors = tidemark("demo", "--page", str(page), "--picture", str(picture))
    assert (status, errors) == (0, "")
    assert picture.read_text().startswith("<svg xmlns=")


def test_a_picture_that_cannot_be_written_is_known_before_anything_starts(tidemark, demo_gives, tmp_path):
    page = demo_gives(ZeroDivisionError("must not be reached"))
    status, _, errors = tidemark("demo", "--page", str(page), "--picture", str(tmp_path / "no" / "demo.svg"))
    assert status == 2
    assert "name another file with --picture" in errors


@pytest.mark.parametrize(
    ("losses", "sentence"),
    [({"tidemark_loses": 1}, "Tidemark lost 10 orders"), ({"spark_loses": 0}, "Spark's own watermark lost no order")],
)
def test_a_demo_that_does_not_is_a_failure_in_one_sentence(tidemark, demo_gives, losses, sentence):
    page = demo_gives(demo_outcome(**losses))
    status, output, _ = tidemark("demo", "--page", str(page))
    assert status == 1
    assert f"FAILED: {sentence}" in output
    assert page.exists()


def test_an_error_of_ours_is_one_paragraph_and_status_2(tidemark, demo_gives):
    page = demo_gives(SourceUnavailable("nobody there"))
    assert tidemark("demo", "--page", str(page)) == (2, "", "tidemark: [TIDEMARK_SOURCE_UNAVAILABLE] nobody there\n")
    assert not page.exists()


def test_what_nobody_foresaw_is_one_paragraph_too_and_leaves_its_log(tidemark, demo_gives):
    page = demo_gives(ZeroDivisionError("by chance\nsecond line"))
    status, _, errors = tidemark("demo", "--page", str(page))
    assert status == 2
    assert errors.count("\n") == 1
    assert "ZeroDivisionError: by chance; its log is" in errors
    assert "Traceback" in page.with_suffix(".log").read_text()


def test_a_page_that_cannot_be_written_is_known_before_anything_starts(tidemark, demo_gives, tmp_path):
    demo_gives(ZeroDivisionError("must not be reached"))
    status, _, errors = tidemark("demo", "--page", str(tmp_path / "no" / "demo.html"))
    assert status == 2
    assert "cannot be written" in errors


def test_the_demo_without_java_names_how_to_install_it(tidemark, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    status, _, errors = tidemark("demo", "--page", str(tmp_path / "demo.html"))
    assert status == 2
    assert "JAVA_HOME" in errors
    assert "openjdk" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("variables", "servers"),
    [
        ({}, None),
        ({"TIDEMARK_DEMO_KAFKA": "a:1"}, "a:1"),
        ({"TIDEMARK_KAFKA": "b:2"}, "b:2"),
        ({"TIDEMARK_DEMO_KAFKA": "a:1", "TIDEMARK_KAFKA": "b:2"}, "a:1"),
        ({"TIDEMARK_DEMO_KAFKA": " "}, None),
    ],
)
def test_a_running_kafka_is_named_by_the_environment(tidemark, demo_gives, monkeypatch, variables, servers):
    page = demo_gives(demo_outcome())
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    tidemark("demo", "--page", str(page))
    assert demo_gives.settings.bootstrap_servers == servers


def test_a_running_kafka_that_is_named_as_an_option_wins(tidemark, demo_gives, monkeypatch):
    page = demo_gives(demo_outcome())
    monkeypatch.setenv("TIDEMARK_DEMO_KAFKA", "a:1")
    tidemark("demo", "--page", str(page), "--bootstrap-servers", "c:3")
    assert demo_gives.settings.bootstrap_servers == "c:3"


def test_the_doctor_ends_with_1_if_something_must_be_mended(tidemark, monkeypatch, tmp_path):
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "python"))
    status, output, _ = tidemark("doctor")
    assert status == 1
    assert f"PYSPARK_PYTHON={sys.executable}" in output.replace("\n", "")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert tidemark("doctor")[0] == 0


def test_the_doctor_checks_brokers_and_spark_only_on_request(tidemark, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setattr(broker, "require_answer", lambda _servers: None)
    monkeypatch.setattr(spark_probe, "probe_spark", lambda: [("Spark job", "broke", "mend Spark")])
    assert "Kafka at a:1" not in tidemark("doctor")[1]
    assert "Kafka at a:1" in tidemark("doctor", "--bootstrap-servers", "a:1")[1]
    status, output, _ = tidemark("doctor", "--spark")
    assert (status, "Spark job: mend Spark" in output) == (1, True)


def test_a_mistyped_option_is_a_usage_error_without_a_traceback(tidemark):
    status, _, errors = tidemark("demo", "--sead", "3")
    assert status == 2
    assert "--sead" in errors
    assert "Traceback" not in errors
