"""What the environment says about embedded servers, and the ports they get."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from datasources.embedded.fetch.settings import cache_directory, external_kafka, ivy_settings
from datasources.embedded.process import ports
from datasources.embedded.process.ports import free_ports, is_free
from datasources.errors import EnvironmentProblem


def test_the_cache_directory_is_our_environment_variable():
    assert cache_directory({"TIDEMARK_CACHE": "/somewhere", "XDG_CACHE_HOME": "/xdg"}) == Path("/somewhere")


def test_the_cache_follows_the_xdg_rules():
    assert cache_directory({"XDG_CACHE_HOME": "/xdg"}) == Path("/xdg/tidemark")
    home = Path("~/.cache/tidemark").expanduser()
    assert cache_directory({}) == home
    assert cache_directory({"XDG_CACHE_HOME": "relative"}) == home


def test_ivy_settings_may_be_a_file_or_a_url(tmp_path: Path):
    file = tmp_path / "ivysettings.xml"
    file.touch()
    assert ivy_settings({}) is None
    assert ivy_settings({"TIDEMARK_IVY_SETTINGS": str(file)}) == str(file)
    assert ivy_settings({"TIDEMARK_IVY_SETTINGS": "https://host/ivysettings.xml"}) == "https://host/ivysettings.xml"


def test_ivy_settings_that_do_not_exist_are_an_error(tmp_path: Path):
    with pytest.raises(EnvironmentProblem, match=r"TIDEMARK_IVY_SETTINGS is .* there is no such file"):
        ivy_settings({"TIDEMARK_IVY_SETTINGS": str(tmp_path / "none.xml")})


def test_an_external_broker_is_taken_from_its_variable():
    assert external_kafka({}) is None
    assert external_kafka({"TIDEMARK_KAFKA": "  "}) is None
    assert external_kafka({"TIDEMARK_KAFKA": " host:9092 "}) == "host:9092"


def test_ports_are_different_free_and_below_those_of_outgoing_connections():
    found = free_ports(5)
    assert len(set(found)) == 5
    assert all(20_000 <= port < 30_000 and is_free(port) for port in found)


def test_a_port_that_is_listened_on_is_not_free():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert not is_free(listener.getsockname()[1])


def test_a_machine_without_free_ports_is_an_environment_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ports, "is_free", lambda _port: False)
    with pytest.raises(EnvironmentProblem, match=r"found no 2 free ports on 127\.0\.0\.1"):
        free_ports(2)
