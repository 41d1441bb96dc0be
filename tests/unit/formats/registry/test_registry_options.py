"""The options of a registry: what Confluent's client is given, and what is refused."""

from __future__ import annotations

import pickle

import pytest

from datasources.errors import OptionError
from datasources.formats.registry.registry_options import registry_settings
from datasources.formats.registry.schema_registry import SchemaRegistry

URL = {"url": "http://registry:8081"}


@pytest.mark.parametrize(
    ("options", "client"),
    [
        ({}, {}),
        ({"basic-auth.credentials-source": "URL"}, {}),
        ({"basic-auth.user-info": "ann:p:w"}, {"basic.auth.user.info": "ann:p:w"}),
        ({"ssl.ca.location": "/ca.pem"}, {"ssl.ca.location": "/ca.pem"}),
        (
            {"bearer-auth.token": "t", "bearer-auth.identity-pool-id": "p"},
            {
                "bearer.auth.credentials.source": "STATIC_TOKEN",
                "bearer.auth.token": "t",
                "bearer.auth.logical.cluster": "",
                "bearer.auth.identity.pool.id": "p",
            },
        ),
    ],
)
def test_options_become_settings_of_the_client_which_takes_them(options, client):
    found = registry_settings({**URL, **options}, "avro-confluent")
    assert dict(found.client) == client
    assert pickle.loads(pickle.dumps(found)) == found
    if "ssl.ca.location" not in options:
        SchemaRegistry(found)


def test_secrets_are_in_no_text_of_the_settings():
    assert "p:w" not in repr(registry_settings({**URL, "basic-auth.user-info": "ann:p:w"}, "avro-confluent"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": None}, "needs 'avro-confluent.url'"),
        ({"url": "registry:8081"}, "is http://host:port or https://host:port"),
        ({"url": "http://one:1,two:2"}, "is http://host:port or https://host:port"),
        ({"basic-auth.credentials-source": "USER_INFO"}, "needs its 'basic-auth.user-info'"),
        ({"basic-auth.credentials-source": "SASL_INHERIT"}, "is 'USER_INFO' or 'URL' here, not 'SASL_INHERIT'"),
        ({"basic-auth.user-info": "ann"}, "is a user, a colon and a password"),
        ({"url": "http://ann:pw@r:1", "basic-auth.user-info": "a:b"}, "give one"),
        ({"bearer-auth.logical-cluster": "c"}, "needs 'avro-confluent.bearer-auth.token'"),
        ({"bearer-auth.credentials-source": "CUSTOM", "bearer-auth.token": "t"}, "is 'STATIC_TOKEN' here"),
        ({"basic-auth.user-info": "a:b", "bearer-auth.token": "t"}, "takes one of them"),
        ({"ssl.key.location": "/key.pem"}, "needs 'avro-confluent.ssl.certificate.location'"),
        ({"ssl.truststore.location": "/t.jks"}, "Java key store, and only PEM files are read here"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        registry_settings({**URL, **options}, "avro-confluent")


def test_a_file_that_is_not_there_is_an_error_of_the_options():
    settings = registry_settings({**URL, "ssl.ca.location": "/no/such/ca.pem"}, "avro-confluent")
    with pytest.raises(OptionError, match="the options of the schema registry cannot be used"):
        SchemaRegistry(settings)
