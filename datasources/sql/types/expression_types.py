"""The types of expressions: by Spark's analyser, or by a fake in tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class TypeOracleError(Exception):
    """An expression was refused.

    Attributes:
        name: of the expression.
        reason: why, a clause without a full stop.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason


class TypeOracle(Protocol):
    """Knows the types of expressions."""

    def of(self, expressions: Mapping[str, str], columns: Mapping[str, str]) -> Mapping[str, str]:
        """Return the type of each expression as Spark DDL, in the same names. One call for many: a call is dear.

        The expressions are selected beside the columns, so that aggregates are rejected.

        Args:
            expressions: name -> Spark SQL.
            columns: the columns that they may name -> their types as Spark DDL.

        Raises:
            TypeOracleError: the first expression that cannot be analysed.
        """
        ...
