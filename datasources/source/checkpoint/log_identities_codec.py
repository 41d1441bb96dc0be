"""How an offset identifies the logs of its positions (`LogIdentity`): the key `logs`, which older offsets lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasources.source.api.split import LogIdentity
from datasources.source.checkpoint.offset_codec import decode_column, encode_column, require_text


def encode_logs(logs: Sequence[LogIdentity | None]) -> dict[str, Any] | None:
    """Return the identities of splits as JSON primitives; None if none is known."""
    if not any(logs):
        return None
    known = [log or LogIdentity() for log in logs]
    ids = sorted({log.id for log in known if log.id is not None})
    numbers = {name: number for number, name in enumerate(ids)}
    raw: dict[str, Any] = {
        "ids": ids,
        "of": encode_column([None if log.id is None else numbers[log.id] for log in known]),
        "epoch": encode_column([log.epoch for log in known]),
    }
    if any(log.start_epoch != log.epoch for log in known):
        raw["start"] = encode_column([log.start_epoch for log in known])
    return dict(sorted(raw.items()))


def decode_logs(raw: Any, count: int) -> list[LogIdentity | None]:
    """Return the identities of `count` splits.

    Raises:
        LookupError, TypeError, ValueError: no encoder wrote it.
    """
    if raw is None:
        return [None] * count
    if not isinstance(raw, Mapping):
        raise TypeError(f"{raw!r} stands where an object belongs")
    ids = [require_text(name) for name in raw["ids"]]
    numbers = decode_column(raw["of"], count)
    if any(number is not None and not 0 <= number < len(ids) for number in numbers):
        raise ValueError("the log of a split has no id")
    epochs = decode_column(raw["epoch"], count)
    starts = epochs if "start" not in raw else decode_column(raw["start"], count)
    found = (
        LogIdentity(None if number is None else ids[number], epoch, start)
        for number, epoch, start in zip(numbers, epochs, starts, strict=True)
    )
    return [None if log == LogIdentity() else log for log in found]
