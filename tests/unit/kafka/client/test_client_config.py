"""From Java's client properties to librdkafka's."""

from __future__ import annotations

import pickle

import pytest

from datasources.errors import OptionError
from datasources.kafka.client.client_config import _IGNORED_JAVA, _JAVA_ONLY, _OWNED, client_config

SERVERS = {"kafka.bootstrap.servers": "b1:9092,b2:9092"}
SECRET = "geheim-7"


def config(**options: str):
    return client_config({**SERVERS, **{f"kafka.{key}": value for key, value in options.items()}})


def error(options):
    with pytest.raises(OptionError) as caught:
        client_config(options)
    assert SECRET not in str(caught.value)
    return caught.value.message


@pytest.mark.parametrize("prefix", ["kafka.", "properties."])
def test_both_prefixes_are_taken_off(prefix):
    found = client_config({f"{prefix}bootstrap.servers": "b:1", f"{prefix}client.id": "me", "subscribe": "orders"})
    assert dict(found) == {"bootstrap.servers": "b:1", "client.id": "me"}
    assert found.bootstrap_servers == "b:1"


def test_both_prefixes_may_be_given_with_equal_values():
    assert dict(client_config({**SERVERS, "kafka.client.id": "me", "properties.client.id": "me"}))["client.id"] == "me"


def test_both_prefixes_must_not_differ_and_the_values_are_not_shown():
    message = error({**SERVERS, "kafka.sasl.password": SECRET, "properties.sasl.password": f"{SECRET}x"})
    assert message == "options 'kafka.sasl.password' and 'properties.sasl.password' differ: set one of them."


@pytest.mark.parametrize("options", [{}, {"kafka.client.id": "me"}, {"kafka.bootstrap.servers": ""}])
def test_bootstrap_servers_are_required(options):
    assert "option 'kafka.bootstrap.servers' (or 'properties.bootstrap.servers') is required: host:port" in error(
        options
    )


@pytest.mark.parametrize("key", sorted(_OWNED))
def test_what_the_source_sets_is_refused_with_the_reason(key):
    assert error({**SERVERS, f"kafka.{key}": SECRET}) == f"option 'kafka.{key}' is set by the source: {_OWNED[key]}."


@pytest.mark.parametrize("key", sorted(_JAVA_ONLY))
def test_java_only_options_are_rejected_with_a_hint(key):
    assert (
        error({**SERVERS, f"kafka.{key}": SECRET})
        == f"option 'kafka.{key}' exists in Java clients only: {_JAVA_ONLY[key]}."
    )


@pytest.mark.parametrize("key", sorted(_IGNORED_JAVA))
def test_what_has_no_counterpart_and_does_no_harm_is_left_out(key):
    assert key not in config(**{key: "500"})


def test_what_is_named_otherwise_is_translated():
    assert dict(config(**{"fetch.max.wait.ms": "50"})).get("fetch.wait.max.ms") == "50"
    assert dict(config(**{"max.partition.fetch.bytes": "5"}))["max.partition.fetch.bytes"] == "5"


def test_the_api_timeout_is_taken_over():
    assert config().api_timeout_ms == 30_000
    assert config(**{"default.api.timeout.ms": "500"}).api_timeout_ms == 500


@pytest.mark.parametrize("text", ["0", "-1", "5 s", "", "²", "1e3", "9" * 5_000])
def test_a_bad_api_timeout_is_an_error(text):
    message = error({**SERVERS, "kafka.default.api.timeout.ms": text})
    assert message == f"option 'kafka.default.api.timeout.ms' = '{text}': it must be a positive number."


def test_the_request_timeout_bounds_one_request():
    assert dict(config(**{"request.timeout.ms": "700"}))["socket.timeout.ms"] == "700"
    assert config(**{"request.timeout.ms": "700"}).request_timeout_ms == 700
    assert config(**{"default.api.timeout.ms": "500"}).request_timeout_ms == 500
    assert config().request_timeout_ms == 15_000
    assert "'kafka.request.timeout.ms' = '5 s'" in error({**SERVERS, "kafka.request.timeout.ms": "5 s"})


def test_offset_requests_are_bounded_by_timeout_and_retries():
    given = {**SERVERS, "kafka.default.api.timeout.ms": "1000"}
    assert client_config(given).total_timeout_ms == 1_000
    assert client_config(given, num_retries=2, retry_interval_ms=10).total_timeout_ms == 3_020


# -- JAAS --

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


