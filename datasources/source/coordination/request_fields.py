"""Reading the fields of a request: a peer that proved the key may still be of another version, or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from datasources.errors import CoordinatorError


def text_field(message: Mapping[str, Any], name: str) -> str:
    """Return a field that must be text.

    Raises:
        CoordinatorError: it is missing or something else.
    """
    value = message.get(name)
    if not isinstance(value, str):
        raise CoordinatorError(f"field '{name}' of a request is no text")
    return value


def number_field(message: Mapping[str, Any], name: str) -> int:
    """Return a field that must be an integer and no truth value.

    Raises:
        CoordinatorError: it is missing or something else.
    """
    value = message.get(name)
    if type(value) is not int:
        raise CoordinatorError(f"field '{name}' of a request is no integer")
    return value


def list_field(message: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field that must be a list.

    Raises:
        CoordinatorError: it is missing or something else.
    """
    value = message.get(name)
    if not isinstance(value, list):
        raise CoordinatorError(f"field '{name}' of a request is no list")
    return value


def object_field(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a field that must be an object.

    Raises:
        CoordinatorError: it is missing or something else.
    """
    value = message.get(name)
    if not isinstance(value, dict):
        raise CoordinatorError(f"field '{name}' of a request is no object")
    return value
