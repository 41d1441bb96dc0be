"""Certificates and keys that cannot be read are reported with their option: OpenSSL names neither file nor reason."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.consumers import take_consumer
from datasources.kafka.metadata.broker_metadata import BrokerMetadata

FILES = ["ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location", "ssl.crl.location"]
OPENERS = {
    "driver": lambda config: BrokerMetadata(config).ends([("orders", 0)]),
    "task": lambda config: take_consumer(config, "orders", 0, 0),
}


def error(opener, **settings):
    config = ClientConfig({"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SSL", **settings})
    with pytest.raises(OptionError) as caught:
        opener(config)
    return str(caught.value)


@pytest.mark.parametrize("opener", OPENERS.values(), ids=OPENERS)
@pytest.mark.parametrize("option", FILES)
def test_a_missing_or_damaged_file_is_reported_with_its_option(option, opener, tmp_path):
    password = {"ssl.keystore.password": "geheim"} if "keystore" in option else {}
    damaged = tmp_path / "damaged.pem"
    damaged.write_text("no certificate")
    for path in (tmp_path / "missing.pem", damaged):
        message = error(opener, **{option: str(path), **password})
        assert f"The file of 'kafka.{option}' must exist, be readable" in message
        assert "geheim" not in message


def test_a_keystore_without_password_is_not_a_matter_of_its_file():
    message = error(OPENERS["driver"], **{"ssl.keystore.location": "/keys.p12"})
    assert "`ssl.keystore.password` is mandatory" in message
    assert "must exist" not in message
