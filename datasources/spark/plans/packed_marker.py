"""The marks of packed inputs and packed results in Spark's plan: names of aliases above the nodes that pack.

What a Python function in a plan does cannot be seen. An alias stays in the analysed plan, and has no other effect.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = secrets.token_hex(4)  # no alias of a user's has it
_PREFIX: Final = f"tidemark_packed_{_TOKEN} "
PACKED_RESULTS: Final = f"tidemark_packed_results_{_TOKEN}"
"""The alias above the packed results of an operator, which the node above it unpacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedMarker:
    """Packed inputs of an operator.

    Attributes:
        buckets: into how many.
        keys: of each input the names of the columns by whose hash its rows are distributed; None = the input has
            something that only Spark can do.
    """

    buckets: int
    keys: tuple[tuple[str, ...] | None, ...]

    @property
    def alias(self) -> str:
        """The name of the alias."""
        return _PREFIX + json.dumps([self.buckets, self.keys])

    @classmethod
    def of(cls, alias: str) -> PackedMarker | None:
        """Return the mark that the name of an alias is, None if it is a name of the user's."""
        if not alias.startswith(_PREFIX):
            return None
        buckets, keys = json.loads(alias.removeprefix(_PREFIX))
        return cls(buckets=buckets, keys=tuple(None if each is None else tuple(each) for each in keys))
