"""The coordinator as a process of its own: one for all planners of a driver, replaced when it dies, gone with the driver."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from datasources.errors import CoordinatorError
from datasources.source.coordination.client import CoordinatorClient
from datasources.spark.adapter.application_coordinator import (
    ENDPOINT_FILE,
    ApplicationCoordinator,
    CoordinatorSettings,
    PageSettings,
)
from datasources.spark.adapter.coordinator_process import serve

PLANNERS = 8
DEADLINE_S = 30.0
ASK = {"ask": "admit", "run": "r"}
PLANNER = """
import sys
from pathlib import Path
from datasources.spark.adapter.application_coordinator import ApplicationCoordinator, CoordinatorSettings
print(ApplicationCoordinator(CoordinatorSettings(), Path(sys.argv[1])).endpoint().port)
"""


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """The directory of a driver's JVM; the coordinator in it ends with it."""
    made = tmp_path / "blockmgr"
    made.mkdir(mode=0o700)
    yield made
    ended = process_of(made)
    shutil.rmtree(made, ignore_errors=True)
    if ended not in (None, os.getpid()):
        wait_until(lambda: not is_running(ended))


def process_of(directory: Path) -> int | None:
    try:
        return int(json.loads((directory / ENDPOINT_FILE).read_text())["pid"])
    except FileNotFoundError:
        return None


def is_running(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)  # it has ended with all its threads
    except ChildProcessError:  # another process started it, or it was waited for
        return Path(f"/proc/{pid}").exists()


def wait_until(condition) -> None:
    waiting = threading.Event()
    for _ in range(int(DEADLINE_S / 0.05)):
        if condition():
            return
        waiting.wait(0.05)
    raise AssertionError("it never came true")


def test_planners_of_several_processes_that_ask_at_once_find_one(directory):
    started = [
        subprocess.Popen([sys.executable, "-c", PLANNER, str(directory)], stdout=subprocess.PIPE, text=True)
        for _ in range(PLANNERS)
    ]
    ports = {planner.communicate(timeout=DEADLINE_S * 2)[0].strip() for planner in started}
    assert len(ports) == 1
    assert ports == {str(ApplicationCoordinator(CoordinatorSettings(), directory).endpoint().port)}


def test_threads_of_one_planner_find_one(directory):
    coordinator = ApplicationCoordinator(CoordinatorSettings(), directory)
    with ThreadPoolExecutor(PLANNERS) as pool:
        found = list(pool.map(lambda _: coordinator.endpoint(), range(PLANNERS)))
    assert len({(each.port, each.key) for each in found}) == 1
    assert CoordinatorClient(found[0]).ask(ASK) == {"refused": None, "checked": False}


def test_only_its_user_can_read_the_key_and_it_is_on_no_command_line(directory):
    endpoint = ApplicationCoordinator(CoordinatorSettings(), directory).endpoint()
    assert stat.S_IMODE((directory / ENDPOINT_FILE).stat().st_mode) == 0o600
    command = Path(f"/proc/{process_of(directory)}/cmdline").read_bytes()
    environment = Path(f"/proc/{process_of(directory)}/environ").read_bytes()
    for shown in (command, environment):
        assert endpoint.key.hex().encode() not in shown


def test_a_killed_one_is_replaced_where_its_clients_look_for_it(directory):
    coordinator = ApplicationCoordinator(CoordinatorSettings(), directory)
    before, killed = coordinator.endpoint(), process_of(directory)
    of_a_task, of_a_planner = CoordinatorClient(before), CoordinatorClient(coordinator.endpoint)
    assert of_a_task.ask(ASK) is not None
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not is_running(killed))
    assert of_a_planner.ask(ASK) is not None
    assert process_of(directory) != killed
    assert coordinator.endpoint() == before
    assert of_a_task.ask(ASK) is not None


def test_another_port_is_taken_where_that_of_the_killed_one_is_not_free(directory):
    coordinator = ApplicationCoordinator(CoordinatorSettings(), directory)
    before, killed = coordinator.endpoint(), process_of(directory)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not is_running(killed))
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", before.port))
        other.listen()
        after = coordinator.endpoint()
    assert (after.port == before.port, after.key) == (False, before.key)
    assert CoordinatorClient(coordinator.endpoint).ask(ASK) is not None


def test_it_ends_with_the_application(directory):
    coordinator = ApplicationCoordinator(CoordinatorSettings(), directory)
    coordinator.endpoint()
    pid = process_of(directory)
    assert pid is not None
    shutil.rmtree(directory)
    wait_until(lambda: not is_running(pid))
    with pytest.raises(CoordinatorError, match="the application has ended"):
        coordinator.endpoint()


def test_it_ends_when_nobody_uses_it_any_more(directory):
    settings = {"host": "127.0.0.1", "bind": None, "port": 0, "page": None}
    serving = threading.Thread(target=serve, args=(directory, settings), kwargs={"unused_s": 0.0}, daemon=True)
    serving.start()
    serving.join(DEADLINE_S)
    assert not serving.is_alive()


def test_where_it_cannot_listen_the_planner_raises_what_it_wrote(directory):
    coordinator = ApplicationCoordinator(CoordinatorSettings(host="203.0.113.7"), directory)
    with pytest.raises(CoordinatorError, match=r"did not start on 203\.0\.113\.7: (.|\n)*spark\.tidemark\.coordinator"):
        coordinator.endpoint()


def test_it_serves_the_page_of_the_sources(directory):
    token = "0123456789abcdef0123"
    page = PageSettings(token=token)
    ApplicationCoordinator(CoordinatorSettings(page=page), directory).endpoint()
    shown = json.loads((directory / ENDPOINT_FILE).read_text())["page"]
    assert shown.startswith("http://127.0.0.1:")
    command = Path(f"/proc/{process_of(directory)}/cmdline").read_bytes()
    assert token.encode() not in command


@pytest.mark.parametrize("value", ["", "/no/such/directory"])
def test_a_process_that_no_driver_started_finds_none(value, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", value)
    assert ApplicationCoordinator.of_this_process(CoordinatorSettings()) is None


def test_a_process_of_a_driver_takes_its_first_directory(directory, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{directory},/no/such/directory")
    found = ApplicationCoordinator.of_this_process(CoordinatorSettings())
    assert found is not None
    assert CoordinatorClient(found.endpoint).ask(ASK) is not None
