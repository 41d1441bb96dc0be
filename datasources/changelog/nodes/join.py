"""Joins: of two changing tables, or of one with constants and tables of Spark's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.changelog.change_plan import ChangelogMode, ChangePlan, mode_of, shown_above, shown_ttl
from datasources.changelog.nodes.scalar_subqueries import has_subquery
from datasources.changelog.nodes.single_row import SingleRow, aggregated, has_row_at_start, single_row
from datasources.changelog.translator import Translator, by_id, name_for
from datasources.spark.operators.changelog.join.join_operator import JoinKind, JoinOperator
from datasources.spark.operators.changelog.join.match_operator import Emits, MatchOperator
from datasources.spark.operators.changelog.run_changes import OperatorInput
from datasources.spark.operators.changelog.state_ttl import StateTtl
from datasources.spark.operators.changelog.value_types import require_comparable
from datasources.spark.plans.catalyst import Catalyst, attribute_id, data_type, items, kind

_KINDS: Final[Mapping[str, JoinKind]] = {
    "Inner": JoinKind.INNER,
    "Cross": JoinKind.INNER,
    "LeftOuter": JoinKind.LEFT,
    "RightOuter": JoinKind.RIGHT,
    "FullOuter": JoinKind.FULL,
    "LeftSemi": JoinKind.SEMI,
    "LeftAnti": JoinKind.ANTI,
    "ExistenceJoin": JoinKind.EXISTENCE,
}
_WITH_STATIC: Final = {
    "right": {JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.EXISTENCE},
    "left": {JoinKind.INNER, JoinKind.RIGHT},
}
"""Joins with a side that does not change, by that side: they need no state."""
_WITH_SINGLE_ROW: Final = {
    "right": {JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.EXISTENCE},
    "left": {JoinKind.INNER, JoinKind.RIGHT},
}
"""Joins with a relation of one row, by its side; in others that side's row is there from its first change on."""


def join(translator: Translator, node: Any) -> ChangePlan:
    """A join."""
    how = _KINDS.get(kind(node.joinType()).removesuffix("$"))
    if how is None:
        translator.refuse(
            f"a {node.joinType().sql()} join, as of a subquery that may give more than one row for a row",
            " Aggregate the subquery, max(x).",
        )
    if how is JoinKind.INNER and (parted := _without_subqueries(translator.catalyst, node)) is not None:
        return translator.node(parted)
    static = next((side for side in ("left", "right") if translator.is_static(getattr(node, side)())), None)
    if static is not None:
        return _with_static(translator, node, how, static)
    joined = _with_row(translator, node, how)
    if joined is not None:
        return translator.node(joined)
    left, right = translator.node(node.left()), translator.node(node.right())
    for each in (node.left(), node.right()):
        translator.require_lasting(each, "join")
    for side in (left, right):
        translator.require_deterministic(side, items(node.expressions()))
    return _Join(translator, node, how, left, right).result()


def _without_subqueries(catalyst: Catalyst, node: Any) -> Any | None:
    """Return an inner join with its conditions that have subqueries in a filter above it; None: it has none."""
    conditions = [] if node.condition().isEmpty() else catalyst.conjuncts(node.condition().get())
    above = [each for each in conditions if has_subquery(each)]
    if not above:
        return None
    joined = catalyst.inner_join(node.left(), node.right(), [each for each in conditions if each not in above])
    return catalyst.filter(catalyst.conjunction(above), joined)


def _with_static(translator: Translator, node: Any, how: JoinKind, static: str) -> ChangePlan:
    if how not in _WITH_STATIC[static]:
        translator.refuse(
            f"a {how.value.upper()} join whose {static} side does not change",
            " Rows of that side without a match would have to be there from the beginning.",
        )
    changing = translator.node(node.right() if static == "left" else node.left())
    translator.require_deterministic(changing, items(node.expressions()))
    sides = [node.left(), changing.plan] if static == "left" else [changing.plan, node.right()]
    plan = node.withNewChildren(translator.catalyst.seq(sides))
    keeps_key = how in {JoinKind.SEMI, JoinKind.ANTI, JoinKind.EXISTENCE}
    shown = shown_above(f"Join [{how.value}, {static} side static]", changing.mode, [changing])
    return ChangePlan(plan=plan, mode=changing.mode, key=changing.key if keeps_key else None, shown=shown)


def _with_row(translator: Translator, node: Any, how: JoinKind) -> Any | None:
    """Return a join with a row that is there from the start as one that has it then; None: it has none.

    Raises:
        QueryError: the row is not joined itself.
    """
    joined = _with_single_row(translator.catalyst, node, how)
    if joined is None and how is JoinKind.INNER:
        joined = _with_rows_apart(translator, node)
    if joined is None and any(
        has_row_at_start(aggregated(each), translator.is_static) for each in (node.left(), node.right())
    ):
        translator.refuse(
            "an aggregate without GROUP BY in this place of a join or subquery",
            " Its row would have to be there from the beginning, which it only is if it is joined itself.",
        )
    return joined


