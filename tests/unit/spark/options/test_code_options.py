"""Options by which their writer could run code are refused, and an administrator can allow them."""

from __future__ import annotations

import ctypes
import re

import pytest
from confluent_kafka import cimpl

from datasources.errors import OptionError
from datasources.kafka.client.client_config import _IGNORED_JAVA, _JAVA_ONLY, _OWNED
from datasources.kafka.login.code_options import CODE_SETTINGS
from datasources.kafka.login.java_login import JAVA_LOGIN
from datasources.kafka.login.token_provider import PROVIDER
from datasources.kafka.source import KafkaSource
from datasources.spark.options.code_options import ALLOW_CODE, allows_code_options
from datasources.spark.scan.scan import build_scan

PLAIN = {"kafka.bootstrap.servers": "b:1", "subscribe": "orders"}
IN_COMMAND = ("sasl.kerberos.principal", "sasl.kerberos.keytab", "sasl.kerberos.service.name")
SOUNDS_LIKE_CODE = re.compile(r"plugin|librar|engine|provider|\bcmd\b|command|class|script|interceptor|\.file$|exec")


def refused(**options):
    with pytest.raises(OptionError) as caught:
        build_scan(KafkaSource, {**PLAIN, **options}, {})
    return caught.value.message


@pytest.mark.parametrize("prefix", ["kafka.", "properties.", "KAFKA."])
@pytest.mark.parametrize("name", sorted(CODE_SETTINGS))
def test_a_setting_that_runs_code_is_refused_with_who_can_allow_it(prefix, name):
    message = refused(**{f"{prefix}{name}": "evil.so"})
    assert f"option 'kafka.{name}'" in message
    assert "--conf spark.tidemark.allow-code-options=true" in message


@pytest.mark.parametrize("name", sorted(CODE_SETTINGS))
def test_an_administrator_allows_them(name):
    scan = build_scan(KafkaSource, {**PLAIN, f"kafka.{name}": "x"}, {}, allows_code=True)
    assert scan.source.factory.settings.config[name] == "x"


@pytest.mark.parametrize(
    "text", ["me; touch /tmp/x", "$(id)", "`id`", "a b", "a|b", "a\nb", "a&b", 'a"b', "a'b", "%{x}", "a>b"]
)
@pytest.mark.parametrize("name", IN_COMMAND)
def test_what_goes_into_a_command_has_no_characters_of_the_shell(name, text):
    assert "a command that a shell runs" in refused(**{f"kafka.{name}": text})


@pytest.mark.parametrize("text", ["kafka/host.example@EXAMPLE.COM", "/etc/security/keytabs/me.keytab", "kafka"])
@pytest.mark.parametrize("name", IN_COMMAND)
def test_ordinary_kerberos_settings_pass(name, text):
    assert build_scan(KafkaSource, {**PLAIN, f"kafka.{name}": text}, {}).source.factory.settings.config[name] == text


def test_tokens_are_asked_for_at_web_addresses_only():
    assert "a web address" in refused(**{"kafka.sasl.oauthbearer.token.endpoint.url": "file:///etc/passwd"})
    build_scan(KafkaSource, {**PLAIN, "kafka.sasl.oauthbearer.token.endpoint.url": "https://login.example/token"}, {})


@pytest.mark.parametrize(
    "options",
    [
        {"spark.tidemark.allow-code-options": "true"},
        {"allow-code-options": "true"},
        {"scan.allow-code-options": "true"},
    ],
)
def test_no_option_allows_them(options):
    with pytest.raises(OptionError):
        build_scan(KafkaSource, {**PLAIN, "kafka.plugin.library.paths": "x", **options}, options)


def test_every_setting_of_librdkafka_that_sounds_like_code_is_on_a_list(tmp_path):
    library, c = ctypes.CDLL(cimpl.__file__), ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    library.rd_kafka_conf_properties_show.argtypes = c.fclose.argtypes = [ctypes.c_void_p]
    file = c.fopen(str(tmp_path / "properties").encode(), b"w")
    library.rd_kafka_conf_properties_show(file)
    c.fclose(file)
    names = set(re.findall(r"^([a-z][a-z0-9.]*) +\|", (tmp_path / "properties").read_text(), re.MULTILINE))
    sounding = {name for name in names if SOUNDS_LIKE_CODE.search(name)} - {"interceptors"}  # those are functions
    assert {*CODE_SETTINGS, *IN_COMMAND} - {PROVIDER} <= names
    assert sounding - set(CODE_SETTINGS) == set()


@pytest.mark.parametrize(
    "key",
    [
        "interceptor.classes",
        "security.providers",
        "sasl.login.callback.handler.class",
        "sasl.client.callback.handler.class",
        "key.deserializer",
    ],
)
def test_names_of_java_classes_are_refused(key):
    assert key in {*_OWNED, *_JAVA_ONLY, *JAVA_LOGIN} - _IGNORED_JAVA
    assert f"'kafka.{key}'" in refused(**{f"kafka.{key}": "org.example.Evil"})


class FakeContext:
    def __init__(self, settings) -> None:
        self.settings = settings

    def getConf(self):  # noqa: N802 - Spark's name
        return self.settings


class FakeSession:
    def __init__(self, **application) -> None:
        self.sparkContext = FakeContext(application)
        self.conf = {ALLOW_CODE: "true"}  # what a user SETs


def test_the_application_decides_not_the_session():
    assert not allows_code_options(FakeSession())
    assert allows_code_options(FakeSession(**{ALLOW_CODE: "true"}))
    with pytest.raises(OptionError, match="use true or false"):
        allows_code_options(FakeSession(**{ALLOW_CODE: "yes"}))
