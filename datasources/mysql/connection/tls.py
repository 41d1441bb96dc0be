"""Cached TLS contexts: creating one costs seven times as much as a handshake."""

from __future__ import annotations

import functools
import ssl
from dataclasses import dataclass
from pathlib import Path

from datasources.errors import OptionError
from datasources.mysql.config.mysql_options import TlsMode


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """The settings of a TLS context.

    ``ca``, ``certificate`` and ``key`` are PEM files; without ``ca`` the system's authorities are trusted.
    """

    mode: TlsMode = TlsMode.PREFERRED
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return the cached context of these settings; a new one if a file was replaced.

    Raises:
        OptionError: A file does not exist or is not usable; names the option.
    """
    files = {"ssl.ca": settings.ca, "ssl.cert": settings.certificate, "ssl.key": settings.key}
    changed = tuple(_changed(key, path) for key, path in files.items() if path is not None)
    return _context(settings, changed)


def _changed(option: str, path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError as error:
        raise OptionError(
            f"option '{option}' = '{path}' cannot be read here ({error.strerror}): executors need the file too, at the "
            "same path."
        ) from error


@functools.lru_cache(maxsize=8)
def _context(settings: TlsSettings, _changed: tuple[int, ...]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.mode is TlsMode.VERIFY_IDENTITY
    context.verify_mode = ssl.CERT_REQUIRED if settings.mode.is_verified else ssl.CERT_NONE
    # From Python 3.13 on the strict flag is a default; certificates that MySQL generates do not pass it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if settings.mode.is_verified:
        _load_authorities(context, settings.ca)
    if settings.certificate is not None:
        _load_certificate(context, settings.certificate, settings.key)
    return context


def _load_authorities(context: ssl.SSLContext, path: str | None) -> None:
    if path is None:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(path)
    except ssl.SSLError as error:
        raise OptionError(f"option 'ssl.ca' = '{path}' holds no PEM certificates ({error.reason}).") from error


def _load_certificate(context: ssl.SSLContext, certificate: str, key: str | None) -> None:
    try:
        # An encrypted key would make OpenSSL ask at the terminal of a process that has none.
        context.load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        raise OptionError(
            f"options 'ssl.cert' = '{certificate}' and 'ssl.key' = '{key}' are no certificate with its unencrypted key "
            f"in PEM ({error})."
        ) from error


def _no_password() -> str:
    raise ValueError("the key is encrypted")
