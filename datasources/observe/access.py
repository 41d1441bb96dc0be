"""Access control of the page.

A page on loopback has no token: its clients are on the driver's machine. Only requests that name this machine get
an answer, so a web page whose host name was turned to this machine's address (DNS rebinding) gets nothing.

Any other page has a token. A browser gets it with the address that the driver's log names and keeps it as a cookie;
programs send it as `Authorization: Bearer`. Names of hosts are checked too; an address cannot be turned.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs, urlsplit

from datasources.errors import OptionError

_SCHEME: Final = "bearer"
_PARAMETER: Final = "token"
_SHORTEST_TOKEN: Final = 16
_TOKEN_BYTES: Final = 24
_MAX_COOKIE_CHARACTERS: Final = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAccess:
    """Access from machines other than the driver's, and from pages of other origins.

    Attributes:
        token: that they must send; None = a random one is generated.
        names: accepted in the Host header besides the host's own, such as a proxy's.
        frames: origins of pages that may show this one in a frame, such as `http://localhost:8888` of a notebook.
    """

    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rule of one page.

    Attributes:
        is_local: whether only this machine can connect.
        hosts: names accepted in the Host header, in lower case.
        token: that a request must send; None for a local page.
        cookie: the name of the cookie that has it: cookies are kept by host, and a host may have several pages.
    """

    is_local: bool
    hosts: frozenset[str]
    token: str | None = field(default=None, repr=False)
    cookie: str = "tidemark"

    def __post_init__(self) -> None:
        """Check the token.

        Raises:
            OptionError: it is too short, or no plain text.
        """
        if self.token is None:
            return
        if len(self.token) < _SHORTEST_TOKEN or not all(letter.isalnum() or letter in "-_" for letter in self.token):
            raise OptionError(
                f"'spark.tidemark.ui.token' must have at least {_SHORTEST_TOKEN} letters, digits, - or _: leave it "
                f"out, and the driver makes one."
            )

    def knows(self, host: str) -> bool:
        """Return whether the Host header of a request names this page."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self.is_local

    def admits(self, authorization: str | None, cookies: tuple[str, ...]) -> bool:
        """Return whether a request has the token, in its headers Authorization or Cookie."""
        if self.token is None:
            return True
        scheme, _, sent = (authorization or "").partition(" ")
        if scheme.lower() == _SCHEME and self._is_token(sent.strip()):
            return True
        return any(self._is_token(value) for value in self._cookie_values(cookies))

    def token_in(self, query: str) -> bool:
        """Return whether an address has the token as its parameter ``token``."""
        try:
            values = parse_qs(query, max_num_fields=1).get(_PARAMETER, [])
        except ValueError:
            return False
        return self.token is not None and len(values) == 1 and self._is_token(values[0])

    @property
    def set_cookie(self) -> str:
        """The header that makes a browser keep the token."""
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"

    def _is_token(self, text: str) -> bool:
        return self.token is not None and hmac.compare_digest(text.encode(), self.token.encode())

    def _cookie_values(self, cookies: tuple[str, ...]) -> list[str]:
        found = []
        for header in cookies:
            try:
                request_cookies = SimpleCookie(header[:_MAX_COOKIE_CHARACTERS])
            except CookieError:
                continue
            if self.cookie in request_cookies:
                found.append(request_cookies[self.cookie].value)
        return found


def access_of(host: str, address: str, port: int, remote: RemoteAccess) -> Access:
    """Return the rule of a page.

    ``remote`` counts unless the address is a loopback one.

    Raises:
        OptionError: the token is not one.
    """
    is_local = ipaddress.ip_address(address).is_loopback
    names = {"localhost", host}
    if not is_local:
        names |= {socket.gethostname(), socket.getfqdn(), *remote.names}
    return Access(
        is_local=is_local,
        hosts=frozenset(name.strip().lower() for name in names) - {""},
        token=None if is_local else remote.token or secrets.token_urlsafe(_TOKEN_BYTES),
        cookie=f"tidemark-{port}",
    )
