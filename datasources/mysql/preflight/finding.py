"""A finding of the preflight, with its fix."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Severity(enum.Enum):
    """Whether a finding prevents a query."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check.

    Attributes:
        check: What was checked; stable, for programs: ``binlog_row_image``, ``grant``, ``key``.
        subject: A table as ``db.table``, or a privilege; empty for the server itself.
        found: The current state.
        severity: Whether that is sufficient.
        why: Why it is not.
        fix: Statements that end with ``;``, or advice in words.
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
