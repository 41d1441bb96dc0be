"""Options as tables had them before Flink 1.11: refused, with the key that each has today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from datasources.grammar.source_text import Span, SqlText
from datasources.sql.text.error_location import Site

_PREFIX: Final = "connector."
_FORMAT: Final = "format.type"
_SHOWN: Final = ("connector.type", _FORMAT)
"""Keys whose value is no secret and stays the same."""
_RENAMED: Final = {
    "connector.type": "connector",
    "connector.driver": "driver",
    "connector.password": "password",
    "connector.path": "path",
    "connector.sink-partitioner": "sink.partitioner",
    "connector.specific-offsets": "scan.startup.specific-offsets",
    "connector.startup-mode": "scan.startup.mode",
    "connector.startup-timestamp-millis": "scan.startup.timestamp-millis",
    "connector.table": "table-name",
    "connector.topic": "topic",
    "connector.url": "url",
    "connector.username": "username",
    _FORMAT: "format",
}
_GONE: Final = {
    "connector.property-version": "is left out",
    "connector.version": "is left out",
    "format.derive-schema": "is left out: the columns are the schema",
    "format.fields": "is left out: the columns are the schema",
    "format.json-schema": "is left out: the columns are the schema",
    "format.property-version": "is left out",
    "format.schema": "is left out: the columns are the schema",
    "update-mode": "is left out: a PRIMARY KEY says which rows are updated",
}


def refuse_legacy_options(options: Mapping[str, str], *, source: SqlText | None, spans: Mapping[str, Span]) -> None:
    """Refuse options of old Flink.

    Args:
        options: of WITH.
        source: the statement, secrets masked.
        spans: of the keys in it.

    Raises:
        SqlError: with the new key for each.
    """
    legacy = [key for key in options if _is_legacy(key, options)]
    if not any(key.lower().startswith(_PREFIX) or key.lower() == _FORMAT for key in legacy):
        return
    listed = "; ".join(_instead(key, options) for key in legacy)
    first = legacy[0]
    raise Site(clause="WITH", source=source, span=spans.get(first)).error(
        f"'{first}' is an option of Flink before 1.11", f"Today: {listed}."
    )


def _is_legacy(key: str, options: Mapping[str, str]) -> bool:
    folded = key.lower()
    is_of_format = folded.startswith("format.") and any(each.lower() == _FORMAT for each in options)
    return folded.startswith(_PREFIX) or is_of_format or folded in _GONE


def _instead(key: str, options: Mapping[str, str]) -> str:
    folded = key.lower()
    if folded in _GONE:
        return f"'{key}' {_GONE[folded]}"
    new = _RENAMED.get(folded) or _by_prefix(folded, options)
    if new is None:
        return f"'{key}' has no successor"
    value = f" = '{options[key]}'" if folded in _SHOWN else ""
    return f"'{key}' is '{new}'{value}"


def _by_prefix(key: str, options: Mapping[str, str]) -> str | None:
    if key.startswith("connector.properties."):
        return key.removeprefix(_PREFIX)
    if key.startswith("format."):
        format_name = next((value for each, value in options.items() if each.lower() == _FORMAT), "csv")
        return f"{format_name}.{key.removeprefix('format.')}"
    return None
