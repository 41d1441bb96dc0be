"""Translates certificates and keys as Java's clients configure them: key stores and trust stores.

librdkafka reads PEM, and a PKCS#12 file for the client's own key. Stores of these types are translated; of the others
the error has the command that converts them.

Source: Kafka's SslConfigs (KIP-651 for PEM).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from datasources.errors import OptionError

_TRUST: Final = "ssl.truststore."
_KEY: Final = "ssl.keystore."
_CA: Final = "ssl.ca.location"
_INLINE: Final[Mapping[str, str]] = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"
JAVA_STORES: Final = frozenset(
    {*_INLINE, _IDENTIFICATION, *(f"{_TRUST}{name}" for name in ("location", "password", "type"))}
    | {f"{_KEY}{name}" for name in ("location", "type")}
)
"""The settings that `java_stores` translates. `ssl.keystore.password` is librdkafka's as well."""
_PEM: Final = "PEM"
_PKCS12: Final = "PKCS12"
_JKS: Final = "JKS"
_ENDINGS: Final[Mapping[str, str]] = {
    ".pem": _PEM,
    ".crt": _PEM,
    ".p12": _PKCS12,
    ".pfx": _PKCS12,
    ".pkcs12": _PKCS12,
}


def java_stores(given: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's settings for the `JAVA_STORES` among settings without prefix.

    Raises:
        OptionError: a store has to be converted, or a setting is given twice.
    """
    found = {**_trusted(given), **_own_key(given)}
    found.update({name: given[java] for java, name in _INLINE.items() if java in given})
    if _IDENTIFICATION in given:
        found[_IDENTIFICATION] = given[_IDENTIFICATION] or "none"
    for name, value in found.items():
        if name not in JAVA_STORES and given.get(name, value) != value:
            raise OptionError(f"option 'kafka.{name}' and Java's option for the same differ: set one of them.")
    return found


def _trusted(given: Mapping[str, str]) -> dict[str, str]:
    location = given.get(f"{_TRUST}location")
    if location is None:
        unused = next((name for name in given if name in (f"{_TRUST}password", f"{_TRUST}type")), None)
        if unused is None or given[unused].upper() == _PEM:
            return {}
        raise OptionError(f"option 'kafka.{unused}' has no effect without 'kafka.{_TRUST}location': remove it.")
    kind, name = _kind(given, _TRUST, location), shlex.quote(location)
    if kind == _PEM and f"{_TRUST}password" in given:
        raise OptionError(f"option 'kafka.{_TRUST}password': PEM files of certificates have no password. Remove it.")
    if kind == _PEM:
        return {_CA: location}
    command = f"openssl pkcs12 -in {name} -nokeys -out ca.pem" if kind == _PKCS12 else _exported(name)
    raise OptionError(
        f"option 'kafka.{_TRUST}location' is a store of Java ({kind}), and librdkafka reads PEM. Convert it by "
        f"`{command}`, set 'kafka.{_CA}' = 'ca.pem' and remove the options of the trust store."
    )


def _exported(name: str) -> str:
    return f"keytool -list -rfc -keystore {name} > ca.pem"


def _own_key(given: Mapping[str, str]) -> dict[str, str]:
    location = given.get(f"{_KEY}location")
    if location is None:
        return {}
    kind = _kind(given, _KEY, location)
    if kind == _PEM:
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    if kind == _PKCS12:
        return {f"{_KEY}location": location}
    raise OptionError(
        f"option 'kafka.{_KEY}location' is a store of Java ({kind}), and librdkafka reads PKCS#12. Convert it by "
        f"`keytool -importkeystore -srckeystore {shlex.quote(location)} -destkeystore client.p12 -deststoretype PKCS12`"
        f", set 'kafka.{_KEY}location' = 'client.p12' and 'kafka.{_KEY}password', and remove 'kafka.{_KEY}type'."
    )


def _kind(given: Mapping[str, str], store: str, location: str) -> str:
    """Return the type of a store; if it is not given, by the ending of the file's name. Java's default is JKS."""
    named = given.get(f"{store}type", "").strip().upper()
    return named or next((kind for end, kind in _ENDINGS.items() if location.lower().endswith(end)), _JKS)