@pytest.mark.parametrize("module", [PLAIN, SCRAM])
@pytest.mark.parametrize(
    ("text", "username", "password"),
    [
        (' username="u" password="p";', "u", "p"),
        (" password='p' username='u';", "u", "p"),
        ('\n  username = "u"\n  password = "a;b=\\"c\\\\";', "u", 'a;b="c\\'),
        (' username="o\'neill" password=\'say "hi"\';', "o'neill", 'say "hi"'),
        (' username="" password="";', "", ""),
    ],
)
def test_a_jaas_line_becomes_user_and_password(module, text, username, password):
    found = config(**{"sasl.jaas.config": module + text})
    assert "sasl.jaas.config" not in found
    assert (found["sasl.username"], found["sasl.password"]) == (username, password)


@pytest.mark.parametrize("text", [f'{PLAIN} password="{SECRET}";', f'{PLAIN} username="{SECRET}";', PLAIN])
def test_a_login_line_without_user_or_password_is_an_error(text):
    message = error({**SERVERS, "kafka.sasl.jaas.config": text})
    assert message == "option 'kafka.sasl.jaas.config' has no username or no password."


def test_another_login_module_is_rejected_with_hints():
    text = f'com.sun.security.auth.module.Krb5LoginModule required password="{SECRET}";'
    message = error({**SERVERS, "kafka.sasl.jaas.config": text})
    assert "exists in Java only" in message
    assert "'kafka.sasl.username' and 'kafka.sasl.password'" in message
    assert "sasl.kerberos.*" in message


# -- secrets --


@pytest.mark.parametrize(
    "key",
    [
        "sasl.password",
        "ssl.key.password",
        "ssl.keystore.password",
        "ssl.key.pem",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.config",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.assertion.private.key.pem",
        "SASL.PASSWORD",
    ],
)
def test_a_secret_is_handed_on_but_never_shown(key):
    found = config(**{key: SECRET})
    assert found[key] == SECRET
    for shown in (repr(found), str(found), f"{found}", repr([found])):
        assert SECRET not in shown
        assert "******" in shown
        assert "b1:9092" in shown


def test_a_password_of_a_login_line_is_never_shown():
    found = config(**{"sasl.jaas.config": f'{PLAIN} username="u" password="{SECRET}";'})
    assert found["sasl.password"] == SECRET
    assert SECRET not in repr(found)


def test_paths_of_keys_are_no_secrets():
    assert "/etc/key.pem" in repr(config(**{"ssl.key.location": "/etc/key.pem"}))


def test_a_missing_setting_does_not_show_the_others():
    with pytest.raises(KeyError) as caught:
        config(**{"sasl.password": SECRET})["nothing"]
    assert SECRET not in str(caught.value)


def test_settings_travel_to_executors():
    found = config(**{"sasl.password": SECRET, "default.api.timeout.ms": "700"})
    again = pickle.loads(pickle.dumps(found))
    assert dict(again) == dict(found)
    assert again.api_timeout_ms == 700
    assert SECRET not in repr(again)


def test_the_settings_are_a_mapping():
    found = config(**{"client.id": "me"})
    assert (len(found), list(found), "client.id" in found) == (2, ["bootstrap.servers", "client.id"], True)


# -- racks --


def test_the_rack_of_an_executor_is_that_of_its_environment(monkeypatch):
    given = client_config(SERVERS, rack_variable="ZONE")
    monkeypatch.setenv("ZONE", "zone-b")
    assert given.for_executor()["client.rack"] == "zone-b"
    assert pickle.loads(pickle.dumps(given)).for_executor()["client.rack"] == "zone-b"
    assert "client.rack" not in given  # the driver's clients read no records
    assert given.for_executor().total_timeout_ms == given.total_timeout_ms


def test_an_executor_without_the_variable_reads_from_leaders_and_warns_once(monkeypatch, caplog):
    monkeypatch.delenv("NO_SUCH_ZONE", raising=False)
    given = client_config(SERVERS, rack_variable="NO_SUCH_ZONE")
    for _ in range(3):
        assert dict(given.for_executor()) == dict(given)
    assert [record.getMessage()[:43] for record in caplog.records] == ["client_rack_unknown variable='NO_SUCH_ZONE'"]


def test_one_rack_for_all_is_handed_on_and_not_given_twice():
    found = config(**{"client.rack": "zone-a"})
    assert found.for_executor()["client.rack"] == "zone-a"
    with pytest.raises(OptionError, match="both name the rack"):
        client_config({**SERVERS, "kafka.client.rack": "zone-a"}, rack_variable="ZONE")
