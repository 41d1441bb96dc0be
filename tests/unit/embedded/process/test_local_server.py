"""A local server's process and directory never outlive the process that owns them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from datasources.embedded.process.local_server import LocalServer
from datasources.errors import EnvironmentProblem, InternalError

SLEEP = ["sleep", "600"]
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"


@pytest.fixture
def server() -> Iterator[LocalServer]:
    made = LocalServer("Probe")
    yield made
    made.close()


def eventually(condition: Callable[[], bool]) -> bool:
    pause = threading.Event()
    for _ in range(600):
        if condition():
            return True
        pause.wait(0.02)
    return False


def is_up(server: LocalServer) -> bool:
    return server.log_path.exists() and "up" in server.log_path.read_text()


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_closing_ends_the_process_and_removes_the_directory(server: LocalServer):
    server.start(SLEEP)
    pid, directory = server.pid, server.directory
    assert server.is_running
    assert directory.is_dir()
    server.close()
    assert pid is not None
    assert is_gone(pid)
    assert not directory.exists()
    assert not server.is_running


def test_closing_twice_is_harmless_and_use_after_it_is_a_bug(server: LocalServer):
    server.close()
    server.close()
    with pytest.raises(InternalError, match="Probe was used after it was closed"):
        server.start(SLEEP)


def test_a_stop_keeps_the_directory_and_a_new_start_appends_to_the_log(server: LocalServer):
    for word in ("one", "two"):
        server.start([sys.executable, "-c", f"print('{word}', flush=True); import time; time.sleep(600)"])
        assert eventually(lambda expected=word: expected in server.log_path.read_text())
        server.stop(grace_s=10)
        assert server.returncode() == -signal.SIGTERM
    assert server.log_path.read_text() == "one\ntwo\n"


def test_a_server_that_does_not_stop_is_killed_after_the_grace(server: LocalServer):
    server.start([sys.executable, "-c", STUBBORN])
    assert eventually(lambda: is_up(server))
    server.stop(grace_s=0.1)
    assert server.returncode() == -signal.SIGKILL


def test_killing_takes_the_children_of_the_server_along(server: LocalServer):
    server.start([sys.executable, "-c", "import subprocess; subprocess.run(['sleep', '600'])"])
    assert eventually(lambda: len(psutil.Process(server.pid).children()) == 1)
    child = psutil.Process(server.pid).children()[0].pid
    server.kill()
    assert server.returncode() == -signal.SIGKILL
    assert eventually(lambda: is_gone(child))


def test_children_that_the_server_left_behind_end_with_it(server: LocalServer):
    server.start(["sh", "-c", "sleep 600 & echo $! up; wait"])
    assert eventually(lambda: is_up(server))
    child = int(server.log_path.read_text().split()[0])
    server.close()
    assert eventually(lambda: is_gone(child))


def test_a_second_server_in_the_same_place_is_refused(server: LocalServer):
    server.start(SLEEP)
    with pytest.raises(EnvironmentProblem, match=r"Probe could not be run: .* already running as process"):
        server.start(SLEEP)
    assert server.is_running


def test_a_program_that_does_not_exist_is_named(server: LocalServer):
    with pytest.raises(EnvironmentProblem, match=r"Probe could not be run: FileNotFoundError: .*no-such-program"):
        server.start(["/no-such-program"])


def test_waiting_ends_when_the_server_is_ready(server: LocalServer):
    server.start(["sh", "-c", "echo up; exec sleep 600"])
    server.wait_until(lambda: is_up(server), deadline_s=30)


def test_a_server_that_dies_at_start_shows_its_log(server: LocalServer):
    server.start(["sh", "-c", "echo ERROR cannot bind; echo '  at java.net.Socket'; seq 100; exit 3"])
    with pytest.raises(EnvironmentProblem) as caught:
        server.wait_until(lambda: False, deadline_s=30)
    heading, *lines = caught.value.message.splitlines()
    assert heading == "Probe ended with 3 while it was starting; from its log:"
    assert lines == ["    ERROR cannot bind", *[f"    {number}" for number in range(91, 101)]]


def test_a_failure_is_explained_by_the_log_of_its_own_run(server: LocalServer):
    server.run(["echo", "ERROR of long ago"], deadline_s=30)
    server.start(["sh", "-c", "exit 3"])
    with pytest.raises(EnvironmentProblem, match="ended with 3 while it was starting; it printed nothing"):
        server.wait_until(lambda: False, deadline_s=30)


def test_of_a_long_log_the_beginning_and_the_end_are_looked_at(server: LocalServer):
    server.run(["sh", "-c", "echo first; seq 200000; echo last"], deadline_s=30)
    shown = server.log_of_run()
    assert shown.startswith("first\n")
    assert shown.endswith("last\n")
    assert len(shown) < 600_000


def test_a_server_that_never_answers_runs_into_the_deadline(server: LocalServer):
    server.start(SLEEP)
    with pytest.raises(EnvironmentProblem, match=r"Probe did not answer within 0\.1 s of its start"):
        server.wait_until(lambda: False, deadline_s=0.1)


def test_a_preparation_that_fails_or_hangs_is_an_error_with_its_output(server: LocalServer):
    server.run(["true"], deadline_s=30)
    with pytest.raises(EnvironmentProblem, match=r"preparing Probe ended with 1; from its log:\n    no format"):
        server.run(["sh", "-c", "echo no format; exit 1"], deadline_s=30)
    with pytest.raises(EnvironmentProblem, match=r"preparing Probe was not done in 0\.1 s"):
        server.run(SLEEP, deadline_s=0.1)
    assert not server.is_running


PARENT = """
import os, sys, threading
from datasources.embedded.process.local_server import LocalServer
server = LocalServer("Probe")
server.start(["sh", "-c", "sleep 600 & wait"])
forked = 0
{before}
print(server.pid, server._supervisor.pid, server.directory, forked, flush=True)
{after}
"""
FORK = "forked = os.fork()\nif not forked: threading.Event().wait(600)"


@pytest.mark.parametrize(
    ("before", "after", "number"),
    [
        pytest.param("", "input()", signal.SIGKILL, id="killed"),
        pytest.param("", "input()", signal.SIGTERM, id="terminated"),
        pytest.param("", "", None, id="ended without closing"),
        pytest.param("", "raise SystemExit(3)", None, id="left by an error"),
        pytest.param(FORK, "input()", signal.SIGKILL, id="killed while a forked child holds the pipe"),
    ],
)
def test_nothing_is_left_when_the_owner_is_gone(before: str, after: str, number: int | None):
    script = PARENT.format(before=before, after=after)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, supervisor, directory, forked = owner.stdout.readline().split()
        assert Path(directory).is_dir() or number is None
        if number is not None:
            owner.send_signal(number)
        owner.wait(30)
        try:
            assert eventually(lambda: is_gone(int(pid)) and is_gone(int(supervisor)) and not Path(directory).exists())
        finally:
            if before:
                os.kill(int(forked), signal.SIGKILL)


def test_a_forked_child_cannot_end_the_server_of_its_parent(server: LocalServer):
    server.start(SLEEP)
    child = os.fork()
    if child == 0:
        server.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert server.is_running


def test_a_killed_supervisor_is_reported_and_closing_still_leaves_nothing(server: LocalServer):
    server.start(SLEEP)
    pid, directory = server.pid, server.directory
    os.kill(server._supervisor.pid, signal.SIGKILL)
    with pytest.raises(EnvironmentProblem, match="the process that supervises Probe ended"):
        server.returncode()
    server.close()
    assert pid is not None
    assert eventually(lambda: is_gone(pid))
    assert not directory.exists()


def test_a_terminated_supervisor_takes_the_server_along(server: LocalServer):
    server.start(SLEEP)
    pid, directory = server.pid, server.directory
    os.kill(server._supervisor.pid, signal.SIGTERM)
    assert pid is not None
    assert eventually(lambda: is_gone(pid) and not directory.exists())
    server.close()
