"""A checkpoint belongs to one strategy, one schema, one subscription and one isolation level."""

from __future__ import annotations

from typing import Protocol

from datasources.errors import OffsetError
from datasources.source.checkpoint.offset import Identity

_MAY_CHANGE = ("strategy", "schema", "subscription")


class _Settings(Protocol):
    @property
    def identity(self) -> Identity: ...
    @property
    def continue_on_change(self) -> bool: ...


def require_same_identity(saved: Identity, settings: _Settings) -> None:
    """Raise if the checkpoint was written with another strategy, schema, subscription or isolation level.

    One that an earlier version wrote has no isolation level; it matches any.

    Raises:
        OffsetError: naming both sides and the options that resolve it. Where `watermark.on-change` is `continue` only
            another isolation level is an error: its log may end before positions that were read, which looks like a
            loss.
    """
    _require_isolation(saved.isolation, settings.identity.isolation)
    if settings.continue_on_change:
        return
    for name in _MAY_CHANGE:
        before, now = getattr(saved, name), getattr(settings.identity, name)
        if before != now:
            raise OffsetError(
                f"the {name} of this query changed since its checkpoint was written: it was [{before}] and is "
                f"[{now}]. Change it back, start with a new checkpoint location, or set watermark.on-change to "
                f"'continue' (split watermarks keep their values and never go back)."
            )


def _require_isolation(before: str, now: str) -> None:
    if before and before != now:
        raise OffsetError(
            f"the isolation level of this query changed since its checkpoint was written: it was [{before}] and is "
            f"[{now}]. A batch that is read again would have other rows. Change it back, or start with a new "
            f"checkpoint location; the options of a new query set where it begins."
        )
