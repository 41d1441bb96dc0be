"""Providers of tokens (`sasl.oauthbearer.token.provider`) for a broker with the unsecured validator."""

from __future__ import annotations

from pathlib import Path

from tests.support.kafka.token_endpoint import unsecured_token
from watermark import SystemClock

__all__ = ["LIFETIME_S", "NAME", "noted_token", "refuse"]

NAME = f"{__name__}:noted_token"
LIFETIME_S = 6


def noted_token(config: str) -> tuple[str, float]:
    """Return a token, and add a line to the file that the setting names."""
    with Path(config).open("a", encoding="utf-8") as file:
        file.write("asked\n")
    now_s = SystemClock().now_us() // 1_000_000
    return unsecured_token("provided", now_s, LIFETIME_S), now_s + LIFETIME_S


def refuse(config: str) -> tuple[str, float]:
    """Fail, as a provider without credentials does."""
    raise PermissionError(f"no credentials in {config}")
