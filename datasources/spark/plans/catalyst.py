"""Spark's plan nodes and expressions, built through the JVM gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType, _parse_datatype_json_string

from datasources.spark.plans import plan_walk
from datasources.spark.plans.plan_walk import kind

__all__ = ["Catalyst", "attribute_id", "data_type", "items", "kind", "sort_direction", "walk"]

_EXCLUDED: Final = (  # in org.apache.spark.sql
    "catalyst.optimizer.ConvertToLocalRelation",  # they would compute with the empty tables
    "catalyst.optimizer.PropagateEmptyRelation",
    "catalyst.optimizer.PruneFilters",  # it makes constants of changing tables: WHERE FALSE
    "catalyst.optimizer.DecimalAggregates",  # it computes with the unscaled values of sums
    "catalyst.optimizer.InferWindowGroupLimit",
    "catalyst.optimizer.CollapseWindow",  # it puts several ranks into one node
    "catalyst.optimizer.LimitPushDown",  # it limits the sides of joins and unions, which would only need state
    "catalyst.optimizer.PushProjectionThroughLimitAndOffset",  # it parts LIMIT from its ORDER BY
    "catalyst.optimizer.InjectRuntimeFilter",  # they add subqueries, to read less
    "execution.dynamicpruning.PartitionPruning",
    "catalyst.optimizer.MergeScalarSubqueries",  # they make subqueries of aggregates that stand in FROM
    "execution.planmerging.MergeSubplans",
)
_WITH_EVAL_MODE: Final = frozenset(
    {"Cast", "Add", "Subtract", "Multiply", "Divide", "IntegralDivide", "Remainder", "Pmod"}
)
_WITH_FAILURE: Final = frozenset({"UnaryMinus", "Abs"})
_EXCLUDED_KEY: Final = "spark.sql.optimizer.excludedRules"


def items(sequence: Any) -> list[Any]:
    """Return the items of a sequence of the JVM."""
    return list(plan_walk.items(sequence))


def attribute_id(attribute: Any) -> int:
    """Return the id of an attribute, unique in a plan."""
    return int(attribute.exprId().id())


def data_type(expression: Any) -> DataType:
    """Return the type of an expression."""
    return _parse_datatype_json_string(expression.dataType().json())


def sort_direction(order: Any) -> tuple[bool, bool]:
    """Return whether an item of ORDER BY is ascending, and whether its NULLs are first."""
    return str(order.direction().toString()) == "Ascending", str(order.nullOrdering().toString()) == "NullsFirst"


def walk(expression: Any) -> Iterator[Any]:
    """Yield an expression and all below it."""
    yield expression
    for child in items(expression.children()):
        yield from walk(child)


@dataclass(frozen=True, slots=True)
class Catalyst:
    """Builds nodes in a session."""

    spark: SparkSession

    @property
    def _jvm(self) -> Any:
        return self.spark._jvm  # noqa: SLF001 - PySpark has no public way to plans

    @property
    def _expressions(self) -> Any:
        return self._jvm.org.apache.spark.sql.catalyst.expressions

    @property
    def _logical(self) -> Any:
        return self._jvm.org.apache.spark.sql.catalyst.plans.logical

    def seq(self, values: Iterable[Any]) -> Any:
        """Return a Scala sequence."""
        return self._jvm.PythonUtils.toSeq(list(values))

    def none(self) -> Any:
        """Return Scala's None."""
        return self._module("scala.None")

    def _some(self, value: Any) -> Any:
        return self._module("scala.Option").apply(value)

    def optimized(self, frame: DataFrame) -> Any:
        """Return the optimised plan of a batch DataFrame, without rules that would compute anything."""
        session = self.spark._jsparkSession.cloneSession()  # noqa: SLF001
        conf = session.conf()
        given = [name for name in conf.get(_EXCLUDED_KEY, "").split(",") if name]
        excluded = [f"org.apache.spark.sql.{rule}" for rule in _EXCLUDED]
        conf.set(_EXCLUDED_KEY, ",".join([*given, *excluded]))
        analyzed = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
        return self._of_rows(session, analyzed).queryExecution().optimizedPlan()

    def frame(self, plan: Any) -> DataFrame:
        """Return the DataFrame of a plan."""
        return DataFrame(self._of_rows(self.spark._jsparkSession, plan), self.spark)  # noqa: SLF001

    def plan(self, frame: DataFrame) -> Any:
        """Return the analysed plan of a DataFrame."""
        return frame._jdf.queryExecution().analyzed()  # noqa: SLF001

    def without_unused_ctes(self, plan: Any) -> Any:
        """Return a plan without its WITH if nothing refers to it, as where steps have replaced what it names."""
        if kind(plan) != "WithCTE" or any(kind(node) == "CTERelationRef" for node in plan_walk.nodes(plan.plan())):
            return plan
        return plan.plan()

    def with_inlined_ctes(self, plan: Any) -> Any:
        """Return a plan with its WITHs in place of what refers to them, as Spark's optimizer puts them.

        Unchanged where a WITH is referred to several times, or where sources would change their order, which is that
        of their offsets in a checkpoint.
        """
        if not self._has_pattern(plan, "CTE"):
            return plan
        found = list(plan_walk.nodes(plan))
        numbers = [each.cteId() for each in found if kind(each) == "CTERelationRef"]
        sources = sum(kind(each) == "StreamingRelationV2" for each in found)
        if not numbers or len(set(numbers)) < len(numbers) or sources > 1:
            return plan
        return self._inlined(plan, {int(each.id()): each.child() for each in found if kind(each) == "CTERelationDef"})

    def _inlined(self, node: Any, tables: Mapping[int, Any]) -> Any:
        if kind(node) == "WithCTE":
            return self._inlined(node.plan(), tables)
        if kind(node) == "CTERelationRef":
            table = self._inlined(tables[int(node.cteId())], tables)
            pairs = list(zip(items(table.output()), items(node.output()), strict=True))
            if all(attribute_id(new) == attribute_id(old) for new, old in pairs):
                return table
            return self.project([self.alias_as(new, old) for new, old in pairs], table)
        return self.with_children_replaced(node, lambda child: self._inlined(child, tables))

    def has_subqueries(self, plan: Any) -> bool:
        """Return whether an expression anywhere in a plan has a plan of its own."""
        return self._has_pattern(plan, "PLAN_EXPRESSION")

    def _has_pattern(self, plan: Any, name: str) -> bool:
        patterns = self._jvm.org.apache.spark.sql.catalyst.trees.TreePattern
        return bool(plan.containsPattern(getattr(patterns, name)()))

    def empty(self, schema: StructType) -> DataFrame:
        """Return an empty table that the optimiser knows nothing about."""
        session = self.spark._jsparkSession  # noqa: SLF001
        rows = self.spark._jsc.emptyRDD()  # noqa: SLF001
        return DataFrame(session.createDataFrame(rows, session.parseDataType(schema.json())), self.spark)

    def alias(self, expression: Any, name: str, expression_id: Any = None) -> Any:
        """Return `expression AS name`; with the id of an attribute it stands for that attribute."""
        identity = expression_id or self._new_id()
        return self._expressions.Alias(expression, name, identity, self.seq([]), self.none(), self.seq([]))

    def alias_as(self, expression: Any, attribute: Any) -> Any:
        """Return `expression AS attribute`, which stands for the attribute, with its metadata."""
        name, identity, metadata = attribute.name(), attribute.exprId(), self._some(attribute.metadata())
        return self._expressions.Alias(expression, name, identity, self.seq([]), metadata, self.seq([]))

    def project(self, expressions: Sequence[Any], child: Any) -> Any:
        """Return a projection."""
        return self._logical.Project(self.seq(expressions), child)

    def filter(self, condition: Any, child: Any) -> Any:
        """Return a selection."""
        return self._logical.Filter(condition, child)

    def unread(self, plan: Any, names: Sequence[str]) -> Any:
        """Return no rows of a stream with columns of a plan, which is there for Spark to find its sources only.

        It is a WITH that nothing refers to: the optimizer takes it out. LIMIT 0 is refused in output mode update.
        """
        columns = [each.newInstance() for each in items(plan.output()) if each.name() in names]
        nothing = self._logical.LocalRelation(self.seq(columns), self.seq([]), True, self.none())
        unused = self._module("org.apache.spark.sql.catalyst.plans.logical.CTERelationDef")
        table = self._logical.CTERelationDef(plan, unused.newId(), self.none(), False, self.none(), False)
        return self._logical.WithCTE(nothing, self.seq([table]))

    def stacked(self, nodes: Sequence[Any], lowest: Any) -> Any:
        """Return nodes of one child each, the first one on top, above another node."""
        return reduce(lambda below, node: node.withNewChildren(self.seq([below])), reversed(nodes), lowest)

    def union(self, children: Sequence[Any]) -> Any:
        """Return the rows of all children, columns by position."""
        return self._logical.Union(self.seq(children), False, False)

    def renamed(self, plan: Any, attributes: Sequence[Any]) -> Any:
        """Return a plan whose columns, but the last, stand for attributes, in order; the last one stays as it is."""
        *columns, last = items(plan.output())
        named = [
            self.alias(column, attribute.name(), attribute.exprId())
            for column, attribute in zip(columns, attributes, strict=True)
        ]
        return self.project([*named, last], plan)

    def left_join(self, left: Any, right: Any) -> Any:
        """Return LEFT JOIN without a condition."""
        return self._join(left, right, "LeftOuter")

    def inner_join(self, left: Any, right: Any, conditions: Sequence[Any] = ()) -> Any:
        """Return JOIN on all of the conditions."""
        return self._join(left, right, "Inner", conditions)

    def _join(self, left: Any, right: Any, how: str, conditions: Sequence[Any] = ()) -> Any:
        hint = self._module("org.apache.spark.sql.catalyst.plans.logical.JoinHint").NONE()
        kind_of_join = self._module(f"org.apache.spark.sql.catalyst.plans.{how}")
        condition = self._some(self.conjunction(conditions)) if conditions else self.none()
        return self._logical.Join(left, right, kind_of_join, condition, hint)

    def literal(self, value: Any) -> Any:
        """Return a literal."""
        return self._module("org.apache.spark.sql.catalyst.expressions.Literal").apply(value)

    def null(self, like: Any) -> Any:
        """Return NULL of the type of an expression."""
        return self._module("org.apache.spark.sql.catalyst.expressions.Literal").create(None, like.dataType())

    def if_null(self, tested: Any, then: Any, otherwise: Any) -> Any:
        """Return IF(tested IS NULL, then, otherwise)."""
        return self._expressions.If(self._expressions.IsNull(tested), then, otherwise)

    def if_true(self, condition: Any, then: Any) -> Any:
        """Return the value where a condition is true, else NULL."""
        return self._expressions.If(condition, then, self.null(then))

    def is_true(self, condition: Any) -> Any:
        """Return whether a condition is true, never NULL."""
        return self._expressions.EqualNullSafe(condition, self.literal(True))

    def negated(self, condition: Any) -> Any:
        """Return NOT condition."""
        return self._expressions.Not(condition)

    def conjunction(self, conditions: Sequence[Any]) -> Any:
        """Return the conditions joined by AND; TRUE if there are none."""
        return reduce(self._expressions.And, conditions) if conditions else self.literal(True)

    def conjuncts(self, condition: Any) -> list[Any]:
        """Return the parts of a condition that AND joins."""
        if kind(condition) == "And":
            return [*self.conjuncts(condition.left()), *self.conjuncts(condition.right())]
        return [condition]

    def is_not_null(self, tested: Any) -> Any:
        """Return tested IS NOT NULL."""
        return self._expressions.IsNotNull(tested)

    def known_not_null(self, value: Any) -> Any:
        """Return a value that is never NULL although its type allows it."""
        return self._expressions.KnownNotNull(value)

    def as_double(self, number: Any) -> Any:
        """Return a number as DOUBLE."""
        return self._expressions.Cast(number, self._jvm.org.apache.spark.sql.types.DataTypes.DoubleType, self.none())

    def sum(self, value: Any) -> Any:
        """Return the function SUM."""
        return self._expressions.aggregate.Sum(value)

    def quotient(self, total: Any, number: Any) -> Any:
        """Return total / number as DOUBLE, NULL where the number, a BIGINT, is 0."""
        double = self.as_double(number)
        is_zero = self._expressions.EqualTo(double, self.literal(0.0))
        return self._expressions.Divide(total, self._expressions.If(is_zero, self.null(double), double))

    def aggregate_expression(self, function: Any, like: Any) -> Any:
        """Return the call of an aggregate function, of all its rows, in the mode of another call."""
        make = self._expressions.aggregate.AggregateExpression
        return make(function, like.mode(), False, self.none(), self._new_id())

    def as_narrower_decimal(self, value: Any, spark_type: Any) -> Any:
        """Return a decimal under a type with fewer digits, unchanged; only as the argument of SUM.

        Spark itself takes decimals from Java objects this way. SUM widens its argument before it adds.
        """
        decimal = self._jvm.java.lang.Class.forName("org.apache.spark.sql.types.Decimal$")
        invoke = self._expressions.objects.StaticInvoke
        nothing = self.seq([])
        return invoke(decimal, spark_type, "fromDecimal", self.seq([value]), nothing, True, True, True, self.none())

    def aggregate(self, like: Any, grouping: Sequence[Any], results: Sequence[Any], child: Any) -> Any:
        """Return an aggregation, with the hint of another one."""
        return self._logical.Aggregate(self.seq(grouping), self.seq(results), child, like.hint())

    def expand(self, projections: Sequence[Sequence[Any]], output: Sequence[Any], child: Any) -> Any:
        """Return each row once for each projection."""
        return self._logical.Expand(self.seq(map(self.seq, projections)), self.seq(output), child)

    def struct_or_null(self, values: Sequence[Any]) -> Any:
        """Return the values as a struct; NULL if one of them is."""
        is_null = reduce(self._expressions.Or, (self._expressions.IsNull(each) for each in values))
        struct = self.struct(values)
        return self._expressions.If(is_null, self.null(struct), struct)

    def struct(self, values: Sequence[Any]) -> Any:
        """Return the values as a struct."""
        named = [part for at, each in enumerate(values) for part in (self.literal(f"_{at}"), each)]
        return self._expressions.CreateNamedStruct(self.seq(named))

    def array_of(self, element: Any) -> Any:
        """Return an array with one element."""
        return self._expressions.CreateArray(self.seq([element]))

    def default(self, like: Any) -> Any:
        """Return Spark's default of the type of an expression: 0 of a number, an empty array."""
        return self._module("org.apache.spark.sql.catalyst.expressions.Literal").default(like.dataType())

    def field(self, struct: Any, at: int, name: str | None = None) -> Any:
        """Return a field of a struct, by its position; the name is how it was written."""
        return self._expressions.GetStructField(struct, at, self.none() if name is None else self._some(name))

    def attribute(self, name: str, like: Any) -> Any:
        """Return a new attribute of the type of an expression."""
        return self.alias(self.null(like), name).toAttribute()

    def bound(self, at: int, like: Any) -> Any:
        """Return a field, by its position, of the row on which an expression is called."""
        return self._expressions.BoundReference(at, like.dataType(), True)

    def variable(self, name: str, spark_type: Any) -> Any:
        """Return a variable of a lambda function."""
        value = self._jvm.java.util.concurrent.atomic.AtomicReference()
        return self._expressions.NamedLambdaVariable(name, spark_type, True, self._new_id(), value)

    def array_aggregate(
        self, array: Any, start: Any, merge: tuple[list[Any], Any], finish: tuple[list[Any], Any]
    ) -> Any:
        """Return aggregate(array, start, merge, finish), the functions as their variables and bodies."""
        functions = [
            self._expressions.LambdaFunction(body, self.seq(variables), False) for variables, body in (merge, finish)
        ]
        return self._expressions.ArrayAggregate(array, start, *functions)

    def object_type(self, of: Any | None = None) -> Any:
        """Return the type of Java objects of the class of one, or of any."""
        java_class = self._jvm.java.lang.Class.forName("java.lang.Object") if of is None else of.getClass()
        return self._jvm.org.apache.spark.sql.types.ObjectType(java_class)

    def invoked(self, target: Any, method: str, spark_type: Any, arguments: Sequence[Any]) -> Any:
        """Return the call of a method of an object."""
        literal = self._expressions.Literal(target, self.object_type(target))
        invoke = self._expressions.objects.Invoke
        return invoke(literal, method, spark_type, self.seq(arguments), self.seq([]), False, True, True)

    def unapply(self, pattern: str, node: Any) -> tuple[Any, ...] | None:
        """Return the parts that a pattern of Catalyst's planning finds in a node; None if it does not match."""
        found = self._module(f"org.apache.spark.sql.catalyst.planning.{pattern}").unapply(node)
        if found.isEmpty():
            return None
        parts = found.get()
        return tuple(parts.productElement(at) for at in range(parts.productArity()))

    def replaced(self, expression: Any, replacement: Callable[[Any], Any | None]) -> Any:
        """Return an expression with parts replaced; the function returns None for a part that stays."""
        new = replacement(expression)
        if new is not None:
            return new
        return self.with_children_replaced(expression, lambda child: self.replaced(child, replacement))

    def with_children_replaced(self, node: Any, replacement: Callable[[Any], Any]) -> Any:
        """Return a plan or an expression with its children replaced; the very same object where none changes."""
        before = items(node.children())
        after = [replacement(child) for child in before]
        if all(new is old for new, old in zip(after, before, strict=True)):
            return node
        return node.withNewChildren(self.seq(after))

    def is_of_session(self, expression: Any) -> bool:
        """Return whether an expression has the time zone and the ANSI mode that the session has now."""
        zone = str(self.spark.conf.get("spark.sql.session.timeZone"))
        is_ansi = str(self.spark.conf.get("spark.sql.ansi.enabled")).lower() == "true"
        zoned = self._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.expressions.TimeZoneAwareExpression")
        for part in walk(expression):
            if kind(part) in _WITH_EVAL_MODE and str(part.evalMode().toString()) != ("ANSI" if is_ansi else "LEGACY"):
                return False
            if kind(part) in _WITH_FAILURE and bool(part.failOnError()) != is_ansi:
                return False
            if zoned.isInstance(part) and part.timeZoneId().isDefined() and part.timeZoneId().get() != zone:
                return False
        return True

    def without_replaceable(self, expression: Any) -> Any:
        """Return an expression with what Spark's optimizer puts in place of functions such as NVL.

        The text of such a function is made of arguments that are no children, so what was substituted is not in it.
        """
        replaceable = self._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable")

        def replacement(part: Any) -> Any | None:
            return self.without_replaceable(part.replacement()) if replaceable.isInstance(part) else None

        return self.replaced(expression, replacement)

    def substituted(self, expression: Any, values: Mapping[int, Any]) -> Any:
        """Return an expression with values in place of attributes, by their ids."""
        return self.replaced(
            expression, lambda part: values.get(attribute_id(part)) if kind(part) == "AttributeReference" else None
        )

    def _new_id(self) -> Any:
        return self._module("org.apache.spark.sql.catalyst.expressions.NamedExpression").newExprId()

    def _of_rows(self, session: Any, plan: Any) -> Any:
        return self._module("org.apache.spark.sql.classic.Dataset").ofRows(session, plan)

    def _module(self, name: str) -> Any:
        package, _, leaf = name.rpartition(".")
        found = self._jvm
        for part in package.split("."):
            found = getattr(found, part)
        return getattr(getattr(found, f"{leaf}$"), "MODULE$")
