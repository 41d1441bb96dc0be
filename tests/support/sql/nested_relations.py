"""Generated statements over a table of nested columns, through views that choose, rename, compute and nest anew."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["COLUMNS", "NestedStatement", "generated_records", "generated_statement"]

COLUMNS = (
    "id INT NOT NULL, k STRING, v INT, "
    "a ROW<x INT, y STRING, z ROW<p INT, q ARRAY<ROW<u INT, w STRING>>, `r.s` ROW<c INT, d STRING>>>, "
    "b ROW<x INT, Y STRING, at TIMESTAMP(3)>, m MAP<STRING, ROW<g INT, h STRING>>, e ROW<x INT>, "
    "t AS CASE WHEN v > 0 THEN b.at ELSE ts END, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
)

Shape = str | dict[str, "Shape"]
"""`int`, `text`, `time`, or another type that is only passed on; of a STRUCT its fields."""
_TABLE: dict[str, Shape] = {
    "id": "int",
    "k": "text",
    "v": "int",
    "a": {"x": "int", "y": "text", "z": {"p": "int", "q": "array", "`r.s`": {"c": "int", "d": "text"}}},
    "b": {"x": "int", "Y": "text", "at": "time"},
    "m": "map",
    "e": {"x": "int"},
    "t": "time",
    "ts": "time",
}


@dataclass(frozen=True, slots=True)
class NestedStatement:
    """A statement with the views that it needs, and whether a stream can answer it with rows that stay."""

    views: tuple[str, ...]
    text: str
    is_of_stream: bool


def generated_records(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield rows in which anything but the id may be NULL."""
    rng = random.Random(f"records {seed}")

    def maybe(value: Any) -> Any:
        return value if rng.random() < 0.85 else None

    for number in range(count):
        second = number + rng.randrange(-3, 4) % 60
        time = f"2026-01-01 00:{max(second, 0) // 60 % 60:02d}:{max(second, 0) % 60:02d}"
        element = {"u": maybe(rng.randrange(4)), "w": maybe(rng.choice("wx"))}
        inner = {"p": maybe(rng.randrange(4)), "q": maybe([maybe(element)] * rng.randrange(3))}
        inner["r.s"] = maybe({"c": maybe(rng.randrange(4)), "d": maybe(rng.choice("de"))})
        yield {
            "id": number + 1_000 * seed,
            "k": maybe(rng.choice("kl")),
            "v": maybe(rng.randrange(-2, 3)),
            "a": maybe({"x": maybe(rng.randrange(4)), "y": maybe(rng.choice("yz")), "z": maybe(inner)}),
            "b": maybe({"x": maybe(rng.randrange(4)), "Y": maybe(rng.choice("ab")), "at": maybe(time)}),
            "m": maybe({"g": maybe({"g": maybe(1), "h": maybe("h")})}),
            "e": maybe({"x": maybe(rng.randrange(4))}),
            "ts": time,
        }


def generated_statement(seed: int) -> NestedStatement:
    """Return a statement over the table `n`."""
    return _Generator(random.Random(f"nested {seed}")).statement()


@dataclass(slots=True)
class _Relation:
    """Something in FROM with its columns; rows of a table or of a view, which have a time attribute."""

    name: str
    columns: dict[str, Shape]


