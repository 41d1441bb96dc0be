"""TLS certificates of the servers that we start: an authority of their own, valid for loopback only.

MySQL makes certificates by itself, but for no host name, so a client that checks the name would refuse them; MariaDB
makes them anew at every start, which takes its TLS library up to half a minute. Kafka makes none.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from datasources.embedded.process.ports import LOOPBACK

AUTHORITY_FILE: Final = "tls-ca.pem"
"""Name of the authority's certificate in a server's data directory."""

_CERTIFICATE_FILE: Final = "tls-server.pem"
_KEY_FILE: Final = "tls-server-key.pem"
_KEY_BITS: Final = 2048
_EXPONENT: Final = 65537
_PRIVATE: Final = 0o600
# Dates that need no clock: the keys never leave this machine and its loopback.
_FROM: Final = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
_UNTIL: Final = dt.datetime(2049, 12, 31, tzinfo=dt.UTC)


def make_certificates(directory: Path) -> None:
    """Make an authority and a server certificate for localhost and 127.0.0.1, as PEM files."""
    authority_key, server_key = _new_key(), _new_key()
    authority = _sign("Tidemark embedded authority", authority_key, "Tidemark embedded authority", authority_key, [])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(LOOPBACK))]
    server = _sign("Tidemark embedded server", server_key, "Tidemark embedded authority", authority_key, names)
    (directory / AUTHORITY_FILE).write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    (directory / _CERTIFICATE_FILE).write_bytes(server.public_bytes(serialization.Encoding.PEM))
    key_file = directory / _KEY_FILE
    key_file.touch(mode=_PRIVATE)
    key_file.write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )


def certificate_settings(directory: Path) -> dict[str, str]:
    """Return MySQL's options that name the files of `make_certificates`."""
    return {
        "ssl-ca": str(directory / AUTHORITY_FILE),
        "ssl-cert": str(directory / _CERTIFICATE_FILE),
        "ssl-key": str(directory / _KEY_FILE),
    }


def key_and_certificate(directory: Path) -> bytes:
    """Return the server's key and certificate in one PEM text, the key as PKCS #8, which is what Java reads."""
    key = serialization.load_pem_private_key((directory / _KEY_FILE).read_bytes(), password=None)
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return text + (directory / _CERTIFICATE_FILE).read_bytes()


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=_EXPONENT, key_size=_KEY_BITS)


def _sign(
    subject: str, key: rsa.RSAPrivateKey, issuer: str, issuer_key: rsa.RSAPrivateKey, names: Sequence[x509.GeneralName]
) -> x509.Certificate:
    """Return a certificate; without names it is an authority's."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    else:
        builder = builder.add_extension(_authority_usage(), critical=True)
    return builder.sign(issuer_key, hashes.SHA256())


def _authority_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
