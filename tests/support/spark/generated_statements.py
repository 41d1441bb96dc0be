"""Random SELECT statements over the tables of `changing_tables`, which Spark and DuckDB read with the same meaning.

Left out, because the two give different answers, or none that is defined:

* FIRST, LAST and lists without an order; ROW_NUMBER and LIMIT whose order leaves different rows tied;
* sums and texts of doubles, -0.0 as a text; division, except of averages of integers; AVG of decimals (Spark rounds it);
* columns of doubles in ORDER BY (DuckDB tells -0.0 from 0.0);
* GROUPING SETS with () over no rows: DuckDB has a row, Spark none. They have HAVING count(*) > 0;
* literals of timestamps and date_trunc (Spark's have a time zone), IN as a value (Spark has FALSE for NULL), LATERAL unnest (another syntax), COUNT(DISTINCT a, b) (NULLs count).

An aggregate without GROUP BY that is not in a subquery or an inner or left join has a row from the first change on. So it
is only generated over whole tables, which need a change in the first batch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

__all__ = ["generated_statement"]

_TABLES = {
    "t": {"id": "int", "k": "text", "v": "int", "d": "double", "p": "decimal", "seen": "time"},
    "u": {"uid": "int", "k": "text", "w": "int", "name": "text"},
}
_LIKELY_EQUAL = ({"k"}, {"v", "w"}, {"id", "uid"}, {"id"}, {"c0"}, {"c1"})
_CONSTANTS = {
    "int": ("-3", "0", "1", "2", "4"),
    "text": ("'a'", "'b'", "'c'", "'x'", "''"),
    "double": ("CAST(0 AS DOUBLE)", "CAST('NaN' AS DOUBLE)", "CAST(1.5 AS DOUBLE)"),
    "decimal": ("CAST(1.25 AS DECIMAL(10,2))", "CAST(-2 AS DECIMAL(10,2))"),
    "bool": ("TRUE", "FALSE"),
}
_COMPARISONS = ("=", "=", "=", "<>", "<", "<=", ">", ">=", "IS NOT DISTINCT FROM", "IS DISTINCT FROM")


@dataclass(frozen=True, slots=True)
class _Column:
    text: str
    type: str


@dataclass(frozen=True, slots=True)
class _Relation:
    """A query, or what stands in FROM, and its columns."""

    text: str
    columns: tuple[_Column, ...]


def generated_statement(seed: int) -> str:
    """Return a random statement: equal seeds give equal ones."""
    return _Writer(random.Random(seed)).statement()


class _Writer:
    """Writes a statement.

    Its size is bounded by a number of tables: what is written when they are used up is small.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._numbers = count(1)
        self._tables_left = rng.choice((1, 2, 2, 3, 3, 4, 5))
        self._common: list[tuple[str, _Relation]] = []

    def statement(self) -> str:
        """Return the statement."""
        rng, common = self._rng, []
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
            query = self._query(depth=2)
            name = self._alias("c")
            common.append(f"{name} AS ({query.text})")
            self._common.append((name, replace(query, text=name)))
        query = self._query(depth=0, is_top=True)
        return f"WITH {', '.join(common)} {query.text}" if common else query.text

    # Queries

    def _query(self, depth: int, outer: Sequence[_Column] = (), *, is_top: bool = False) -> _Relation:
        """Return a query with the columns c0, c1, ..."""
        forms: list[tuple[int, Callable[[int, Sequence[_Column]], _Relation]]] = [(6, self._select), (4, self._groups)]
        if depth < 3 and not outer:
            forms += [(3, self._top_rows), (2, self._limit), (3, self._set_operation), (1, self._grouping_sets)]
        if is_top:
            forms.append((1, self._totals))
        (form,) = self._rng.choices([each for _, each in forms], [weight for weight, _ in forms])
        return form(depth, outer)

    def _select(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        source = self._source(depth)
        chosen = self._expressions(source.columns, self._rng.choice((1, 2, 3, 4)), depth)
        distinct = "DISTINCT " if self._rng.random() < 0.15 else ""
        return _named(f"SELECT {distinct}", chosen, f" FROM {source.text}{self._where(source, depth, outer)}")

    def _groups(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        rng, source = self._rng, self._source(depth)
        keys = self._keys(source.columns)
        results = [
            *rng.sample(keys, rng.randint(0, len(keys))),
            *self._aggregates(source.columns, rng.choice((0, 1, 1, 2, 3))),
        ]
        results = results or [keys[0]]
        having = self._having(source.columns) if rng.random() < 0.3 else ""
        by = f" GROUP BY {', '.join(each.text for each in keys)}{having}"
        return _named("SELECT ", results, f" FROM {source.text}{self._where(source, depth, outer)}{by}")

    def _grouping_sets(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        rng, source = self._rng, self._source(depth)
        keys = [each for each in self._keys(source.columns) if "%" not in each.text] or [source.columns[0]]
        names = [each.text for each in keys]
        sets = f"GROUPING SETS (({', '.join(names)}), ({names[-1]}), ())"
        by = rng.choice((f"ROLLUP ({', '.join(names)})", f"CUBE ({', '.join(names)})", sets))
        results = [*keys, *self._aggregates(source.columns, rng.choice((1, 2)))]
        where = self._where(source, depth, outer)
        return _named("SELECT ", results, f" FROM {source.text}{where} GROUP BY {by} HAVING count(*) > 0")

    def _totals(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        name = self._rng.choice(tuple(_TABLES))
        columns = [_Column(each, kind) for each, kind in _TABLES[name].items()]
        return _named("SELECT ", self._aggregates(columns, 2), f" FROM {name}")

    def _top_rows(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        """Rows by their rank: a rank alone, up to n, the n-th, or with further conditions."""
        rng, below = self._rng, _without_doubles(self._query(depth + 1, outer))
        alias, rank = self._alias("r"), f"n{next(self._numbers)}"
        order = rng.sample(below.columns, len(below.columns))
        function = rng.choice(("row_number", "row_number", "rank", "dense_rank"))
        if function != "row_number":
            order = order[: rng.randint(1, len(order))]
        keys = [each.text for each in rng.sample(below.columns, min(rng.choice((0, 1, 1, 2)), len(below.columns)))]
        by = f"PARTITION BY {', '.join(keys)} " if keys else ""
        ranking = f"{function}() OVER ({by}ORDER BY {self._order(order)}) AS {rank}"
        inner = f"(SELECT *, {ranking} FROM ({below.text}) {self._alias('b')}) {alias}"
        columns = [*below.columns, _Column(rank, "int")]
        ranked = [_Column(f"{alias}.{each.text}", each.type) for each in columns]
        n = rng.randint(1, 3)
        conditions = [f"{rank} <= {n}", f"{rank} < {n + 1}", f"{rank} = {n}", f"{rank} IN (1, {n})", f"{n} >= {rank}"]
        conditions += [f"{rank} BETWEEN {n} AND {n + 1}", f"{rank} > {n}", "TRUE"]
        where = rng.choice([*conditions[:3], *conditions])
        if rng.random() < 0.25:
            where += f" AND {self._condition(ranked, depth)}"
        if rng.random() < 0.1:
            where += f" AND {rank} <= {self._scalar('int', ())}"
        shown = rng.sample(ranked, rng.randint(1, len(ranked)))
        return _named("SELECT ", shown, f" FROM {inner} WHERE {where}")

    def _limit(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        rng, below = self._rng, _without_doubles(self._query(depth + 1, outer))
        order = self._order(rng.sample(below.columns, len(below.columns)))
        rows = f"LIMIT {rng.randint(1, 6)}" + (f" OFFSET {rng.randint(1, 3)}" if rng.random() < 0.4 else "")
        if rng.random() < 0.1:
            rows = f"OFFSET {rng.randint(1, 3)}"
        return _named("SELECT ", below.columns, f" FROM ({below.text}) {self._alias('b')} ORDER BY {order} {rows}")

    def _set_operation(self, depth: int, outer: Sequence[_Column]) -> _Relation:
        rng = self._rng
        one, other = self._query(depth + 1, outer), self._query(depth + 1, outer)
        types = _common_types(one.columns, other.columns)
        if not types:
            return one
        parts = []
        for each in (one, other):
            left, chosen = list(each.columns), []
            for kind in types:
                chosen.append(next(column for column in left if column.type == kind))
                left.remove(chosen[-1])
            parts.append(_named("SELECT ", chosen, f" FROM ({each.text}) {self._alias('s')}"))
        operation = rng.choice(
            ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
        )
        return _Relation(f"{parts[0].text} {operation} {parts[1].text}", parts[0].columns)

    # FROM

    def _source(self, depth: int) -> _Relation:
        """Return what stands in FROM: columns are qualified."""
        rng, source = self._rng, self._table(depth)
        for _ in range(2):
            if self._tables_left > 0 and rng.random() < (0.5, 0.35, 0.2, 0.1)[min(depth, 3)]:
                source = self._joined(source, depth)
        return source

    def _table(self, depth: int, *, is_joined: bool = False) -> _Relation:
        rng = self._rng
        self._tables_left -= 1
        alias = self._alias("a")
        if self._common and rng.random() < 0.5:
            name, query = rng.choice(self._common)
            return _qualified(name, alias, query.columns)
        if is_joined and rng.random() < 0.12:
            query = self._single_row()
            return _qualified(f"({query.text})", alias, query.columns)
        if is_joined and rng.random() < 0.04:
            text = "(VALUES ('a', 1), ('b', 2), (NULL, 3))"
            return _Relation(f"{text} AS {alias}(k, x)", (_Column(f"{alias}.k", "text"), _Column(f"{alias}.x", "int")))
        if depth < 3 and self._tables_left > 0 and rng.random() < 0.35:
            query = self._query(depth + 1)
            return _qualified(f"({query.text})", alias, query.columns)
        name = rng.choice(tuple(_TABLES))
        return _qualified(name, alias, [_Column(each, kind) for each, kind in _TABLES[name].items()])

    def _joined(self, left: _Relation, depth: int) -> _Relation:
        rng = self._rng
        if rng.random() < 0.12:
            return self._lateral(left, depth)
        right = self._table(depth, is_joined=True)
        is_row_or_constant = "VALUES" in right.text[:8] or _is_single_row(right.text)
        kinds = ["JOIN", "JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN"]
        kinds += [] if is_row_or_constant or _is_single_row(left.text) else ["RIGHT JOIN", "FULL JOIN", "LEFT JOIN"]
        how = rng.choice(kinds)
        both = (*left.columns, *right.columns)
        if rng.random() < 0.06 and how == "JOIN":
            return _Relation(f"{left.text} CROSS JOIN {right.text}", both)
        condition = self._join_condition(left.columns, right.columns)
        if how == "JOIN" and rng.random() < 0.08:
            condition += f" AND {rng.choice(both).text} IS NOT NULL"
        kept = left.columns if how in {"SEMI JOIN", "ANTI JOIN"} else both
        return _Relation(f"{left.text} {how} {right.text} ON {condition}", kept)

    def _join_condition(self, left: Sequence[_Column], right: Sequence[_Column]) -> str:
        rng, parts = self._rng, []
        pairs = [(a, b) for a in left for b in right if a.type == b.type and a.type != "bool"]
        if pairs and rng.random() < 0.9:
            parts.append(self._compared(pairs, *("=",) * 8, *_COMPARISONS[2:]))
            if rng.random() < 0.3:
                parts.append(self._compared(pairs, *_COMPARISONS))
        if not parts or rng.random() < 0.2:
            parts.append(self._simple_condition((*left, *right)))
        return " AND ".join(parts) if rng.random() < 0.93 else " OR ".join(parts)

    def _lateral(self, left: _Relation, depth: int) -> _Relation:
        rng, alias = self._rng, self._alias("l")
        if rng.random() < 0.5:
            inner = self._plain_table()
            results = self._aggregates(inner.columns, rng.choice((1, 2)))
            query = _named(
                "SELECT ", results, f" FROM {inner.text} WHERE {self._correlation(inner.columns, left.columns)}"
            )
        else:
            query = self._select(3, left.columns)
        right = _qualified(f"({query.text})", alias, query.columns)
        how = rng.choice((", LATERAL {}", " LEFT JOIN LATERAL {} ON TRUE"))
        if "JOIN" in left.text:
            how = " LEFT JOIN LATERAL {} ON TRUE"
        return _Relation(left.text + how.format(right.text), (*left.columns, *right.columns))

    def _single_row(self) -> _Relation:
        """Return an aggregate without GROUP BY."""
        rng, source = self._rng, self._plain_table()
        results = self._aggregates(source.columns, rng.choice((1, 2)))
        where = f" WHERE {self._simple_condition(source.columns)}" if rng.random() < 0.6 else ""
        having = self._having(source.columns) if rng.random() < 0.2 else ""
        return _named("SELECT ", results, f" FROM {source.text}{where}{having}")

    def _plain_table(self) -> _Relation:
        if self._common and self._rng.random() < 0.3:
            name, query = self._rng.choice(self._common)
            return _qualified(name, self._alias("a"), query.columns)
        name = self._rng.choice(tuple(_TABLES))
        return _qualified(name, self._alias("a"), [_Column(each, kind) for each, kind in _TABLES[name].items()])

    # Conditions

    def _where(self, source: _Relation, depth: int, outer: Sequence[_Column]) -> str:
        parts = []
        if outer:
            parts.append(self._correlation(source.columns, outer))
        if self._rng.random() < 0.45:
            parts.append(self._condition(source.columns, depth))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _condition(self, columns: Sequence[_Column], depth: int) -> str:
        rng = self._rng
        if self._tables_left > -2 and depth < 3 and rng.random() < 0.55:
            first = self._subquery_condition(columns)
        else:
            first = self._simple_condition(columns)
        if rng.random() < 0.35:
            other = self._simple_condition(columns) if rng.random() < 0.7 else self._subquery_condition(columns)
            return f"({first} {rng.choice(('AND', 'OR'))} {other})"
        return first if rng.random() < 0.9 else f"NOT ({first})"

    def _simple_condition(self, columns: Sequence[_Column]) -> str:
        rng, column = self._rng, self._rng.choice(columns)
        if column.type == "bool":
            return rng.choice((column.text, f"NOT {column.text}", f"{column.text} IS NOT TRUE"))
        others = [each for each in columns if each.type == column.type and each != column]
        choices = [f"{column.text} IS NULL", f"{column.text} IS NOT NULL"]
        if others:
            choices += [f"{column.text} {rng.choice(_COMPARISONS)} {rng.choice(others).text}"] * 2
        if constants := _CONSTANTS.get(column.type):
            one, other = rng.choice(constants), rng.choice(constants)
            choices += [f"{column.text} {rng.choice(_COMPARISONS)} {one}"] * 4
            choices += [f"{column.text} IN ({one}, {other})", f"{column.text} NOT IN ({one}, {other})"]
        if column.type == "int":
            choices.append(f"{column.text} BETWEEN -1 AND 4")
        if column.type == "text":
            choices.append(f"{column.text} LIKE '%a'")
        return rng.choice(choices)

    def _subquery_condition(self, columns: Sequence[_Column]) -> str:
        rng, column = self._rng, self._rng.choice([each for each in columns if each.type != "bool"] or columns)
        self._tables_left -= 1
        form = rng.randrange(10)
        if form < 3:
            return f"{column.text} {rng.choice(_COMPARISONS[:8])} {self._scalar(column.type, columns)}"
        if form < 6:
            return self._exists(columns)
        outer = columns if rng.random() < 0.3 else ()
        query = self._values(column.type, outer)
        return f"{column.text} {rng.choice(('IN', 'IN', 'NOT IN'))} ({query})"

    def _exists(self, columns: Sequence[_Column]) -> str:
        inner = self._inner(columns, is_correlated=self._rng.random() < 0.8)
        return f"{self._rng.choice(('', 'NOT '))}EXISTS ({inner.text})"

    def _inner(self, outer: Sequence[_Column], *, is_correlated: bool) -> _Relation:
        """Return a query in a condition."""
        if is_correlated:
            source = self._plain_table()
            condition = self._correlation(source.columns, outer)
            if self._rng.random() < 0.3:
                condition += f" AND {self._condition(source.columns, 2)}"
            return _named("SELECT ", source.columns[:1], f" FROM {source.text} WHERE {condition}")
        return self._query(2) if self._rng.random() < 0.6 else self._single_row()

    def _values(self, kind: str, outer: Sequence[_Column]) -> str:
        """Return a query of one column of a type."""
        rng = self._rng
        for _ in range(4):
            query = self._inner((), is_correlated=False) if not outer else self._select(3, outer)
            if fitting := [each for each in query.columns if each.type == kind]:
                return f"SELECT {rng.choice(fitting).text} FROM ({query.text}) {self._alias('q')}"
        name = "t" if kind in _TABLES["t"].values() else "u"
        fitting = [_Column(each, type_) for each, type_ in _TABLES[name].items() if type_ == kind]
        return f"SELECT {rng.choice(fitting).text if fitting else 'NULL'} FROM {name}"

    def _scalar(self, kind: str, outer: Sequence[_Column]) -> str:
        """Return a subquery that gives one value."""
        rng, fitting = self._rng, list[_Column]()
        for _ in range(4):
            source = self._plain_table()
            if fitting := [each for each in source.columns if each.type == kind]:
                break
        results = [f"{rng.choice(('min', 'max'))}({rng.choice(fitting).text})"] if fitting else []
        if kind == "int":
            results += ["count(*)", *(f"sum({each.text})" for each in fitting[:1])]
        if not results:
            results = [f"max({_constant(kind, rng)})"]
        parts = [self._correlation(source.columns, outer)] if outer and rng.random() < 0.5 else []
        if rng.random() < 0.4:
            parts.append(self._simple_condition(source.columns))
        where = f" WHERE {' AND '.join(parts)}" if parts else ""
        if fitting and kind != "double" and rng.random() < 0.2 and not (outer and parts):
            column = rng.choice(fitting)
            return f"(SELECT {column.text} FROM {source.text}{where} ORDER BY {self._order([column])} LIMIT 1)"
        return f"(SELECT {rng.choice(results)} FROM {source.text}{where})"

    def _correlation(self, inner: Sequence[_Column], outer: Sequence[_Column]) -> str:
        rng = self._rng
        pairs = [(a, b) for a in inner for b in outer if a.type == b.type and a.type != "bool"]
        if not pairs:
            return f"{rng.choice(inner).text} IS NOT NULL"
        parts = [self._compared(pairs, "=")]
        if rng.random() < 0.25:
            parts.append(self._compared(pairs, *_COMPARISONS[:8]))
        return " AND ".join(parts)

    def _compared(self, pairs: Sequence[tuple[_Column, _Column]], *operators: str) -> str:
        likely = [pair for pair in pairs if {each.text.rpartition(".")[2] for each in pair} in _LIKELY_EQUAL]
        one, other = self._rng.choice(likely if likely and self._rng.random() < 0.7 else pairs)
        return f"{one.text} {self._rng.choice(operators)} {other.text}"

    def _having(self, columns: Sequence[_Column]) -> str:
        rng = self._rng
        ints = [each.text for each in columns if each.type == "int"] or ["1"]
        left = rng.choice(("count(*)", f"sum({rng.choice(ints)})", f"max({rng.choice(ints)})"))
        right = self._scalar("int", ()) if rng.random() < 0.25 else rng.choice(_CONSTANTS["int"])
        return f" HAVING {left} {rng.choice(('>', '<', '<>', '='))} {right}"

    # Expressions

    def _expressions(self, columns: Sequence[_Column], number: int, depth: int) -> list[_Column]:
        return [self._expression(columns, depth) for _ in range(number)]

    def _expression(self, columns: Sequence[_Column], depth: int) -> _Column:
        rng, column = self._rng, self._rng.choice(columns)
        if rng.random() < 0.55:
            return column
        if depth < 2 and rng.random() < 0.12:
            return self._computed_by_subquery(columns)
        same = rng.choice([each for each in columns if each.type == column.type])
        condition = self._simple_condition(columns)
        choices = [
            _Column(f"CASE WHEN {condition} THEN {column.text} ELSE {same.text} END", column.type),
            _Column(f"CASE WHEN {condition} THEN {column.text} END", column.type),
            _Column(f"coalesce({column.text}, {same.text})", column.type),
            _Column(f"({condition})", "bool"),
        ]
        if column.type == "int":
            choices += [
                _Column(f"({column.text} % 5 + {same.text} % 7)", "int"),
                _Column(f"abs({column.text} % 3)", "int"),
            ]
            choices += [
                _Column(f"CAST({column.text} AS STRING)", "text"),
                _Column(f"coalesce({column.text}, 0)", "int"),
            ]
        if column.type == "text":
            choices += [_Column(f"upper({column.text})", "text"), _Column(f"length({column.text})", "int")]
            choices += [
                _Column(f"({column.text} || {same.text})", "text"),
                _Column(f"coalesce({column.text}, 'z')", "text"),
            ]
        if column.type == "decimal":
            choices.append(_Column(f"({column.text} + CAST(1 AS DECIMAL(10,2)))", "decimal"))
        if column.type == "time":
            choices.append(_Column(f"extract(minute FROM {column.text})", "int"))
        return rng.choice(choices)

    def _computed_by_subquery(self, columns: Sequence[_Column]) -> _Column:
        rng = self._rng
        self._tables_left -= 1
        if rng.random() < 0.75:
            kind = rng.choice(("int", "int", "text"))
            return _Column(self._scalar(kind, columns), kind)
        return _Column(f"({self._exists(columns)})", "bool")

    def _keys(self, columns: Sequence[_Column]) -> list[_Column]:
        rng = self._rng
        keys = rng.sample(columns, min(rng.choice((1, 1, 2)), len(columns)))
        return [_Column(f"({k.text} % 3)", "int") if k.type == "int" and rng.random() < 0.3 else k for k in keys]

    def _aggregates(self, columns: Sequence[_Column], number: int) -> list[_Column]:
        return [self._aggregate(columns) for _ in range(number)]

    def _aggregate(self, columns: Sequence[_Column]) -> _Column:
        rng, column = self._rng, self._rng.choice(columns)
        name = column.text
        choices = [
            _Column("count(*)", "int"),
            _Column(f"count({name})", "int"),
            _Column(f"count(DISTINCT {name})", "int"),
        ]
        if column.type == "bool":
            choices += [_Column(f"bool_and({name})", "bool"), _Column(f"bool_or({name})", "bool")]
        else:
            choices += [_Column(f"min({name})", column.type), _Column(f"max({name})", column.type)]
        if column.type in {"int", "decimal"}:
            choices += [_Column(f"sum({name})", column.type), _Column(f"sum(DISTINCT {name})", column.type)]
        if column.type == "int":
            choices.append(_Column(f"avg({name})", "double"))
        chosen = rng.choice(choices)
        if rng.random() < 0.2:
            return replace(chosen, text=f"{chosen.text} FILTER (WHERE {self._simple_condition(columns)})")
        return chosen

    def _order(self, columns: Sequence[_Column]) -> str:
        rng = self._rng
        return ", ".join(
            f"{c.text} {rng.choice(('ASC', 'DESC'))} NULLS {rng.choice(('FIRST', 'LAST'))}" for c in columns
        )

    def _alias(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers)}"


def _named(before: str, results: Sequence[_Column], behind: str) -> _Relation:
    """Return a query whose results are named c0, c1, ..."""
    listed = ", ".join(f"{each.text} AS c{at}" for at, each in enumerate(results))
    return _Relation(
        f"{before}{listed}{behind}", tuple(_Column(f"c{at}", each.type) for at, each in enumerate(results))
    )


def _qualified(text: str, alias: str, columns: Sequence[_Column]) -> _Relation:
    return _Relation(f"{text} {alias}", tuple(_Column(f"{alias}.{each.text}", each.type) for each in columns))


def _without_doubles(query: _Relation) -> _Relation:
    """Return a query without columns of doubles: they have no order that both agree on."""
    kept = [each for each in query.columns if each.type != "double"]
    if len(kept) == len(query.columns):
        return query
    return _named("SELECT ", kept or [_Column("1", "int")], f" FROM ({query.text}) x")


def _common_types(one: Sequence[_Column], other: Sequence[_Column]) -> list[str]:
    left, types = [each.type for each in other], []
    for each in one:
        if each.type in left:
            left.remove(each.type)
            types.append(each.type)
    return types


def _is_single_row(text: str) -> bool:
    return text.startswith("(SELECT ") and " GROUP BY " not in text


def _constant(kind: str, rng: random.Random) -> str:
    return rng.choice(_CONSTANTS.get(kind, ("NULL",)))
