"""A MySQL server's address and login, written as one URL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from datasources.errors import OptionError

__all__ = ["DEFAULT_PORT", "MySqlAddress", "parse_mysql_url"]

DEFAULT_PORT: Final = 3306
"""The port of MySQL's protocol where none is given."""

_FORM: Final = "mysql://user:password@host:port"


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlAddress:
    """A server and a login; the password is in no text of it but `url`."""

    host: str
    port: int = DEFAULT_PORT
    user: str
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """The address with its password, as `parse_mysql_url` reads it back: a secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"mysql://{quote(self.user, safe='')}:{quote(self.password, safe='')}@{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}"


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
        port=port or DEFAULT_PORT,
        user=unquote(parts.username),
        password=unquote(parts.password or ""),
    )
