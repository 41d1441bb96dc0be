"""The mark of a window in Spark's plan: the name of an alias above the nodes that make it.

Windows are Spark SQL of our own, and from a plan alone it cannot be proven what their expressions compute. An alias
stays in the analysed plan, and has no other effect.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass

_PREFIX = f"tidemark_window_{secrets.token_hex(4)} "  # no alias of a user's begins like this


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMarker:
    """A window over the rows of a view.

    Attributes:
        view: the name of the view or alias whose rows it takes.
        attribute: the column with the time.
        pane_us: windows begin and end only at multiples of this, µs.
        offset_us: counted from here, µs since the epoch.
    """

    view: str
    attribute: str
    pane_us: int
    offset_us: int

    @property
    def alias(self) -> str:
        """The name of the alias."""
        return _PREFIX + json.dumps(asdict(self))

    @classmethod
    def of(cls, alias: str) -> WindowMarker | None:
        """Return the mark that the name of an alias is, None if it is a name of the user's."""
        return cls(**json.loads(alias.removeprefix(_PREFIX))) if alias.startswith(_PREFIX) else None
