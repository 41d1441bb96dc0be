"""The one list of secret options: it knows its own keys, our options, librdkafka's, and Spark can apply it."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
from confluent_kafka import cimpl

from datasources.options import SECRET_MARK, is_marked
from datasources.options_page import CONNECTORS, SHARED_GROUPS
from datasources.secret_keys import (
    PRIVATE_FAMILIES,
    SECRET_FAMILIES,
    is_secret_key,
    redaction_pattern,
    secret_values,
)
from datasources.spark.boundary.redaction import redact_options

SECRET = [key for family in SECRET_FAMILIES for key in family.keys]
PRIVATE = [key for family in PRIVATE_FAMILIES for key in family.keys]
# What the source of librdkafka 2.16 marks as sensitive.
SENSITIVE = (
    "ssl.key.location", "ssl.key.password", "ssl.key.pem", "ssl.ca.pem", "ssl.keystore.password", "sasl.username",
    "sasl.password", "sasl.oauthbearer.config", "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.oauthbearer.assertion.private.key.pem",
)  # fmt: skip
# Settings of librdkafka whose names sound like secrets; they were looked at, and are none.
NONE = {
    "enable.ssl.certificate.verification", "ssl.certificate.location", "ssl.keystore.location", "https.ca.pem",
    "ssl.engine.id", "enable.sasl.oauthbearer.unsecure.jwt", "sasl.oauthbearer.method", "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.scope", "sasl.oauthbearer.token.endpoint.url",
    "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.grant.type", "sasl.oauthbearer.assertion.algorithm",
    "sasl.oauthbearer.assertion.file", "sasl.oauthbearer.metadata.authentication.type",
    "sasl.oauthbearer.assertion.claim.aud", "sasl.oauthbearer.assertion.claim.exp.seconds",
    "sasl.oauthbearer.assertion.claim.iss", "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.assertion.claim.nbf.seconds", "sasl.oauthbearer.assertion.claim.sub",
    "sasl.oauthbearer.assertion.jwt.template.file", "sasl.kerberos.keytab", "sasl.kerberos.min.time.before.relogin",
}  # fmt: skip
SOUNDS_SECRET = re.compile(r"pass|secret|token|cred|key|pem|jaas|oauth|private|auth|login|user")


def properties(tmp_path: Path) -> set[str]:
    """All settings of the installed librdkafka that a user can write as text."""
    library, c = ctypes.CDLL(cimpl.__file__), ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    library.rd_kafka_conf_properties_show.argtypes = c.fclose.argtypes = [ctypes.c_void_p]
    file = c.fopen(str(tmp_path / "properties").encode(), b"w")
    library.rd_kafka_conf_properties_show(file)
    c.fclose(file)
    return set(re.findall(r"^([a-z][a-z0-9.]*) +\|", (tmp_path / "properties").read_text(), re.MULTILINE))


@pytest.mark.parametrize("key", SECRET)
def test_every_key_of_the_list_is_a_secret(key):
    assert is_secret_key(key)
    assert is_secret_key(key.lower())
    assert is_secret_key(key.upper())


@pytest.mark.parametrize("key", [*SECRET, *PRIVATE, *(f"kafka.{name}" for name in SENSITIVE)])
def test_spark_redacts_every_key_of_the_list_and_all_that_librdkafka_hides(key):
    assert re.search(redaction_pattern(), key)


def test_every_setting_of_librdkafka_that_sounds_secret_is_one_or_was_looked_at(tmp_path):
    known = properties(tmp_path)
    assert set(SENSITIVE) <= known
    sounding = {name for name in known if SOUNDS_SECRET.search(name)}
    assert {name for name in sounding - NONE if not re.search(redaction_pattern(), f"kafka.{name}")} == set()


def test_every_option_of_ours_that_is_declared_secret_is_on_the_list():
    groups = {group for connector in CONNECTORS for group in connector.option_groups} | set(SHARED_GROUPS)
    declared = [
        str(field.alias or name)
        for group in groups
        for name, field in group.model_fields.items()
        if is_marked(field, SECRET_MARK)
    ]
    assert declared
    assert all(is_secret_key(key) and re.search(redaction_pattern(), key) for key in declared)


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        ("jdbc:mysql://me:s3cret@db/shop", ("s3cret",)),
        ("jdbc:mysql://db/shop?user=me&password=s3cret&x=1", ("s3cret",)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=ab+/c=", ("ab+/c=",)),
        ("AccountName=a;AccountKey=ab==;EndpointSuffix=x", ("ab==",)),
        ("https://a.blob.core/box?sv=1&sig=ab%3D", ("ab%3D",)),
        ("Pwd=s3cret;Server=h", ("s3cret",)),
        ("Server=h;Uid=u;Password = s3cret;", ("s3cret",)),
        ("user=me password=s3cret", ("s3cret",)),
        ('required username="u" password="s3cret";', ("s3cret",)),
        ("Authorization: Basic bWU6czNjcmV0", ("bWU6czNjcmV0",)),
        ("Basic information", ()),
        ("broker-1:9092,broker-2:9092", ()),
        ("http://auth:8080/token", ()),
    ],
)
def test_secrets_are_found_inside_values_by_us_and_by_spark(value, secrets):
    assert secret_values(value) == secrets
    assert bool(re.search(redaction_pattern(), value)) is bool(secrets) or "token" in value


@pytest.mark.parametrize(
    "key", ["subscribe", "key.format", "key.fields", "kafka.bootstrap.servers", "watermark.as", "hostname", "username"]
)
def test_ordinary_options_stay_readable_in_plans(key):
    assert not re.search(redaction_pattern(), key)


class FakeConf(dict):
    set = dict.__setitem__


class FakeSession:
    def __init__(self, **conf) -> None:
        self.conf = FakeConf(conf)


@pytest.mark.parametrize(("present", "hides"), [("(?i)url", "URL"), ("", None), ("mine", "mine")])
def test_what_a_session_redacts_already_stays_redacted_and_is_widened_once(present, hides):
    key = "spark.sql.redaction.options.regex"
    session = FakeSession(**{key: present})
    redact_options(session)
    once = session.conf[key]
    redact_options(session)
    assert session.conf[key] == once
    assert hides is None or re.search(once.replace("(?:(?i)url)", "(?i:url)"), hides)  # Python wants flags in front
    assert once.endswith(redaction_pattern())