def _with_single_row(catalyst: Catalyst, node: Any, how: JoinKind) -> Any | None:
    """Return a join with a relation of one row as an outer join, which has the row from the start; None: it is none."""
    for side, kinds in _WITH_SINGLE_ROW.items():
        row = single_row(catalyst, getattr(node, side)()) if how in kinds else None
        if row is not None:
            return _joined_with_row(catalyst, node, how, side, row)
    return None


def _joined_with_row(catalyst: Catalyst, node: Any, how: JoinKind, side: str, row: SingleRow) -> Any:
    other = node.left() if side == "right" else node.right()
    joined = catalyst.left_join(other, row.plan)
    condition = node.condition()
    given = [] if condition.isEmpty() else [row.over_row(catalyst, condition.get())]
    is_matched = catalyst.conjunction([*row.conditions, *given])
    own = items(other.output())
    if how is JoinKind.SEMI:
        return catalyst.project(own, catalyst.filter(is_matched, joined))
    if how is JoinKind.ANTI:
        return catalyst.project(own, catalyst.filter(catalyst.negated(catalyst.is_true(is_matched)), joined))
    if how is JoinKind.EXISTENCE:
        exists = node.joinType().exists()
        flag = catalyst.alias(catalyst.is_true(is_matched), exists.name(), exists.exprId())
        return catalyst.project([*own, flag], joined)
    attributes = items(getattr(node, side)().output())
    values = [row.over_row(catalyst, each) for each in attributes]
    if how is JoinKind.INNER:
        joined = catalyst.filter(is_matched, joined)
    else:
        values = [catalyst.if_true(is_matched, each) for each in values]
    columns = [
        catalyst.alias(value, each.name(), each.exprId()) for value, each in zip(values, attributes, strict=True)
    ]
    return catalyst.project([*own, *columns] if side == "right" else [*columns, *own], joined)


def _with_rows_apart(translator: Translator, node: Any) -> Any | None:
    """Return an inner join with a join of rows that are there from the start as a join with each; None: it is none."""
    catalyst = translator.catalyst
    for side, other in ((node.left(), node.right()), (node.right(), node.left())):
        has_row, other_has = (has_row_at_start(each, translator.is_static) for each in (side, other))
        if has_row and not other_has and kind(side) == "Join":
            given = [each.get() for each in (side.condition(), node.condition()) if not each.isEmpty()]
            return catalyst.filter(
                catalyst.conjunction(given), catalyst.inner_join(catalyst.inner_join(other, side.left()), side.right())
            )
    return None


