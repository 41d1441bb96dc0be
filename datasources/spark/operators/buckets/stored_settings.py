"""An operator's settings, stored with its state: after a restart with other settings the state would be misread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from datasources.errors import OffsetError

STATE_VERSION: Final = 1
"""Version of the state format of operators that have no other."""

_VERSION: Final = "state version"
_ADDED_LATER: Final = frozenset({"statement"})
"""Settings that some states of earlier versions lack; those load with any value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSettings:
    """Settings as stored with a bucket's state.

    Attributes:
        text: JSON with sorted keys and user-facing names.
        operator: name of the operator in errors, in the plural.
        other: the text of other settings whose state the operator understands; "" = there are none.
    """

    text: str
    operator: str = "session windows"
    other: str = ""

    @classmethod
    def of(
        cls, settings: Mapping[str, object], *, operator: str = "session windows", version: int = STATE_VERSION
    ) -> Self:
        """Return settings with the version of the state added; states of earlier versions are understood."""
        return cls(text=json.dumps({_VERSION: version, **settings}, sort_keys=True), operator=operator)

    def require_same(self, stored: str) -> None:
        """Raise unless the state was made with the same settings.

        Raises:
            OffsetError: naming each setting that differs, the stored value and the present one; or the state was made
                by a later version of Tidemark.
        """
        if stored == self.text:
            return
        was, now = (json.loads(text).get(_VERSION, STATE_VERSION) for text in (stored, self.text))
        if was > now:
            raise OffsetError(
                f"the checkpoint's {self.operator} were written by a later version of Tidemark (state version {was}; "
                f"this one reads up to {now}): install that version again, or start with a new checkpoint."
            )
        changed = _changes(stored, self.text)
        if not changed or self.is_other(stored):
            return
        raise OffsetError(
            f"the checkpoint's {self.operator} were made with other settings: {'; '.join(changed)}. The "
            f"layout of the state depends on them: restore the stored settings, or start with a new checkpoint."
        )

    def is_other(self, stored: str) -> bool:
        """Return whether the state was made with the other settings."""
        return bool(self.other) and not _changes(stored, self.other)


def _changes(stored: str, present: str) -> list[str]:
    """Return what is said of each setting that differs."""
    was: dict[str, Any] = json.loads(stored)
    now: dict[str, Any] = json.loads(present)
    return [
        f"{name} was {was.get(name, 'not set')} and is {now.get(name, 'not set')}"
        for name in sorted({*was, *now} - {_VERSION})
        if was.get(name) != now.get(name) and not (name in _ADDED_LATER and name not in was)
    ]
