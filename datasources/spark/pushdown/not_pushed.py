"""Why an aggregate is not pushed down."""

from __future__ import annotations


class NotPushed(Exception):
    """An aggregate stays in Spark; the text is the reason, for EXPLAIN."""
