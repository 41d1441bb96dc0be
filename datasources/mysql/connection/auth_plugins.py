"""The authentication plugins that may request the password.

A server names the plugin of a login, and PyMySQL answers each that it knows, including the two that request the
password in clear text. So allowed plugins are listed here, and those that a connection does not allow get a handler
that refuses. PyMySQL looks a handler up before it answers, when the server greets and when it asks to switch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from datasources.errors import OptionError

_SIGNATURE: Final = "client_ed25519"
_HASHES: Final = frozenset({"", "mysql_native_password", _SIGNATURE, "caching_sha2_password"})
"""The password is not sent, or (caching_sha2_password) only under TLS or encrypted with the connection's key."""

_PYNACL: Final = "pip install pynacl"

_WANTS_KEY: Final = "sha256_password"
"""Uses the key that the server sends, whatever key the connection has."""

_IN_CLEAR: Final = frozenset({"mysql_clear_password", "dialog"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginHandlers(Mapping[str, Callable[[Any], Any]]):
    """PyMySQL's map of plugins: has a handler, which refuses, for each plugin that is not allowed.

    Attributes:
        login: The login and the server, for messages.
        is_verified: Whether the connection has TLS and the server's certificate is checked.
        is_key_refused: Whether the connection has no TLS, and may not accept a key from the server.
    """

    login: str
    is_verified: bool
    is_key_refused: bool

    def __getitem__(self, plugin: str | bytes) -> Callable[[Any], Any]:
        name = plugin.decode("ascii", "replace") if isinstance(plugin, bytes) else plugin
        if reason := self._reason(name):
            return lambda _connection: _Refusal(reason)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in (*_HASHES, _WANTS_KEY, *_IN_CLEAR) if self._reason(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """PyMySQL ignores an empty map, and this one has more names than it lists."""
        return True

    def _reason(self, plugin: str) -> str:
        if plugin == _SIGNATURE and importlib.util.find_spec("nacl") is None:
            return f"the login {self.login} has the plugin ed25519, which needs PyNaCl wherever it is used: {_PYNACL}"
        if plugin in _HASHES or (plugin in _IN_CLEAR and self.is_verified):
            return ""
        if plugin in _IN_CLEAR:
            return (
                f"the server asks {self.login} for the password in clear text (plugin '{plugin}'), and nothing proves "
                "who the server is: set 'ssl.mode' to 'verify-identity' and 'ssl.ca', or give the login another plugin."
            )
        if plugin != _WANTS_KEY:
            return (
                f"the login {self.login} has the plugin '{plugin[:64]}', which is not supported: give it "
                "caching_sha2_password or mysql_native_password (MariaDB: also ed25519)."
            )
        return missing_key(self.login, plugin) if self.is_key_refused else ""


def missing_key(login: str, plugin: str) -> str:
    """Return the message for a plugin that encrypts the password with a key that may not be accepted."""
    return (
        f"the login {login} needs a full exchange of its password ({plugin}), and there is no TLS: set 'ssl.mode' to "
        "'required' or more; 'get-server-public-key' = 'true' takes a key from whoever answers."
    )


@dataclass(frozen=True, slots=True)
class _Refusal:
    reason: str

    def authenticate(self, _packet: Any) -> NoReturn:
        raise OptionError(self.reason)
