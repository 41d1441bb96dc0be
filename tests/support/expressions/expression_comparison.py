"""One comparison of the reader with Spark: types, every cell, and the query as it really runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from datasources.arrow_types import spark_name
from datasources.errors import ExpressionError
from datasources.expressions import CompiledExpression, ExpressionEvaluationError
from datasources.expressions.compiler.compile import compile_expression
from tests.support.expressions.expression_oracle import ERROR, Oracle, plain

LIMIT = "a limit of the reader"


def compiled(texts: Sequence[str], schema: pa.Schema, time_zone: str, *, ansi: bool) -> dict[str, CompiledExpression]:
    """Compile the expressions that are accepted with these settings."""
    accepted = {}
    for text in texts:
        try:
            accepted[text] = compile_expression(text, schema, time_zone=time_zone, ansi=ansi)
        except ExpressionError:
            continue
    return accepted


def cells(expression: CompiledExpression, batch: pa.RecordBatch) -> list[Any]:
    """Evaluate row by row: values, ERROR or LIMIT; rows that have values are evaluated together, too."""
    evaluator = expression.evaluator()
    result: list[Any] = []
    for row in range(batch.num_rows):
        try:
            result.append(plain(evaluator.evaluate(batch.slice(row, 1)))[0])
        except ExpressionEvaluationError as error:
            result.append(LIMIT if error.is_reader_limit else ERROR)
    good = [row for row, cell in enumerate(result) if cell not in (ERROR, LIMIT)]
    together = evaluator.evaluate(batch.take(pa.array(good, pa.int32())))
    assert together.type == expression.result_type
    assert plain(together) == [result[row] for row in good], expression.text
    return result


def differences(
    oracle: Oracle, accepted: dict[str, CompiledExpression], batch: pa.RecordBatch
) -> tuple[list[str], set[str]]:
    """Compare everything with Spark; return the differences, and the expressions that met a limit of the reader."""
    texts = list(accepted)
    found = [
        f"{text}: type {spark_name(expression.result_type)}, Spark {name}"
        for (text, expression), name in zip(accepted.items(), oracle.types(texts), strict=True)
        if spark_name(expression.result_type).lower() != name
    ]
    limited = set()
    evaluated = oracle.values(texts)
    for (text, expression), expected in zip(accepted.items(), evaluated, strict=True):
        for row, (ours, theirs) in enumerate(zip(cells(expression, batch), expected, strict=True)):
            if ours == LIMIT:
                limited.add(text)
            elif ours != theirs:
                found.append(f"{text}: row {row} is {ours!r}, Spark {theirs!r}")
    for text, expected, ran in zip(texts, evaluated, oracle.executed(texts, evaluated), strict=True):
        wanted = [None if cell == ERROR else cell for cell in expected]
        if ran != wanted:
            found.append(f"{text}: the oracle's evaluator and the query differ: {wanted} {ran}")
    return found, limited
