"""Applies partial updates of JSON documents (binlog_row_value_options=PARTIAL_JSON)."""

from __future__ import annotations

import json
import re
from typing import Final

from datasources.errors import RecordError
from datasources.mysql.types.decoders.json.json_binary import JsonTree, parse_json

_REPLACE: Final = 0
_INSERT: Final = 1
_REMOVE: Final = 2
_LEG: Final = re.compile(r'\.(?:"((?:[^"\\]|\\.)*)"|([^.\[\s]+))|\[(\d+|last(?:\s*-\s*\d+)?)\]')
_PREFIXED: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}


def apply_json_diffs(tree: JsonTree, diffs: bytes) -> JsonTree:
    """Return the document after the changes that a partial update lists.

    The document may be changed in place; ``diffs`` are as in the row event: operation, path, new value, repeated.

    Raises:
        RecordError: a change does not apply to the document, so the result would be wrong.
    """
    at = 0
    while at < len(diffs):
        try:
            operation = diffs[at]
            path, at = _counted(diffs, at + 1)
            value: JsonTree = None
            if operation != _REMOVE:
                raw, at = _counted(diffs, at)
                value = parse_json(raw)
            tree = _applied(tree, operation, path.decode(), value)
        except (IndexError, ValueError) as error:
            raise RecordError(f"a partial JSON update of {len(diffs)} bytes cannot be read: {error}.") from error
    return tree


def _counted(data: bytes, at: int) -> tuple[bytes, int]:
    width = _PREFIXED.get(data[at], 0)
    length = int.from_bytes(data[at + 1 : at + 1 + width], "little") if width else data[at]
    begin = at + 1 + width
    if begin + length > len(data):
        raise IndexError(f"{length} bytes are announced at {at}")
    return data[begin : begin + length], begin + length


def _applied(tree: JsonTree, operation: int, path: str, value: JsonTree) -> JsonTree:
    legs = _legs(path)
    if not legs:
        return value
    parent = tree
    try:
        for leg in legs[:-1]:
            parent = parent[leg]  # type: ignore[index]
        _change(parent, operation, legs[-1], value)
    except (KeyError, IndexError, TypeError) as error:
        raise RecordError(f"a partial JSON update changes {path}, which the row's document does not have.") from error
    return tree


def _change(parent: JsonTree, operation: int, leg: str | int, value: JsonTree) -> None:
    if operation == _REMOVE:
        del parent[leg]  # type: ignore[arg-type, union-attr]
    elif operation == _REPLACE:
        parent[leg]  # type: ignore[index]
        parent[leg] = value  # type: ignore[index]
    elif isinstance(parent, list) and isinstance(leg, int):
        parent.insert(leg, value)
    elif isinstance(parent, dict) and isinstance(leg, str):
        parent[leg] = value
        # The server keeps keys by length, then by bytes.
        ordered = sorted(parent.items(), key=lambda item: (len(item[0].encode()), item[0].encode()))
        parent.clear()
        parent.update(ordered)
    else:
        raise TypeError(leg)


def _legs(path: str) -> list[str | int]:
    legs: list[str | int] = []
    at = 1
    while at < len(path):
        match = _LEG.match(path, at)
        if match is None:
            raise RecordError(f"a partial JSON update names the path {path}, which cannot be read.")
        quoted, plain, index = match.groups()
        if index is not None:
            legs.append(_index(index))
        else:
            legs.append(plain if quoted is None else json.loads(f'"{quoted}"'))
        at = match.end()
    return legs


def _index(text: str) -> int:
    """Return the index in an array; a negative one for ``last`` or ``last-2``."""
    return -1 - int(text[len("last") :].strip(" -") or 0) if text.startswith("last") else int(text)
