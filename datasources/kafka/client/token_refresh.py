"""Tokens for a client of librdkafka's C interface: its background thread calls Python once per lifetime of a token."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_void_p
from typing import Any, Final

from datasources.errors import SourceUnavailable
from datasources.kafka.login.token_provider import Token, TokenProvider

_CALLBACK: Final = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_void_p)
_TEXT_BYTES: Final = 512


class TokenRefresh:
    """Gives one client its tokens; it must live as long as the client.

    Args:
        provider: where tokens come from.
        call: calls a function of librdkafka by its name.
    """

    def __init__(self, provider: TokenProvider, call: Callable[..., Any]) -> None:
        self._provider, self._call = provider, call
        self._callback = _CALLBACK(self._refresh)

    def configure(self, config: int) -> None:
        """Change the configuration of a client that is to be opened."""
        self._call("conf_set_oauthbearer_token_refresh_cb", config, ctypes.cast(self._callback, c_void_p))
        self._call("conf_enable_sasl_queue", config, 1)

    def begin(self, client: int) -> str | None:
        """Let a thread of the client ask for tokens; return why that is impossible, None = it is not."""
        error = self._call("sasl_background_callbacks_enable", client)
        if not error:
            return None
        text = self._call("error_string", error).decode()
        self._call("error_destroy", error)
        return str(text)

    def _refresh(self, client: int, _config: bytes, _opaque: int) -> None:
        try:
            problem = self._give(client, self._provider.token())
        except SourceUnavailable as error:  # the client reports it, and asks again
            problem = error.message
        if problem is not None:
            self._call("oauthbearer_set_token_failure", client, problem.encode())

    def _give(self, client: int, token: Token) -> str | None:
        """Give a token to the client; return why it is not accepted, None = it is."""
        pairs = [text.encode() for pair in token.extensions.items() for text in pair]
        extensions = (c_char_p * len(pairs))(*pairs) if pairs else None
        why = ctypes.create_string_buffer(_TEXT_BYTES)
        value, principal = token.value.encode(), token.principal.encode()
        ends_ms = int(token.ends_s * 1000)
        given = (client, value, ends_ms, principal, extensions, len(pairs), why, _TEXT_BYTES)
        return why.value.decode(errors="replace") if self._call("oauthbearer_set_token", *given) else None
