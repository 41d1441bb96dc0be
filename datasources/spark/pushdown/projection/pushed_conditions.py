"""The conditions of a plan that a reader evaluates as well, so that fewer rows reach Spark.

They stay in the plan: pushing them is about speed only. A reader has to give Spark's value for every row, or Spark's
error, where Spark would evaluate the condition too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from datasources.errors import ExpressionError
from datasources.expressions.evaluation.certainty import Certainty, certainty
from datasources.expressions.evaluation.compiled_expression import CompiledExpression
from datasources.expressions.evaluation.logic_nodes import Conjunction
from datasources.expressions.evaluation.nodes import Node
from datasources.spark.pushdown.projection.needed_columns import Condition
from datasources.spark.pushdown.table_rows import conjunction
from datasources.spark.scan.scan import Scan

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction


def pushed_condition(
    scan: Scan, uses: Sequence[Sequence[Condition]], functions: Mapping[str, ReaderFunction]
) -> str | None:
    """Return the condition that leaves out rows which no use of a source needs; None if there is none.

    Args:
        scan: the source.
        uses: of each use of it in a plan the conditions that rows must satisfy, in order.
        functions: the user's own functions, by name.
    """
    conditions = _Conditions(scan, functions)
    if len(uses) == 1:
        return conjunction(list(conditions.pushed(uses[0], worst=Certainty.FAILS_AS_SPARK)))
    return _any_of([list(conditions.pushed(each, worst=Certainty.TOTAL)) for each in uses])


def _any_of(alternatives: Sequence[Sequence[str]]) -> str | None:
    """Return the condition that all parts of one of some conditions hold; None = it always is."""
    common = [text for text in alternatives[0] if all(text in each for each in alternatives)]
    others = [conjunction([text for text in each if text not in common]) for each in alternatives]
    rest = [each for each in dict.fromkeys(others) if each is not None]
    if None in others:
        return conjunction(common)
    return conjunction([*common, " OR ".join(f"({each})" for each in rest)])


@dataclass(frozen=True, slots=True)
class _Conditions:
    scan: Scan
    functions: Mapping[str, ReaderFunction]

    def pushed(self, conditions: Sequence[Condition], worst: Certainty) -> Iterator[str]:
        """Yield the conditions that are evaluated in the reader, whose certainty may be so bad at worst.

        Spark does not evaluate a condition for rows that one before it leaves out, so behind one that stays in Spark
        nothing may fail.
        """
        known = list(_parts(self.scan.condition))
        for each in conditions:
            compiled = self._compiled(each.text)
            if compiled is None or certainty(compiled.plan) > (Certainty.TOTAL if each.is_of_join else worst):
                worst = Certainty.TOTAL
            elif compiled.plan not in known:
                yield each.text

    def _compiled(self, text: str) -> CompiledExpression | None:
        from datasources.expressions.compiler.compile import compile_filter

        session = self.scan.session
        try:
            return compile_filter(
                text,
                self.scan.source.schema,
                time_zone=session.time_zone,
                ansi=session.ansi,
                functions=self.functions,
            )
        except ExpressionError:
            return None


def _parts(condition: object) -> Iterator[Node]:
    """Yield the parts of a condition that AND joins."""
    left = [condition.plan] if isinstance(condition, CompiledExpression) else []
    while left:
        plan = left.pop()
        if isinstance(plan, Conjunction) and not plan.decisive:
            left += plan.operands
        else:
            yield plan
