"""What the preflight found: one line each, with what to do about it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["Finding", "Severity"]


class Severity(enum.Enum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: What was looked at; stable, for programs: ``binlog_row_image``, ``grant``, ``key``.
        subject: Of what: a table as ``db.table``, a privilege; empty for the server itself.
        found: What is there.
        severity: Whether that will do.
        why: Why it will not.
        fix: What mends it: statements that end with ``;``, or advice in words.
    """

    check: str
    subject: str = ""
    found: str
    severity: Severity = Severity.OK
    why: str = ""
    fix: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the finding as JSON values."""
        return {
            "check": self.check,
            "subject": self.subject,
            "found": self.found,
            "severity": self.severity.value,
            "why": self.why,
            "fix": list(self.fix),
        }
