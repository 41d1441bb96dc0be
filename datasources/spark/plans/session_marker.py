"""The mark of session windows in Spark's plan: the name of an alias above the operator.

What a Python function in a plan does cannot be seen. An alias stays in the analysed plan, and has no other effect.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Final

_PREFIX: Final = f"tidemark_sessions_{secrets.token_hex(4)} "  # no alias of a user's begins like this


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMarker:
    """Rows of a stream with their session windows.

    Attributes:
        keys: the columns of PARTITION BY.
        attribute: the column with the time.
        gap_ms: the gap, ms.
        buckets: into which keys are hashed.
        exact: whether each row is compared with its own row watermark.
    """

    keys: tuple[str, ...]
    attribute: str
    gap_ms: int
    buckets: int
    exact: bool

    @property
    def alias(self) -> str:
        """The name of the alias."""
        return _PREFIX + json.dumps(asdict(self))

    @classmethod
    def of(cls, alias: str) -> SessionMarker | None:
        """Return the mark that the name of an alias is, None if it is a name of the user's."""
        if not alias.startswith(_PREFIX):
            return None
        values = json.loads(alias.removeprefix(_PREFIX))
        return cls(**{**values, "keys": tuple(values["keys"])})
