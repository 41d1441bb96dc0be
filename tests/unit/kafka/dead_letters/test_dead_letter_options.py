"""The options of dead letters: what they need, what has no effect, whose brokers, and secrets."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.kafka.source import KafkaSource
from datasources.scripted.source import ScriptedSource
from datasources.spark.scan.scan import build_scan

SERVERS = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "orders", "startingOffsets": "earliest"}
JSON = {"format": "json", "schema": "id INT, ts TIMESTAMP"}
BAD = {"format.on-error": "dead-letter"}
LATE = {"watermark.late-rows": "dead-letter", "watermark.for": "ts", "watermark.as": "ts"}
TOPIC = {"format.dead-letter.topic": "dead"}
OWN = "format.dead-letter.kafka."


def scan(**given: str):
    defaults = {"scan.session.time-zone": "UTC", "scan.session.ansi": "true"}
    return build_scan(KafkaSource, {**SERVERS, **JSON, **given}, defaults)


def settings(**given: str):
    return scan(**{**BAD, **TOPIC, **given}).source.factory.dead_letters


def error(**given: str) -> str:
    with pytest.raises(OptionError) as caught:
        scan(**given)
    return caught.value.message


def test_without_the_options_none_are_written():
    assert scan().source.writes_dead_letters is False
    assert scan().planner_settings().writes_dead_letters is False


@pytest.mark.parametrize("kinds", [BAD, LATE, {**BAD, **LATE}])
def test_either_kind_is_written(kinds):
    found = scan(**kinds, **TOPIC)
    assert found.source.writes_dead_letters
    assert found.planner_settings().writes_dead_letters
    assert found.source.factory.dead_letters.topic == "dead"


@pytest.mark.parametrize("kinds", [BAD, LATE])
def test_each_kind_needs_the_topic(kinds):
    key, value = next(iter(kinds.items()))
    assert (
        error(**kinds)
        == f"option '{key}' = '{value}' needs 'format.dead-letter.topic': the topic to which such records are written."
    )


@pytest.mark.parametrize("key", ["topic", "transactional-id-prefix", "kafka.acks"])
def test_an_option_without_effect_is_refused(key):
    assert f"option 'format.dead-letter.{key}' has no effect" in error(**{f"format.dead-letter.{key}": "1"})


def test_flinks_option_for_bad_records_contradicts():
    message = error(**BAD, **TOPIC, **{"json.ignore-parse-errors": "true"})
    assert (
        message
        == "options 'json.ignore-parse-errors' = 'true' and 'format.on-error' = 'dead-letter' contradict each other: set one of them."
    )


@pytest.mark.parametrize(
    "source",
    [
        {"subscribe": "dead,orders"},
        {"subscribe": None, "subscribePattern": "d.*"},
        {"subscribe": None, "assign": '{"dead": [0]}'},
    ],
)
def test_the_source_does_not_read_its_dead_letters(source):
    given = {key: value for key, value in {**SERVERS, **JSON, **BAD, **TOPIC, **source}.items() if value is not None}
    with pytest.raises(OptionError, match="'format.dead-letter.topic' = 'dead' is among the source's .*read again"):
        build_scan(KafkaSource, given, {})


def test_the_clients_settings_are_the_sources_and_additional_ones():
    found = settings(**{"kafka.sasl.username": "u", f"{OWN}compression.type": "zstd", "properties.acks": "all"})
    assert dict(found.config) == {
        "bootstrap.servers": "broker:9092",
        "sasl.username": "u",
        "compression.type": "zstd",
        "acks": "all",
    }
    assert not found.has_own_servers


@pytest.mark.parametrize("prefix", [OWN, "format.dead-letter.properties."])
def test_other_brokers_get_only_what_is_given_for_them(prefix):
    found = settings(**{"kafka.sasl.password": "hunter2", f"{prefix}bootstrap.servers": "other:9092"})
    assert dict(found.config) == {"bootstrap.servers": "other:9092"}
    assert found.has_own_servers


def test_secrets_are_not_shown():
    source = scan(**BAD, **TOPIC, **{f"{OWN}sasl.password": "hunter2", f"{OWN}ssl.key.password": "hunter3"})
    assert "hunter" not in repr(source)
    refused = error(**BAD, **TOPIC, **{f"{OWN}sasl.password": "hunter2", f"{OWN}auto.offset.reset": "latest"})
    assert "hunter" not in refused
    assert "'format.dead-letter.kafka.*'" in refused


@pytest.mark.parametrize("key", ["kafka.transactional.id", f"{OWN}transactional.id"])
def test_transactional_ids_are_tidemarks(key):
    assert "begins with 'format.dead-letter.transactional-id-prefix'" in error(**BAD, **TOPIC, **{key: "mine"})


def test_options_that_load_code_are_refused_here_too():
    message = error(**BAD, **TOPIC, **{f"{OWN}plugin.library.paths": "evil.so"})
    assert f"option '{OWN}plugin.library.paths' loads libraries" in message


def test_late_rows_of_other_sources_have_no_record(tmp_path):
    given = {"path": str(tmp_path), "schema": "ts TIMESTAMP", **LATE}
    with pytest.raises(
        OptionError, match="writes records of Kafka, and rows of 'tidemark-scripted' have none. Use 'mark'"
    ):
        build_scan(ScriptedSource, given, {"scan.session.time-zone": "UTC", "scan.session.ansi": "true"})


def test_bad_lines_of_scripts_stay_in_their_file(tmp_path):
    given = {"path": str(tmp_path), "schema": "ts TIMESTAMP", **BAD}
    with pytest.raises(OptionError, match="a script's line stays in its file"):
        build_scan(ScriptedSource, given, {})


def test_late_rows_make_emission_on_event_as_drop_does():
    assert scan(**LATE, **TOPIC).watermark.emit_strategy.value == "on-event"
    message = error(**LATE, **TOPIC, **{"scan.watermark.emit.strategy": "on-periodic"})
    assert message.startswith("option 'watermark.late-rows' = 'dead-letter' is exact and so needs")


def test_a_checkpoint_may_change_between_drop_and_dead_letter():
    dropped = {**LATE, "watermark.late-rows": "drop"}
    assert (
        scan(**LATE, **TOPIC).identity
        == scan(**dropped).identity
        != scan(**{**LATE, "watermark.late-rows": "mark"}).identity
    )


@pytest.mark.parametrize(
    ("request_ms", "transaction_ms"), [(None, 60_000), ("1000", 60_000), ("90000", 180_000), ("x", 60_000)]
)
def test_a_transaction_lasts_longer_than_a_request(request_ms, transaction_ms):
    given = {} if request_ms is None else {f"{OWN}socket.timeout.ms": request_ms}
    assert settings(**given).transaction_ms == transaction_ms


@pytest.mark.parametrize("key", ["minPartitions", "maxRecordsPerPartition"])
def test_tasks_do_not_share_a_partition_whose_dead_letters_are_written(key):
    message = error(**BAD, **TOPIC, **{key: "10"})
    assert message.startswith(f"option '{key}' does not go with 'format.dead-letter.topic': one task writes")
