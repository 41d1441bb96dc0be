"""Secrets in table options: named, never shown, never kept in files."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError, SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.secret_keys import is_secret_key
from datasources.sql.definitions.option_secrets import (
    expand,
    is_literal_secret,
    masked_source,
    refuse_literal_secrets,
    refuse_masked,
    shown,
)

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="{}";'


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "kafka.sasl.password",
        "properties.ssl.key.password",
        "properties.sasl.jaas.config",
        "kafka.ssl.key.pem",
        "kafka.sasl.oauthbearer.client.secret",
        "access-token",
        "Passwd",
        "aws.credentials",
        "value.avro-confluent.basic-auth.user-info",
        "api-key",
        "ssl.private_key",
        "db.pwd",
    ],
)
def test_a_key_whose_value_is_a_secret_is_known(key):
    assert is_secret_key(key)


@pytest.mark.parametrize(
    "key",
    [
        "topic",
        "key.fields",
        "key.format",
        "kafka.ssl.key.location",
        "kafka.sasl.oauthbearer.token.endpoint.url",
        "kafka.bootstrap.servers",
        "scan.startup.mode",
    ],
)
def test_a_key_whose_value_may_be_shown_is_known(key):
    assert not is_secret_key(key)


@pytest.mark.parametrize(
    ("key", "value", "is_literal"),
    [
        ("password", "hunter2", True),
        ("password", "${env:PW}", False),
        ("password", " ${file:/run/secrets/pw}\n", False),
        ("password", "x${env:PW}", True),
        ("password", "", False),
        ("topic", "hunter2", False),
        ("kafka.sasl.jaas.config", JAAS.format("hunter2"), True),
        ("kafka.sasl.jaas.config", JAAS.format("${env:PW}"), False),
        ("kafka.sasl.jaas.config", "${file:/run/secrets/jaas}", False),
        ("url", "jdbc:mysql://db/shop?user=u&password=hunter2", True),
        ("url", "jdbc:mysql://db/shop?user=u&password=${env:PW}", False),
        ("url", "http://u:hunter2@db", True),
        ("url", "http://u:${env:PW}@db", False),
        ("url", "http://db:8080/a:b@c", False),
    ],
)
def test_literal_secrets_are_distinguished_from_references(key, value, is_literal):
    assert is_literal_secret(key, value) is is_literal
    assert shown({key: value}) == {key: "******" if is_literal else value}


def test_references_are_expanded_wherever_they_stand_and_only_once(tmp_path):
    secret = tmp_path / "pw"
    secret.write_text("from ${env:HOST}\n\n")
    options = {"a": "${env:HOST}:${env:PORT}", "b": f"<${{file:{secret}}}>", "c": "${x:y} $ {} ${", "d": "plain"}
    assert expand(options, environment={"HOST": "h", "PORT": "1"}) == {
        "a": "h:1",
        "b": "<from ${env:HOST}\n>",
        "c": "${x:y} $ {} ${",
        "d": "plain",
    }


def test_variables_are_those_of_the_process(monkeypatch):
    monkeypatch.setenv("TIDEMARK_TEST_PASSWORD", "hunter2")
    assert expand({"password": "${env:TIDEMARK_TEST_PASSWORD}"}) == {"password": "hunter2"}


def test_a_variable_that_is_not_set_is_an_error_with_near_matches():
    with pytest.raises(OptionError) as caught:
        expand({"kafka.sasl.password": "hunter2${env:KAFKA_PASWORD}"}, environment={"KAFKA_PASSWORD": "hunter2"})
    assert caught.value.message == (
        "option 'kafka.sasl.password' names the environment variable 'KAFKA_PASWORD', which is not set. "
        "Did you mean 'KAFKA_PASSWORD'? Set it in the driver's process."
    )


def test_a_file_that_cannot_be_read_is_an_error_with_its_reason(tmp_path):
    with pytest.raises(
        OptionError, match="option 'password' names the file '.*gone', which cannot be read: No such file"
    ):
        expand({"password": f"${{file:{tmp_path / 'gone'}}}"})
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="it is no UTF-8 text"):
        expand({"password": f"${{file:{tmp_path / 'bytes'}}}"})


@pytest.mark.parametrize("value", ["${env:}", "${env:A", "${file:a${env:B}}"])
def test_a_reference_that_is_not_complete_is_an_error_without_the_value(value):
    with pytest.raises(
        OptionError, match="option 'password': a reference that begins with '.{3,7}' is not complete"
    ) as caught:
        expand({"password": "hunter2" + value}, environment={"B": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_the_replacement_of_a_secret_is_not_a_value():
    source = SqlText("... WITH ('ssl.key.pem' = '******')")
    with pytest.raises(SqlError) as caught:
        refuse_masked({"ssl.key.pem": "******"}, source=source, spans={"ssl.key.pem": Span(10, 23)})
    assert caught.value.message.splitlines() == [
        (
            "line 1, column 11: option 'ssl.key.pem' = '******' is shown instead of a secret, it is not its value. "
            "Write '${env:NAME}' or '${file:PATH}', or the value itself."
        ),
        "  ... WITH ('ssl.key.pem' = '******')",
        "            ^^^^^^^^^^^^^",
    ]
    refuse_masked({"password": "*****"}, source=source, spans={})


def test_a_durable_catalog_takes_no_secret_and_the_error_does_not_show_it():
    source = SqlText("WITH ('topic' = 'a''b', 'ssl.key.pem' = /* mine */ r'hunter2', 'x' = 'hunter2')")
    spans = {"topic": Span(6, 13), "ssl.key.pem": Span(24, 37), "x": Span(63, 66)}
    with pytest.raises(SqlError) as caught:
        refuse_literal_secrets({"topic": "a'b", "ssl.key.pem": "hunter2", "x": "hunter2"}, source=source, spans=spans)
    assert caught.value.message.splitlines() == [
        (
            "line 1, column 25: option 'ssl.key.pem' holds a secret, and this catalog is kept in files. Write 'ssl.key.pem' = "
            "'${env:NAME}' or '${file:PATH}', or create a TEMPORARY table."
        ),
        "  WITH ('topic' = '****', 'ssl.key.pem' = /* mine */ r'*******', 'x' = '*******')",
        "                          ^^^^^^^^^^^^^",
    ]


def test_without_a_statement_the_error_names_the_option():
    with pytest.raises(SqlError) as caught:
        refuse_literal_secrets({"topic": "a", "password": "hunter2"}, spans={})
    assert caught.value.message == (
        "WITH: option 'password' holds a secret, and this catalog is kept in files. Write 'password' = '${env:NAME}' or "
        "'${file:PATH}', or create a TEMPORARY table."
    )


def test_a_masked_statement_keeps_the_position_of_every_character():
    text = "CREATE TABLE t (a INT) WITH ('topic' = 'a', 'password' = 'hun\nter2')"
    spans = {"topic": Span(29, 36), "password": Span(44, 54)}
    source = SqlText(text, name="jobs.sql", first_line=3)
    masked = masked_source(source, {"topic": "a", "password": "hun\nter2"}, spans)
    assert masked == SqlText(
        "CREATE TABLE t (a INT) WITH ('topic' = '*', 'password' = '***\n****')", name="jobs.sql", first_line=3
    )
    assert masked_source(source, {"topic": "a", "password": "${env:PW}"}, spans) is source
