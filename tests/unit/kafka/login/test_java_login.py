"""Logins of Java's clients: exact counterparts of librdkafka's, or an error that shows no secret."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.kafka.client.client_config import client_config

SERVERS = {"kafka.bootstrap.servers": "b1:9092"}
SECRET = "geheim-7"
PREFIX = "org.apache.kafka.common.security.oauthbearer."
OAUTH = f"{PREFIX}OAuthBearerLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
URL = "https://login.example.org/token"
OIDC = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.token.endpoint.url": URL,
    "sasl.login.callback.handler.class": f"{PREFIX}secured.OAuthBearerLoginCallbackHandler",
    "sasl.jaas.config": f'{OAUTH} clientId="me" clientSecret="{SECRET}" scope=\'a b\';',
}


def config(**options: str):
    found = client_config({**SERVERS, **{f"kafka.{key}": value for key, value in options.items()}})
    assert SECRET not in repr(found)
    return {key: value for key, value in found.items() if key != "bootstrap.servers"}


def error(**options: str):
    with pytest.raises(OptionError) as caught:
        config(**options)
    assert SECRET not in str(caught.value)
    return caught.value.message


@pytest.mark.parametrize("package", ["", "secured."])
def test_client_credentials_become_librdkafkas(package):
    handler = {"sasl.login.callback.handler.class": f"{PREFIX}{package}OAuthBearerLoginCallbackHandler"}
    assert config(**{**OIDC, **handler}) == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": URL,
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": SECRET,
        "sasl.oauthbearer.scope": "a b",
    }


def test_extensions_become_one_list():
    line = f'{OAUTH} clientId="me" clientSecret="{SECRET}" extension_logicalCluster="lkc-1" extension_pool=\'p\';'
    assert config(**{**OIDC, "sasl.jaas.config": line})["sasl.oauthbearer.extensions"] == "logicalCluster=lkc-1,pool=p"
    assert "an extension holds ',' or '='" in error(**{**OIDC, "sasl.jaas.config": f'{OAUTH} extension_a="b,c=d";'})


def test_credentials_outside_of_the_line_are_as_good():
    """Kafka 4.1 has settings of their own for them, which librdkafka calls the same."""
    own = {
        "sasl.jaas.config": f"{OAUTH} ;",
        "sasl.oauthbearer.client.credentials.client.id": "me",
        "sasl.oauthbearer.client.credentials.client.secret": SECRET,
    }
    found = config(**{**OIDC, **own})
    assert found["sasl.oauthbearer.method"] == "oidc"
    assert found["sasl.oauthbearer.client.credentials.client.secret"] == SECRET


@pytest.mark.parametrize(
    "name", ["sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret"]
)
def test_a_secret_that_is_given_twice_must_be_one(name):
    assert config(**OIDC, **{name: SECRET})[name] == SECRET
    message = error(**OIDC, **{name: f"{SECRET}x"})
    assert message == f"options 'kafka.sasl.jaas.config' and 'kafka.{name}' differ: set one of them."


def test_a_token_endpoint_is_needed():
    given = {key: value for key, value in OIDC.items() if "endpoint" not in key}
    assert "needs 'kafka.sasl.oauthbearer.token.endpoint.url'" in error(**given)


def test_a_setting_of_librdkafka_may_stand_in_for_the_handler():
    given = {key: value for key, value in OIDC.items() if "handler" not in key}
    assert config(**given, **{"sasl.oauthbearer.method": "oidc"})["sasl.oauthbearer.client.id"] == "me"


def test_the_handler_that_is_javas_default_is_left_out():
    default = f"{PREFIX}internals.OAuthBearerSaslClientCallbackHandler"
    assert config(**OIDC, **{"sasl.client.callback.handler.class": default}) == config(**OIDC)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"sasl.jaas.config": f'{OAUTH} unsecuredLoginStringClaim_sub="u";'}, "unsecured tokens are for tests"),
        (
            {**OIDC, "sasl.jaas.config": f'{OAUTH} unsecuredLoginStringClaim_sub="{SECRET}";'},
            "has the field 'unsecuredLoginStringClaim_sub': unsecured tokens",
        ),
        (
            {
                "sasl.login.callback.handler.class": f"{PREFIX}internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
            },
            "'kafka.enable.sasl.oauthbearer.unsecure.jwt'",
        ),
        ({"sasl.login.callback.handler.class": "com.example.Mine"}, "'kafka.sasl.oauthbearer.method' = 'oidc'"),
        ({"sasl.client.callback.handler.class": "com.example.Mine"}, "use librdkafka's sasl.* settings"),
        (
            {**OIDC, "sasl.jaas.config": f'{OAUTH} clientId="me" ssl.truststore.password="{SECRET}";'},
            "it has no counterpart in librdkafka. Certificates for the token endpoint are 'kafka.https.ca.location'",
        ),
        ({"sasl.jaas.config": f'{SCRAM} username="u" password="{SECRET}" tokenauth="true";'}, "delegation tokens"),
        ({"sasl.jaas.config": f'{SCRAM} username="u" password="{SECRET}" other=x;'}, "has the field 'other'"),
        ({"sasl.jaas.config": f'{SCRAM} username="u" password="{SECRET}'}, "is malformed: write one login"),
        ({"sasl.jaas.config": f'{SCRAM} username="u"; {SCRAM} password="{SECRET}";'}, "is malformed"),
        ({"sasl.jaas.config": ""}, "names a login module that exists in Java only"),
    ],
)
def test_what_has_no_exact_counterpart_is_refused(given, part):
    assert part in error(**given)


def test_a_password_that_looks_like_a_field_is_a_password():
    line = f"{SCRAM} username='u' password=\"x username='y'\";"
    assert config(**{"sasl.jaas.config": line}) == {"sasl.username": "u", "sasl.password": "x username='y'"}