@dataclass(slots=True)
class _Generator:
    rng: random.Random
    views: list[str] = field(default_factory=list)
    is_of_stream: bool = True

    def statement(self) -> NestedStatement:
        relations = [_Relation("n", _TABLE)]
        for number in range(self.rng.randrange(4)):
            relations.append(self._view(f"v{number}", self.rng.choice(relations)))
        form = self.rng.choice(
            (self._rows, self._rows, self._rows, self._join, self._groups, self._union, self._windows, self._others)
        )
        text = form(relations)
        return NestedStatement(views=tuple(self.views), text=text, is_of_stream=self.is_of_stream)

    def _view(self, name: str, of: _Relation) -> _Relation:
        items, columns = self._items(of, self.rng.randrange(1, 7), prefix=f"{name}_")
        if self.rng.random() < 0.9 and "ts" in of.columns:
            items, columns = [*items, "ts"], {**columns, "ts": of.columns["ts"]}
        self.views.append(f"CREATE VIEW {name} AS SELECT {', '.join(items)} FROM {of.name}{self._where(of)}")
        return _Relation(name, columns)

    def _items(self, of: _Relation, count: int, prefix: str) -> tuple[list[str], dict[str, Shape]]:
        items: list[str] = []
        columns: dict[str, Shape] = {}
        for number in range(count):
            text, shape = self._value(of.columns)
            columns[f"{prefix}{number}"] = shape
            items.append(f"{text} AS {prefix}{number}")
        return items, columns

    def _value(self, columns: dict[str, Shape]) -> tuple[str, Shape]:
        """Return an expression and its shape: mostly a column or a field, sometimes something of several."""
        paths = list(_paths(columns))
        text, shape = self.rng.choice(paths)
        kind = self.rng.random()
        if kind < 0.6:
            return text, shape
        if kind < 0.7:
            others = self.rng.sample(paths, min(2, len(paths)))
            fields = ", ".join(f"'f{at}', {other}" for at, (other, _) in enumerate(others))
            return f"named_struct({fields})", {f"f{at}": other for at, (_, other) in enumerate(others)}
        return self._scalar(text, shape), "int" if shape == "int" else "text"

    def _scalar(self, text: str, shape: Shape) -> str:
        if shape == "int":
            return self.rng.choice((f"{text} + 1", f"coalesce({text}, 0)", f"CASE WHEN {text} > 1 THEN {text} END"))
        if shape == "text":
            return self.rng.choice((f"upper({text})", f"concat({text}, '!')"))
        if isinstance(shape, dict):
            return self.rng.choice((f"to_json({text})", f"CAST({text} IS NULL AS STRING)", f"CAST({text} AS STRING)"))
        return f"CAST({text} AS STRING)"

    def _where(self, of: _Relation, alias: str = "") -> str:
        if self.rng.random() < 0.5:
            return ""
        parts = [self._condition(of, alias) for _ in range(self.rng.randrange(1, 3))]
        return f" WHERE {self.rng.choice((' AND ', ' OR ')).join(parts)}"

    def _condition(self, of: _Relation, alias: str = "") -> str:
        text, shape = self.rng.choice(list(_paths(of.columns)))
        text = f"{alias}{text}"
        forms = [f"{text} IS NOT NULL", f"{text} IS NULL"]
        forms += [f"{text} > 1", f"{text} IN (0, 2)", f"{text} % 2 = 0"] if shape == "int" else []
        forms += [f"{text} IN ('y', 'k', 'a', 'Y')", f"{text} LIKE '%y%'"] if shape == "text" else []
        return self.rng.choice(forms)

    def _rows(self, relations: Sequence[_Relation]) -> str:
        of = self.rng.choice(relations)
        items, _ = self._items(of, self.rng.randrange(1, 5), prefix="c")
        if self.rng.random() < 0.1:
            items = ["*"]
        return f"SELECT {', '.join(items)} FROM {of.name}{self._where(of)}"

    def _join(self, relations: Sequence[_Relation]) -> str:
        left, right = self.rng.choice(relations), self.rng.choice(relations)
        on = self._on(left, right)
        if on is None:
            return self._rows(relations)
        items, _ = self._items(_Relation("", {f"l.{name}": shape for name, shape in left.columns.items()}), 3, "c")
        more, _ = self._items(_Relation("", {f"r.{name}": shape for name, shape in right.columns.items()}), 3, "d")
        text = f"SELECT {', '.join([*items, *more])} FROM {left.name} AS l JOIN {right.name} AS r ON {on}"
        return text + (f" WHERE {self._condition(right, 'r.')}" if self.rng.random() < 0.5 else "")

    def _on(self, left: _Relation, right: _Relation) -> str | None:
        whole = [[text for text, shape in _paths(each.columns) if shape == "int"] for each in (left, right)]
        if not all(whole):
            return None
        first, second = map(self.rng.choice, whole)
        return f"l.{first} = r.{second}"

    def _groups(self, relations: Sequence[_Relation]) -> str:
        self.is_of_stream = False
        of = self.rng.choice(relations)
        key, _ = self._value({name: shape for name, shape in of.columns.items() if shape != "map"} or {"1": "int"})
        text, shape = self.rng.choice(list(_paths(of.columns)))
        call = self.rng.choice(("COUNT({})", "MAX({})")).format(self._scalar(text, shape))
        return f"SELECT {key} AS g, {call} AS c, COUNT(*) AS n FROM {of.name}{self._where(of)} GROUP BY 1"

    def _union(self, relations: Sequence[_Relation]) -> str:
        parts = []
        for _ in range(2):
            of = self.rng.choice(relations)
            text, shape = self.rng.choice(list(_paths(of.columns)))
            parts.append(f"SELECT CAST({self._scalar(text, shape)} AS STRING) AS c FROM {of.name}{self._where(of)}")
        return " UNION ALL ".join(parts)

    def _windows(self, relations: Sequence[_Relation]) -> str:
        timed = [each for each in relations if "ts" in each.columns]
        of = self.rng.choice(timed)
        text, shape = self.rng.choice(list(_paths(of.columns)))
        # A Python-only function keeps some aggregates from being pushed down, so that rows reach Spark.
        call = self.rng.choice(("COUNT({})", "MAX({})", "max_by({}, ts)")).format(self._scalar(text, shape))
        return (
            f"SELECT window_end, {call} AS c, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {of.name}, DESCRIPTOR(ts), "
            f"INTERVAL '10' SECOND)){self._where(of)} GROUP BY window_start, window_end"
        )

    def _others(self, relations: Sequence[_Relation]) -> str:
        """What keeps all columns of its input, or has a plan inside of an expression."""
        self.is_of_stream = False
        of = self.rng.choice(relations)
        items, _ = self._items(of, 2, prefix="c")
        chosen = ", ".join(items)
        text, _ = self.rng.choice(list(_paths(of.columns)))
        first = next(iter(of.columns))
        later = f"row_number() OVER (PARTITION BY CAST({text} AS STRING) ORDER BY CAST({first} AS STRING))"
        return self.rng.choice(
            (
                f"SELECT c0 FROM (SELECT {chosen} FROM {of.name} ORDER BY CAST({text} AS STRING), CAST(c0 AS STRING) LIMIT 7)",
                f"SELECT DISTINCT CAST({text} AS STRING) AS c FROM {of.name}{self._where(of)}",
                f"SELECT {chosen} FROM {of.name} WHERE EXISTS (SELECT 1 FROM n WHERE n.v = 1)",
                f"SELECT {chosen}, (SELECT MAX(n.a.x) FROM n) AS top FROM {of.name}",
                f"SELECT {chosen}, {later} > 1 AS later FROM {of.name}",
                "SELECT id, col.u FROM n LATERAL VIEW explode(a.z.q) AS col",
                "SELECT n.id, x.z.p FROM (SELECT id, a AS x FROM n) AS n",
                "SELECT l.id FROM n AS l LEFT SEMI JOIN n AS r ON l.a.x = r.b.x",
                "SELECT l.id, r.a.y FROM n AS l LEFT JOIN (SELECT * FROM n WHERE v > 0) AS r ON l.b.x = r.a.z.p",
            )
        )


def _paths(columns: dict[str, Shape]) -> Iterator[tuple[str, Shape]]:
    for name, shape in columns.items():
        yield name, shape
        if isinstance(shape, dict):
            yield from ((f"{name}.{text}", below) for text, below in _paths(shape))
