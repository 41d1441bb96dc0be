"""The terminal belongs to the demo; what others print goes to its log."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from datasources.demo.spark.silenced_output import silenced_output


def test_output_of_this_process_and_its_children_goes_to_the_log(tmp_path, capfd):
    log = tmp_path / "output.log"
    with silenced_output(log) as terminal:
        os.write(1, b"from the descriptor\n")
        os.write(2, b"an error\n")
        subprocess.run([sys.executable, "-S", "-c", "print('from a child')"], check=True)
        terminal.write("for the reader\n")
    assert capfd.readouterr() == ("for the reader\n", "")
    assert sorted(log.read_text().splitlines()) == ["an error", "from a child", "from the descriptor"]


def test_after_an_error_the_terminal_is_back(tmp_path, capfd):
    with pytest.raises(ZeroDivisionError), silenced_output(tmp_path / "output.log"):
        _ = 1 // 0
    os.write(1, b"out\n")
    os.write(2, b"err\n")
    assert capfd.readouterr() == ("out\n", "err\n")


def test_a_log_that_cannot_be_opened_leaves_the_terminal_alone(tmp_path, capfd):
    with pytest.raises(OSError, match="No such file"), silenced_output(tmp_path / "no" / "output.log"):
        pass
    os.write(1, b"out\n")
    assert capfd.readouterr().out == "out\n"
