"""A second listener of an embedded Kafka, as production has it: TLS and a login."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from datasources.embedded.process.certificates import AUTHORITY_FILE, key_and_certificate, make_certificates
from datasources.errors import OptionError

_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-512")
_KEYSTORE_FILE: Final = "tls-keystore.pem"
_PREFIX: Final = "listener.name.secured"
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]+")
_PRIVATE: Final = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaLogin:
    """The logins of the secured listener, by PLAIN and by SCRAM-SHA-512.

    Attributes:
        username: of letters, digits, `_`, `.` and `-`, as the password is.
        password: never shown.

    Raises:
        OptionError: a character that Kafka's settings would read as something else.
    """

    username: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("username", "password"):
            if not _WORD.fullmatch(getattr(self, name)):
                raise OptionError(f"the {name} of an embedded Kafka has letters, digits, '_', '.' and '-' only")


def secured_listener(login: KafkaLogin, directory: Path) -> dict[str, str]:
    """Make certificates in a directory, unless they are there; return the settings of the listener `SECURED`."""
    keystore = directory / _KEYSTORE_FILE
    if not keystore.exists():
        make_certificates(directory)
        keystore.touch(mode=_PRIVATE)
        keystore.write_bytes(key_and_certificate(directory))
    modules = "org.apache.kafka.common.security"
    known = f'username="{login.username}" password="{login.password}" user_{login.username}="{login.password}"'
    return {
        f"{_PREFIX}.ssl.keystore.type": "PEM",
        f"{_PREFIX}.ssl.keystore.location": str(keystore),
        f"{_PREFIX}.sasl.enabled.mechanisms": ",".join(_MECHANISMS),
        f"{_PREFIX}.plain.sasl.jaas.config": f"{modules}.plain.PlainLoginModule required {known};",
        f"{_PREFIX}.scram-sha-512.sasl.jaas.config": f"{modules}.scram.ScramLoginModule required;",
    }


def scram_arguments(login: KafkaLogin) -> list[str]:
    """Return the arguments for a login of Kafka's tool that formats a data directory."""
    return ["--add-scram", f"SCRAM-SHA-512=[name={login.username},password={login.password}]"]


def secured_client(login: KafkaLogin, address: str, directory: Path, mechanism: str) -> dict[str, str]:
    """Return a client's settings for the listener, in Kafka's names."""
    return {
        "bootstrap.servers": address,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.username": login.username,
        "sasl.password": login.password,
        "ssl.ca.location": str(directory / AUTHORITY_FILE),
    }
