"""Where a MySQL server is and who logs in."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlAddress:
    """A server and a login; the password is in no text of it."""

    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}"
