"""CPU seconds of a measured process: each of its descendants counts once, also when it has ended."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from benchmarks.measure import cpu_seconds

BUSY_S = 1.0
BUSY = f"import time\nwhile time.process_time() < {BUSY_S}: pass\n"
PARENT = """
import os, signal, subprocess, sys
ignored, busy, depth = sys.argv[1] == "ignored", sys.argv[2], int(sys.argv[3])
if ignored:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
command = [sys.executable, "-c", busy]
if depth:
    command = [sys.executable, __file__, sys.argv[1], busy, str(depth - 1)]
child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
if ignored:
    while os.path.exists(f"/proc/{child.pid}"):
        signal.sigtimedwait([], 0.01)
else:
    child.wait()
print("ended", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("children", ["waited for", "ignored"])
@pytest.mark.parametrize("depth", [0, 1])
def test_the_time_of_an_ended_descendant_counts_once(tmp_path, children, depth):
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    command = [sys.executable, str(script), children, BUSY, str(depth)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        root = psutil.Process(parent.pid)
        before = cpu_seconds(root)
        assert parent.stdout.readline() == "ended\n"
        found = cpu_seconds(root) - before
        parent.communicate()
    assert 0.5 * BUSY_S < found < 1.8 * BUSY_S
