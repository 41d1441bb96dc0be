from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.project import ROOT
from watermark.__main__ import main

_ROOT = ROOT
_TIMELINE = '{"steps": [{"at": 0, "add": "A"}, {"at": 1, "split": "A", "rowtime": 7}]}'


@pytest.fixture
def timeline(tmp_path):
    path = tmp_path / "timeline.json"
    path.write_text(_TIMELINE)
    return path


def test_the_lines_are_printed(timeline, capsys):
    assert main([str(timeline)]) == 0
    assert capsys.readouterr().out == '{"at":1,"watermark":7}\n'


def test_an_error_line_is_printed_and_the_exit_status_is_1(timeline, capsys):
    timeline.write_text(_TIMELINE.replace("]}", ', {"at": 2, "processing_time": "A"}, {"at": 3, "tick": true}]}'))
    assert main([str(timeline)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == '{"at":1,"watermark":7}'
    assert lines[1].startswith('{"at":2,"error":"processing time was declared at 2000 us')
    assert len(lines) == 2


@pytest.mark.parametrize("arguments", [[], ["a.json", "b.json"]])
def test_wrong_arguments_show_the_usage(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", "usage: python -m watermark FILE.json\n")


def test_help_is_not_an_error(capsys):
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: python -m watermark FILE.json")


def test_a_missing_file_is_one_line(tmp_path, capsys):
    path = tmp_path / "missing.json"
    assert main([str(path)]) == 2
    assert capsys.readouterr() == ("", f"{path}: No such file or directory\n")


def test_a_file_that_is_no_text_is_one_line(tmp_path, capsys):
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe\x00")
    assert main([str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "1" * 10_000, '{"steps": [{"at": NaN, "tick": true}]}', '"\\ud800"', ""]
)
def test_a_hostile_file_is_one_line(tmp_path, capsys, text):
    path = tmp_path / "hostile.json"
    path.write_text(text)
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1


def test_a_byte_order_mark_is_no_obstacle(timeline, capsys):
    timeline.write_bytes(b"\xef\xbb\xbf" + _TIMELINE.encode())
    assert main([str(timeline)]) == 0
    assert capsys.readouterr().out


def test_a_closed_pipe_ends_the_command_without_an_error(timeline):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        result = subprocess.run(
            [sys.executable, "-m", "watermark", str(timeline)],
            cwd=_ROOT,
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert (result.returncode, result.stderr) == (0, b"")