@dataclass(slots=True)
class _Join:
    """A join of two changing tables."""

    translator: Translator
    node: Any
    how: JoinKind
    left: ChangePlan
    right: ChangePlan
    ttl: StateTtl | None = None

    def result(self) -> ChangePlan:
        """Return the join."""
        parts = self.translator.catalyst.unapply("ExtractEquiJoinKeys", self.node)
        if parts is None:
            left_keys, right_keys, condition = [], [], self.node.condition()
        else:
            left_keys, right_keys, condition = items(parts[1]), items(parts[2]), parts[3]
        for each in left_keys:
            require_comparable(f"the join key {each.sql()}", data_type(each), each.sql())
        # Whether a row has a match is stored by the row, and not by the keys.
        forgets = bool(left_keys) and (condition.isEmpty() or self.how is JoinKind.INNER)
        self.ttl = self.translator.ttl(self.node, forgets=forgets)
        plan = (
            self._joined(self.how, left_keys, right_keys)
            if condition.isEmpty()
            else self._with_condition(left_keys, right_keys, condition.get())
        )
        mode = self._mode()
        return ChangePlan(
            plan=plan,
            mode=mode,
            key=self._key(left_keys, right_keys),
            shown=shown_above(f"Join [{self._shown()}]{shown_ttl(self.ttl)}", mode, [self.left, self.right]),
        )

    def _shown(self) -> str:
        condition = self.node.condition()
        return self.how.value if condition.isEmpty() else f"{self.how.value}, {condition.get().sql()}"

    def _mode(self) -> ChangelogMode:
        if self.how is not JoinKind.INNER:
            return ChangelogMode.RETRACT
        return mode_of([self.left, self.right])

    def _attributes(self, side: str) -> list[Any]:
        return items(getattr(self.node, side)().output())

    def _joined(self, how: JoinKind, left_keys: Sequence[Any], right_keys: Sequence[Any]) -> Any:
        """Return the plan of a join on the keys alone."""
        left, left_names = self._input(self.left, self._attributes("left"), left_keys, "l")
        right, right_names = self._input(self.right, self._attributes("right"), right_keys, "r")
        for one, other in zip(left.keys, right.keys, strict=True):
            if left.schema.field(one).type != right.schema.field(other).type:
                self.translator.refuse(
                    f"a join whose keys have different types ({self._shown()})", " Compare the fields of structs."
                )
        operator = JoinOperator(
            kind=how,
            left=left.schema,
            right=right.schema,
            left_keys=left.keys,
            right_keys=right.keys,
            null_safe=[False] * len(left_keys),
        )
        outputs = dict(left_names)
        if how in {JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL}:
            outputs |= right_names
        if how is JoinKind.EXISTENCE:
            outputs["exists"] = self.node.joinType().exists()
        return self.translator.run([left, right], operator, outputs, self.ttl)

    def _input(
        self, side: ChangePlan, attributes: Sequence[Any], keys: Sequence[Any], prefix: str
    ) -> tuple[OperatorInput, dict[str, Any]]:
        names = by_id(attributes, prefix)
        columns = {names[attribute_id(each)]: each for each in attributes}
        outputs = dict(columns)
        extra: dict[str, Any] = {}
        key_names = [name_for(key, names, extra, f"{prefix}k") for key in keys]
        columns |= extra
        return OperatorInput(changes=self.translator.columns(side, columns), keys=key_names), outputs

    def _with_condition(self, left_keys: Sequence[Any], right_keys: Sequence[Any], condition: Any) -> Any:
        """Return the plan of a join with a condition beyond the keys: the pairs that meet it decide who is matched."""
        catalyst = self.translator.catalyst
        pairs = catalyst.filter(condition, self._joined(JoinKind.INNER, left_keys, right_keys))
        if self.how is JoinKind.INNER:
            return pairs
        left, right = self._attributes("left"), self._attributes("right")
        if self.how in {JoinKind.SEMI, JoinKind.ANTI, JoinKind.EXISTENCE}:
            return self._matched(pairs, self.left, left, self.how)
        weight = items(pairs.output())[-1]
        parts = [catalyst.project([*left, *right, weight], pairs)]
        if self.how in {JoinKind.LEFT, JoinKind.FULL}:
            parts.append(self._unmatched(pairs, self.left, left, [], right))
        if self.how in {JoinKind.RIGHT, JoinKind.FULL}:
            parts.append(self._unmatched(pairs, self.right, right, left, []))
        return catalyst.renamed(catalyst.union(parts), [*left, *right])

    def _unmatched(
        self, pairs: Any, side: ChangePlan, own: Sequence[Any], before: Sequence[Any], after: Sequence[Any]
    ) -> Any:
        """Return the rows of a side without a match, with NULL for the other side's columns."""
        catalyst = self.translator.catalyst
        plan = self._matched(pairs, side, own, JoinKind.ANTI)
        weight = items(plan.output())[-1]
        nulls = [[catalyst.alias(catalyst.null(each), each.name()) for each in others] for others in (before, after)]
        return catalyst.project([*nulls[0], *own, *nulls[1], weight], plan)

    def _matched(self, pairs: Any, side: ChangePlan, own: Sequence[Any], how: JoinKind) -> Any:
        """Return the rows of a side that have a match among the pairs (SEMI), have none (ANTI), or all with a flag."""
        names = by_id(own, "c")
        columns = {names[attribute_id(each)]: each for each in own}
        for each in own:
            require_comparable(f"{each.name()} of an outer, semi or anti join", data_type(each), each.name())
        matches = ChangePlan(plan=pairs, mode=ChangelogMode.RETRACT, key=None, shown="")
        changes = (self.translator.columns(each, columns) for each in (side, matches))
        inputs = [OperatorInput(changes=each, keys=list(columns)) for each in changes]
        emits = {JoinKind.SEMI: Emits.MATCHED, JoinKind.ANTI: Emits.UNMATCHED, JoinKind.EXISTENCE: Emits.FLAG}[how]
        operator = MatchOperator(schema=inputs[0].schema, emits=emits, flag_column="exists")
        outputs = dict(columns)
        if how is JoinKind.EXISTENCE:
            outputs["exists"] = self.node.joinType().exists()
        return self.translator.run(inputs, operator, outputs, self.ttl)

    def _key(self, left_keys: Sequence[Any], right_keys: Sequence[Any]) -> frozenset[int] | None:
        """Return what no two rows of the result share."""
        if self.how in {JoinKind.SEMI, JoinKind.ANTI, JoinKind.EXISTENCE}:
            return self.left.key
        if self.left.key is None or self.right.key is None:
            return None
        if self.how is JoinKind.FULL:
            return None  # NULL stands for missing rows of both sides
        ids = {"left": _ids(left_keys), "right": _ids(right_keys)}
        if self.how in {JoinKind.INNER, JoinKind.LEFT} and self.right.key <= ids["right"]:
            return self.left.key  # a left row has one match at most
        if self.how in {JoinKind.INNER, JoinKind.RIGHT} and self.left.key <= ids["left"]:
            return self.right.key
        return self.left.key | self.right.key


def _ids(keys: Sequence[Any]) -> frozenset[int]:
    return frozenset(attribute_id(each) for each in keys if kind(each) == "AttributeReference")
