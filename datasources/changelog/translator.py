"""Translates the nodes of an optimised plan, each by the function of its type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from datasources.changelog.change_plan import ChangePlan
from datasources.changelog.result_origin import OperatorNode
from datasources.errors import QueryError
from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.changes import WEIGHT_COLUMN
from datasources.spark.operators.changelog.run_changes import OperatorInput, run_changes
from datasources.spark.operators.changelog.state_ttl import StateTtl
from datasources.spark.plans.catalyst import Catalyst, attribute_id, data_type, items, kind, walk


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChanges:
    """A table of the query as a stream of changes.

    Attributes:
        name: as the query calls it.
        changes: the table's columns and WEIGHT_COLUMN.
        is_insert_only: whether no row is removed.
        key: names of the columns of its primary key; empty: it has none.
        ttl_us: for how long a state with its rows is kept without changes; None: for ever.
    """

    name: str
    changes: DataFrame
    is_insert_only: bool
    key: tuple[str, ...] = ()
    ttl_us: int | None = None


@dataclass(slots=True, kw_only=True)
class Translator:
    """Translates nodes.

    Attributes:
        catalyst: builds nodes.
        tables: by the id of the empty table that stands for each.
        nodes: the function of each type of node.
        buckets: into which rows of a stateful operator are hashed.
        statement: to which the state of operators belongs; "" = a change of the statement need not be noticed there.
        operators: the operators so far, by the id of their weight.
    """

    catalyst: Catalyst
    tables: Mapping[int, TableChanges]
    nodes: Mapping[str, Callable[[Translator, Any], ChangePlan]]
    buckets: int
    statement: str = ""
    operators: dict[int, OperatorNode] = field(default_factory=dict)

    def node(self, node: Any) -> ChangePlan:
        """Return a node over changes.

        Raises:
            QueryError: the node, or something in it, cannot be kept up to date.
        """
        translate = self.nodes.get(kind(node))
        if translate is None:
            self.refuse(f"{kind(node)} ({_first_line(node)})")
        return translate(self, node)

    def is_static(self, node: Any) -> bool:
        """Whether nothing below a node changes: constants and tables of Spark's that are read once per batch."""
        leaves = [leaf for plan in (node, *items(node.subqueriesAll())) for leaf in items(plan.collectLeaves())]
        return not any(self.table_of(leaf) is not None or leaf.isStreaming() for leaf in leaves)

    def table_of(self, leaf: Any) -> TableChanges | None:
        """Return the table that a leaf stands for."""
        return self.tables.get(int(leaf.rdd().id())) if kind(leaf) == "LogicalRDD" else None

    def refuse(self, what: str, instead: str = "") -> NoReturn:
        """Raise for something that a query over changing tables cannot have."""
        raise QueryError(
            f"a query over tables that change cannot have {what}: its result could not be kept up to date.{instead} "
            f"To read the changes as rows, write TO_CHANGELOG(input => TABLE t) or declare a column "
            f"METADATA FROM 'row_kind'."
        )

    def require_deterministic(self, child: ChangePlan, expressions: Iterable[Any]) -> None:
        """Refuse what would have another value when a row is removed than when it was added."""
        for expression in expressions:
            if not child.is_insert_only and not expression.deterministic():
                self.refuse(
                    f"{expression.sql()}, which has another value each time", " A row could not be removed again."
                )
            for each in walk(expression):
                if kind(each) in {"ScalarSubquery", "ListQuery", "Exists", "LateralSubquery"}:
                    self.refuse(f"a subquery in this place ({expression.sql()})", " Write it as a join.")

    def columns(self, child: ChangePlan, expressions: Mapping[str, Any]) -> DataFrame:
        """Return a stream of the expressions over a child, under these names, with the weight."""
        named = [self.catalyst.alias(expression, name) for name, expression in expressions.items()]
        return self.catalyst.frame(self.catalyst.project([*named, child.weight], child.plan))

    def ttl(self, node: Any, *, forgets: bool = True) -> StateTtl | None:
        """Return the TTL of the state of a node, the longest of the tables below it; None: it is kept for ever.

        Args:
            node: the node.
            forgets: whether its operator can forget keys.
        """
        tables = map(self.table_of, items(node.collectLeaves()))
        known = [each.ttl_us for each in tables if each is not None]
        if None in known or not known:
            return None
        return StateTtl(ttl_us=max(each for each in known if each is not None), forgets=forgets)

    def require_lasting(self, node: Any, operator: str) -> None:
        """Refuse an input of an operator that keeps rows which a forgotten key would add beside its old ones.

        Args:
            node: the input.
            operator: what keeps its rows.
        """
        keys = {"Aggregate": "groupingExpressions", "Window": "partitionSpec"}.get(kind(node))
        if keys is not None and items(getattr(node, keys)()) and self.ttl(node) is not None:
            name = "ranking" if kind(node) == "Window" else "GROUP BY, DISTINCT or set operation"
            raise QueryError(
                f"a {name} below a {operator} (subqueries are joins too), with a TTL for its state: a key that is "
                f"forgotten and comes back would be joined or ranked beside its old row. Keep the state of its tables, "
                f"SELECT /*+ STATE_TTL('t' = '0') */ ..., or write its result to a table with a PRIMARY KEY by a "
                f"statement of its own, and read that table here."
            )
        for child in items(node.children()):
            self.require_lasting(child, operator)

    def run(
        self,
        inputs: Sequence[OperatorInput],
        operator: ChangeOperator,
        outputs: Mapping[str, Any],
        ttl: StateTtl | None = None,
    ) -> Any:
        """Run an operator; return the plan of its result with the columns that stand for an attribute."""
        types = {field.name: field.dataType for each in inputs for field in each.fields}
        types |= {name: data_type(attribute) for name, attribute in outputs.items()}
        fields = StructType([StructField(name, types[name]) for name in operator.output.names])
        frame = run_changes(inputs, operator, fields, buckets=self.buckets, statement=self.statement, ttl=ttl)
        node = self.catalyst.plan(frame)
        self.operators[attribute_id(items(node.output())[-1])] = OperatorNode(operator=operator, node=node)
        plan = self.catalyst.plan(frame.select(*outputs, WEIGHT_COLUMN))
        return self.catalyst.renamed(plan, list(outputs.values()))


def by_id(attributes: Sequence[Any], prefix: str) -> dict[int, str]:
    """Return short names for attributes, by their ids."""
    return {attribute_id(each): f"{prefix}{at}" for at, each in enumerate(attributes)}


def name_for(expression: Any, names: Mapping[int, str], extra: dict[str, Any], prefix: str) -> str:
    """Return the name of an expression: of the attribute that it is, or a new one noted in ``extra``."""
    if kind(expression) == "AttributeReference" and attribute_id(expression) in names:
        return names[attribute_id(expression)]
    name = f"{prefix}{len(extra)}"
    extra[name] = expression
    return name


def _first_line(node: Any) -> str:
    return str(node.toString()).splitlines()[0].strip()
