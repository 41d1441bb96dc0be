"""The types of expressions, by Spark's analyser; no job runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from datasources.grammar.literals import quoted
from datasources.spark.boundary.refusals import REFUSALS, message_of
from datasources.sql.text.substitute import in_parentheses
from datasources.sql.types.expression_types import TypeOracleError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkTypes"]


class SparkTypes:
    """Asks a session. Implements `datasources.sql.types.expression_types.TypeOracle`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def of(self, expressions: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
        """Return the types of expressions, as Spark DDL.

        Args:
            expressions: name -> Spark SQL.
            columns: the columns that they may name -> their types as Spark DDL.

        Raises:
            TypeOracleError: naming the first expression that Spark refuses, with Spark's reason.
        """
        if not expressions:
            return {}
        try:
            return self._analysed(expressions, columns)
        except REFUSALS:
            return {name: self._one(name, text, columns) for name, text in expressions.items()}

    def _one(self, name: str, text: str, columns: Mapping[str, str]) -> str:
        try:
            return self._analysed({name: text}, columns)[name]
        except REFUSALS as refusal:
            raise TypeOracleError(name, spark_reason(refusal)) from None

    def _analysed(self, expressions: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
        """Analyse the expressions beside the columns, where an aggregate is no expression: one text, one call."""
        known = ", ".join(f"CAST(NULL AS {kind}) AS {quoted(name)}" for name, kind in columns.items())
        asked = ", ".join(f"{in_parentheses(text)} AS __{number}" for number, text in enumerate(expressions.values()))
        table = f"(SELECT 0 AS __row{', ' if known else ''}{known})"
        fields = self._spark.sql(f"SELECT *, {asked} FROM {table}").schema.fields[-len(expressions) :]  # noqa: S608 - parsed before
        return {name: field.dataType.simpleString() for name, field in zip(expressions, fields, strict=True)}


def spark_reason(refusal: Exception) -> str:
    """Return the first sentence of an error of Spark's analyser, without its query context."""
    message = str(getattr(refusal, "desc", None) or message_of(refusal))
    return message.split("SQLSTATE", maxsplit=1)[0].split(";\n", maxsplit=1)[0].strip().rstrip(".;")
