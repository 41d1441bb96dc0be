"""The payloads of a batch as texts."""

from __future__ import annotations

import pyarrow as pa


def payload_texts(values: pa.Array) -> pa.Array:
    """Return payloads as strings; null for invalid UTF-8."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text_or_none(value) for value in values.to_pylist()], pa.string())


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
