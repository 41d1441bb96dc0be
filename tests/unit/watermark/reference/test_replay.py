"""Every timeline of this folder gives exactly the lines beside it; files in ``malformed/`` are refused with their reason.

``NAME.json`` is a timeline, ``NAME.jsonl`` what the reader emits. Files named ``rNN_...`` are replays of Flink's own
tests, by their number in the list that the project works from; the others hold one rule each, which is their name.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest

from tests.support.project import ROOT
from watermark import InvalidTimeline
from watermark.reference import parse_timeline, replay

_HERE = ROOT / "tests" / "replays"
_ROOT = _HERE.parent.parent
_TIMELINES = sorted(_HERE.glob("*.json"))
_MALFORMED = sorted((_HERE / "malformed").glob("*.json"))
_AS_PROCESS = [
    "r02_idle_split_does_not_hold_back",
    "r03_all_idle_emits_the_maximum",
    "r04_never_any_split_says_nothing",
    "alignment_pauses_and_resumes",
    "processing_time_before_the_watermark_fails",
]


@pytest.mark.parametrize("path", _TIMELINES, ids=lambda path: path.stem)
def test_a_timeline_gives_the_lines_beside_it(path):
    lines = [json.dumps(line, separators=(",", ":")) for line in replay(parse_timeline(path.read_text()))]
    assert lines == path.with_suffix(".jsonl").read_text().splitlines()


@pytest.mark.parametrize("path", _TIMELINES, ids=lambda path: path.stem)
def test_emitted_watermarks_rise_and_status_lines_alternate(path):
    lines = list(replay(parse_timeline(path.read_text())))
    watermarks = [
        float("inf") if line["watermark"] == "max" else line["watermark"] for line in lines if "watermark" in line
    ]
    assert watermarks == sorted(set(watermarks))
    statuses = ["active", *(line["status"] for line in lines if "status" in line)]
    assert all(before != after for before, after in itertools.pairwise(statuses))


def test_every_timeline_has_its_lines_and_every_line_file_its_timeline():
    assert {path.stem for path in _TIMELINES} == {path.stem for path in _HERE.glob("*.jsonl")}
    assert len(_TIMELINES) > 70


@pytest.mark.parametrize("name", _AS_PROCESS)
def test_the_command_prints_the_lines_and_exits_with_0_or_with_1_after_an_error(name):
    expected = (_HERE / f"{name}.jsonl").read_text()
    result = _command(_HERE / f"{name}.json")
    assert (result.stdout, result.stderr) == (expected, "")
    assert result.returncode == (1 if '"error"' in expected else 0)


@pytest.mark.parametrize("path", _MALFORMED, ids=lambda path: path.stem)
def test_a_malformed_file_is_refused_with_its_reason(path):
    with pytest.raises(InvalidTimeline) as caught:
        parse_timeline(path.read_text())
    assert str(caught.value) == path.with_suffix(".txt").read_text().strip()


@pytest.mark.parametrize("name", ["not_json", "unknown_split"])
def test_the_command_refuses_a_malformed_file_with_one_line_and_exit_status_2(name):
    path = _HERE / "malformed" / f"{name}.json"
    result = _command(path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"{path}: {path.with_suffix('.txt').read_text().strip()}\n"


def _command(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "watermark", *map(str, arguments)]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=60)
