"""Certificates and keys of Java's clients: stores in PEM and PKCS#12 are translated, others name the command."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from datasources.embedded.process.certificates import AUTHORITY_FILE, key_and_certificate, make_certificates
from datasources.errors import OptionError
from datasources.kafka.client.client_config import client_config
from datasources.kafka.metadata.broker_metadata import BrokerMetadata

SECRET = "geheim-7"


def client(**options: str):
    return client_config({"kafka.bootstrap.servers": "127.0.0.1:1", **{f"kafka.{k}": v for k, v in options.items()}})


def config(**options: str):
    return {key: value for key, value in client(**options).items() if key != "bootstrap.servers"}


def error(**options: str):
    with pytest.raises(OptionError) as caught:
        client(**options)
    assert SECRET not in str(caught.value)
    return caught.value.message


def test_pem_stores_are_the_same_files():
    given = {
        "ssl.truststore.type": "pem",
        "ssl.truststore.location": "/trust.store",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "/key.store",
        "ssl.key.password": SECRET,
    }
    assert config(**given) == {
        "ssl.ca.location": "/trust.store",
        "ssl.certificate.location": "/key.store",
        "ssl.key.location": "/key.store",
        "ssl.key.password": SECRET,
    }


def test_certificates_inside_options_are_handed_on():
    given = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "CA",
        "ssl.keystore.certificate.chain": "CHAIN",
        "ssl.keystore.key": SECRET,
    }
    assert config(**given) == {"ssl.ca.pem": "CA", "ssl.certificate.pem": "CHAIN", "ssl.key.pem": SECRET}
    assert SECRET not in repr(client(**given))


@pytest.mark.parametrize("more", [{"ssl.keystore.type": "PKCS12"}, {}])
def test_a_pkcs12_key_store_is_librdkafkas_own(more):
    given = {"ssl.keystore.location": "/keys.p12", "ssl.keystore.password": SECRET}
    assert config(**given, **more) == given


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"ssl.truststore.location": "/t.jks"}, "`keytool -list -rfc -keystore /t.jks > ca.pem`"),
        ({"ssl.truststore.location": "/my trust"}, "`keytool -list -rfc -keystore '/my trust' > ca.pem`"),
        ({"ssl.truststore.location": "/t.p12"}, "`openssl pkcs12 -in /t.p12 -nokeys -out ca.pem`"),
        (
            {"ssl.truststore.location": "/t", "ssl.truststore.type": "pkcs12"},
            "`openssl pkcs12 -in /t -nokeys -out ca.pem`",
        ),
        (
            {"ssl.keystore.location": "/k.jks"},
            "`keytool -importkeystore -srckeystore /k.jks -destkeystore client.p12 -deststoretype PKCS12`",
        ),
        ({"ssl.keystore.location": "/k.p12", "ssl.keystore.type": "JKS"}, "(JKS), and librdkafka reads PKCS#12"),
    ],
)
def test_a_store_of_java_names_the_command_that_converts_it(given, command):
    store = next(iter(given)).removesuffix("location")
    assert command in error(**{f"{store}password": SECRET, **given})


@pytest.mark.parametrize("name", ["password", "type"])
def test_a_trust_store_without_a_file_is_refused(name):
    message = error(**{f"ssl.truststore.{name}": SECRET})
    assert message == (
        f"option 'kafka.ssl.truststore.{name}' has no effect without 'kafka.ssl.truststore.location': remove it."
    )


def test_a_trust_store_in_pem_has_no_password():
    given = {"ssl.truststore.location": "/t.pem", "ssl.truststore.password": SECRET}
    assert "PEM files of certificates have no password" in error(**given)


def test_an_authority_that_is_given_twice_must_be_one():
    given = {"ssl.truststore.location": "/a.pem", "ssl.ca.location": "/b.pem"}
    assert error(**given) == "option 'kafka.ssl.ca.location' and Java's option for the same differ: set one of them."
    assert config(**{**given, "ssl.ca.location": "/a.pem"}) == {"ssl.ca.location": "/a.pem"}


@pytest.mark.parametrize(("given", "found"), [("", "none"), ("https", "https")])
def test_javas_way_to_switch_the_check_of_names_off(given, found):
    assert config(**{"ssl.endpoint.identification.algorithm": given}) == {
        "ssl.endpoint.identification.algorithm": found
    }


@pytest.mark.parametrize("kind", ["PEM", "PKCS12"])
def test_librdkafka_opens_what_was_translated(tmp_path, kind):
    """A client is opened with the files: librdkafka refuses at once what it cannot read."""
    make_certificates(tmp_path)
    given = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tmp_path / AUTHORITY_FILE),
        "ssl.keystore.type": kind,
        "ssl.keystore.location": str(tmp_path / "own"),
    }
    text = key_and_certificate(tmp_path)
    if kind == "PEM":
        (tmp_path / "own").write_bytes(text)
    else:
        key, own = serialization.load_pem_private_key(text, None), x509.load_pem_x509_certificate(text)
        encryption = serialization.BestAvailableEncryption(SECRET.encode())
        stored = pkcs12.serialize_key_and_certificates(b"me", key, own, None, encryption)
        (tmp_path / "own").write_bytes(stored)
        given["ssl.keystore.password"] = SECRET
    found = BrokerMetadata(client(**given))
    try:
        assert found._admin is not None
    finally:
        found.close()
