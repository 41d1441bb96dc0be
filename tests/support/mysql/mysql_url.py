"""The MySQL that tests run against, written as one URL."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote, urlsplit

from datasources.embedded import MySqlAddress
from datasources.errors import OptionError

__all__ = ["mysql_url", "parse_mysql_url"]

_DEFAULT_PORT: Final = 3306
_FORM: Final = "mysql://user:password@host:port"


def mysql_url(address: MySqlAddress) -> str:
    """Return an address with its password, as `parse_mysql_url` reads it back."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"mysql://{quote(address.user, safe='')}:{quote(address.password, safe='')}@{host}:{address.port}"


def parse_mysql_url(text: str, *, what: str) -> MySqlAddress:
    """Return the address that a URL names.

    Args:
        text: ``mysql://user:password@host:port``; the port may be left out; special characters are percent-encoded.
        what: What the text is called, for the message.

    Raises:
        OptionError: It is no such URL. The message does not repeat it: it may hold a password.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        raise OptionError(f"{what} is not a URL of the form {_FORM} (is the port a number?).") from None
    if parts.scheme != "mysql" or not parts.hostname or not parts.username or parts.path not in ("", "/"):
        raise OptionError(f"{what} is not a URL of the form {_FORM}; write @ : / % in a password as %40 %3A %2F %25.")
    return MySqlAddress(
        host=parts.hostname,
        port=port or _DEFAULT_PORT,
        user=unquote(parts.username),
        password=unquote(parts.password or ""),
    )
