"""Reads flat properties one by one; properties left unread at the end are an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.near_matches import near_matches
from datasources.sql.parse import parse_type

_LIKENESS: Final = 0.9
_NAME: Final = re.compile(r"`((?:[^`]|``)+)`|([^`.;]+)")


class PropertyReader:
    """The properties of one object."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = properties
        self._read: set[str] = set()
        self._asked: set[str] = set()

    def optional(self, key: str) -> str | None:
        """Return a property, or None."""
        self._asked.add(key)
        if key in self._properties:
            self._read.add(key)
        return self._properties.get(key)

    def required(self, key: str) -> str:
        """Return a property that must be there.

        Raises:
            SqlError: it is not, or it is empty.
        """
        value = self.optional(key)
        if not value:
            raise SqlError(f"property '{key}' is {'missing' if value is None else 'empty'}.{self._near(key)}")
        return value

    def flag(self, key: str) -> bool:
        """Return whether a property is 'true'; it may be absent.

        Raises:
            SqlError: it is neither 'true' nor 'false'.
        """
        value = self.optional(key) or "false"
        if value not in {"true", "false"}:
            raise SqlError(f"property '{key}' = '{value}': it is 'true' or 'false'.")
        return value == "true"

    def type(self, key: str) -> SqlType:
        """Return a property that is a type.

        Raises:
            SqlError: it is none.
        """
        return parse_type(SqlText(self.required(key), name=f"property '{key}'"))

    def path(self, key: str) -> tuple[str, ...]:
        """Return a property that consists of names with dots between them.

        Raises:
            SqlError: it does not.
        """
        return self._split(key, self.required(key), ".")

    def names(self, key: str) -> tuple[str, ...]:
        """Return a property that consists of names with semicolons between them; empty if it is not there.

        Raises:
            SqlError: it does not.
        """
        value = self.optional(key)
        return () if value is None else self._split(key, value, ";")

    def numbers(self, head: str) -> range:
        """Return the numbers of a list, `head.0.`, `head.1.` and so on.

        Raises:
            SqlError: one of them is missing.
        """
        pattern = re.compile(rf"{re.escape(head)}\.(0|[1-9][0-9]{{0,8}})\.")
        found = {int(m[1]) for key in self._properties if (m := pattern.match(key)) is not None}
        missing = next((number for number in range(len(found)) if number not in found), None)
        if missing is not None:
            raise SqlError(f"there is no '{head}.{missing}', but a '{head}.{max(found)}'; the numbers count from 0.")
        return range(len(found))

    def under(self, head: str) -> dict[str, str]:
        """Return the properties whose keys begin with `head`, without it."""
        keys = [key for key in self._properties if key.startswith(head) and key != head]
        self._read.update(keys)
        return {key.removeprefix(head): self._properties[key] for key in keys}

    def refuse_rest(self) -> None:
        """Reject properties that were not read.

        Raises:
            SqlError: naming one such property.
        """
        for key in self._properties:
            if key not in self._read:
                near = near_matches(key, self._asked - self._read, likeness=_LIKENESS)
                raise SqlError(f"there is no property '{key}' here.{near}")

    def _near(self, key: str) -> str:
        return near_matches(key, set(self._properties) - self._read, likeness=_LIKENESS)

    @staticmethod
    def _split(key: str, text: str, separator: str) -> tuple[str, ...]:
        names: list[str] = []
        at = 0
        while True:
            match = _NAME.match(text, at)
            if match is None:
                raise SqlError(f"property '{key}' = '{text}': a name is missing at character {at + 1}.")
            names.append(match[1].replace("``", "`") if match[1] else match[2])
            if match.end() == len(text):
                return tuple(names)
            if text[match.end()] != separator:
                raise SqlError(
                    f"property '{key}' = '{text}': '{separator}' is expected at character {match.end() + 1}."
                )
            at = match.end() + 1
