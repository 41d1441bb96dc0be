"""The server.properties of an embedded Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasources.embedded.kafka.kafka_config import KafkaAddress, server_properties
from datasources.errors import OptionError

ADDRESS = KafkaAddress(broker_port=20001, controller_port=20002)


def properties(config: dict[str, str]) -> dict[str, str]:
    text = server_properties(ADDRESS, Path("/data"), config)
    return dict(line.split("=", 1) for line in text.splitlines())


def test_the_node_is_broker_and_controller_on_loopback_only():
    found = properties({})
    assert found["process.roles"] == "broker,controller"
    assert found["listeners"] == "BROKER://127.0.0.1:20001,CONTROLLER://127.0.0.1:20002"
    assert found["controller.quorum.voters"] == "1@127.0.0.1:20002"
    assert found["log.dirs"] == "/data"


def test_nothing_waits_for_a_second_node_and_no_record_expires():
    found = properties({})
    assert {found[key] for key in found if key.endswith(("replication.factor", "min.isr"))} == {"1"}
    assert found["auto.create.topics.enable"] == "false"
    assert found["log.retention.ms"] == "-1"


def test_settings_of_the_caller_win_over_ours():
    assert properties({"auto.create.topics.enable": "true"})["auto.create.topics.enable"] == "true"


@pytest.mark.parametrize("key", ["listeners", "node.id", "log.dirs", "process.roles"])
def test_what_makes_the_node_an_embedded_one_cannot_be_set(key: str):
    with pytest.raises(OptionError, match=f"{key}' is made by the embedded Kafka itself"):
        properties({key: "x"})


@pytest.mark.parametrize(
    ("key", "value"), [("", "x"), ("a=b", "x"), ("num.io.threads", "1\nlisteners=x"), ("a b", "x")]
)
def test_what_would_break_the_file_is_refused(key: str, value: str):
    with pytest.raises(OptionError, match="cannot stand in a properties file"):
        properties({key: value})


def test_backslashes_and_leading_spaces_survive_the_properties_format():
    assert properties({"x": r" a\b"})["x"] == r"\ a\\b"
