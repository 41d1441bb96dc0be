"""OAuth's tokens from a function of Python, for logins that librdkafka has no method for.

The function is one for confluent-kafka's `oauth_cb`: it takes the text of `sasl.oauthbearer.config` and returns the
token and when it ends, in seconds since the epoch; optionally the principal and a dict of SASL extensions. A background
thread of each client calls it, once per lifetime of a token, so records are read without Python as with a password.
"""

from __future__ import annotations

import importlib
import logging
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import confluent_kafka

from datasources.errors import OptionError, SourceUnavailable
from watermark import SystemClock

PROVIDER: Final = "sasl.oauthbearer.token.provider"
"""The setting that names the function: module:function."""
CONFIG: Final = "sasl.oauthbearer.config"
MECHANISMS: Final = ("sasl.mechanism", "sasl.mechanisms")
"""Two names of one setting."""
_logger: Final = logging.getLogger(__name__)
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_LENGTHS: Final = (2, 3, 4)
_WITHOUT: Final[tuple[Any, ...]] = ("", {})
"""The principal and the extensions of an answer without them."""
_MILLISECONDS: Final = 1e11
"""Seconds of the year 5138: an end of that size is in milliseconds."""
_US_PER_S: Final = 1e6
_AGAIN_S: Final = 5.0
_BACKGROUND_SINCE: Final = (2, 13)
"""Since then confluent-kafka asks for tokens in the background; before, only while a client was polled."""


class Token(NamedTuple):
    """One token, checked.

    Attributes:
        value: what is sent to the brokers.
        ends_s: when it ends, in seconds since the epoch.
        principal: whose it is; librdkafka requires a name, the brokers take theirs from the token.
        extensions: SASL extensions.
    """

    value: str
    ends_s: float
    principal: str
    extensions: Mapping[str, str]


class TokenProvider:
    """A function that gives tokens.

    Args:
        name: module:function.
        config: the text that it is called with.

    Raises:
        OptionError: there is no such function here.
    """

    def __init__(self, name: str, config: str) -> None:
        self._name, self._config = name, config
        self._function = _function(name)

    def token(self) -> Token:
        """Return a new token.

        Raises:
            SourceUnavailable: the function failed, or gave something else; also logged, as clients show less of it.
        """
        try:
            return _checked(self._function(self._config))
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            _logger.warning("token_provider_failed provider=%r error=%s", self._name, problem)
            raise SourceUnavailable(f"the token provider '{self._name}' gave no token: {problem}") from error


class TokenCallback:
    """A provider in the form of confluent-kafka's `oauth_cb`, with its first token.

    It raises nothing: confluent-kafka reports an exception to the client's `error_cb` while it is still set, which is a
    SystemError in whoever waits for the client. A token that could not be renewed is given again until it ends, then
    one that brokers refuse; the client asks again some seconds later in both cases.

    Raises:
        SourceUnavailable: there is no first token.
    """

    def __init__(self, provider: TokenProvider) -> None:
        self._provider = provider
        self._last = provider.token()
        self._is_given = False

    def __call__(self, _: str) -> tuple[str, float, str, dict[str, str]]:
        """Return a token, when it ends, whose it is, and its extensions."""
        if self._is_given:
            try:
                self._last = self._provider.token()
            except SourceUnavailable:  # it is logged
                now_s = _now_s()
                if self._last.ends_s <= now_s + _AGAIN_S:
                    self._last = Token("none", now_s + _AGAIN_S, "token", {})
        self._is_given = True
        found = self._last
        return found.value, found.ends_s, found.principal, dict(found.extensions)


def token_provider(settings: Mapping[str, str]) -> TokenProvider | None:
    """Return the provider that a client's settings name; None = no setting names one.

    Raises:
        OptionError: there is no such function here, or confluent-kafka is too old.
    """
    name = settings.get(PROVIDER)
    if name is None:
        return None
    version = confluent_kafka.version()
    if _numbers(version) < _BACKGROUND_SINCE:
        raise OptionError(
            f"option 'kafka.{PROVIDER}' needs confluent-kafka {'.'.join(map(str, _BACKGROUND_SINCE))} or later; this "
            f"is {version}."
        )
    return TokenProvider(name, settings.get(CONFIG, ""))


def with_token_provider(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for a client of confluent-kafka: a provider's name is replaced by its function.

    Raises:
        OptionError: as `token_provider`.
        SourceUnavailable: the function gives no token.
    """
    provider = token_provider(settings)
    if provider is None:
        return dict(settings)
    return {
        **{name: value for name, value in settings.items() if name != PROVIDER},
        "oauth_cb": TokenCallback(provider),
    }


def _function(name: str) -> Callable[[str], object]:
    if not _NAME.fullmatch(name):
        raise OptionError(f"option 'kafka.{PROVIDER}' = '{name}': write module:function.")
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise OptionError(
            f"option 'kafka.{PROVIDER}' = '{name}': {error}. The module must be importable on the driver and on every "
            f"executor."
        ) from error
    if not callable(found):
        raise OptionError(f"option 'kafka.{PROVIDER}' = '{name}' is no function.")
    return found  # type: ignore[no-any-return]


def _checked(given: object) -> Token:
    """Return a provider's answer as a token; no message holds it."""
    if not isinstance(given, tuple) or len(given) not in _LENGTHS:
        raise ValueError("a token provider returns (token, seconds since the epoch), a principal, extensions")
    value, ends_s = given[:2]
    principal, extensions = (*given[2:], *_WITHOUT[len(given) - 2 :])
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or not value:
        raise ValueError("the token is no text of printable ASCII characters")
    if isinstance(ends_s, bool) or not isinstance(ends_s, int | float) or not math.isfinite(ends_s):
        raise ValueError("the end of the token is no number")
    if ends_s <= _now_s():
        raise ValueError("the token has ended: its end is in seconds since the epoch")
    if ends_s >= _MILLISECONDS:
        raise ValueError("the end of the token is in milliseconds: it is in seconds since the epoch")
    texts = (principal, *extensions, *extensions.values()) if isinstance(extensions, Mapping) else (None,)
    if not all(isinstance(each, str) and each.isascii() for each in texts):
        raise ValueError("the principal is no text, or the extensions are no dict of texts")
    return Token(value, float(ends_s), principal or "token", dict(extensions))


def _now_s() -> float:
    return SystemClock().now_us() / _US_PER_S


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:2]))
