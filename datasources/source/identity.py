"""A checkpoint belongs to one strategy, one schema and one subscription."""

from __future__ import annotations

from dataclasses import fields
from typing import Protocol

from datasources.errors import OffsetError
from datasources.source.offset import Identity

__all__ = ["require_same_identity"]


class _Settings(Protocol):
    @property
    def identity(self) -> Identity: ...
    @property
    def continue_on_change(self) -> bool: ...


def require_same_identity(saved: Identity, settings: _Settings) -> None:
    """Raise if the checkpoint was written with another strategy, schema or subscription.

    Raises:
        OffsetError: naming both sides and the ways out, unless `watermark.on-change` is `continue`.
    """
    if settings.continue_on_change:
        return
    for field in fields(Identity):
        before, now = getattr(saved, field.name), getattr(settings.identity, field.name)
        if before != now:
            raise OffsetError(
                f"the {field.name} of this query changed since its checkpoint was written: it was [{before}] and is "
                f"[{now}]. Change it back, start with a new checkpoint location, or set watermark.on-change to "
                f"'continue' (split watermarks keep their values and never go back)."
            )
