"""A checkpoint belongs to one strategy, schema, subscription and isolation level, and to one statement over changes."""

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
    """Raise if the checkpoint was written with another strategy, schema, subscription, isolation level or statement.

    One that an earlier version wrote has no isolation level; it matches any.

    Raises:
        OffsetError: naming both sides and the options that resolve it. Where `watermark.on-change` is `continue` only
            another isolation level and another statement are errors: the log of the one may end before positions that
            were read, which looks like a loss; the other would remove rows that were never added.
    """
    _require_isolation(saved.isolation, settings.identity.isolation)
    _require_statement(saved.statement, settings.identity.statement)
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


def _require_statement(before: str, now: str) -> None:
    if before == now:
        return
    changed = (
        "was written by a query that reads this source as it is, and now a query over tables that change reads it"
        if not before
        else "was written by a query over tables that change, and now the source is read as it is"
        if not now
        else "was written by another statement over tables that change"
    )
    raise OffsetError(
        f"the checkpoint {changed}. Rows would be removed from its result that were never added. Go back to the "
        f"statement that wrote it, with the same computed columns, views, time zone and ANSI mode, or start with a new "
        f"checkpoint location and an empty target."
    )
