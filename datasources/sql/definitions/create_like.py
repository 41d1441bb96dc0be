"""CREATE TABLE ... LIKE: the table of the statement with definitions inherited from another one. Flink's rules.

    part           by default     INCLUDING             EXCLUDING      OVERWRITING
    OPTIONS        OVERWRITING    a key twice: error    none inherited the statement's value counts
    WATERMARKS     INCLUDING      a column twice: error none inherited the statement's clause counts
    GENERATED      INCLUDING      a name twice: error   none inherited the statement's column counts
    METADATA       INCLUDING      a name twice: error   none inherited the statement's column counts
    CONSTRAINTS    INCLUDING      two keys: error       none inherited not allowed
    PARTITIONS     INCLUDING      two clauses: error    none inherited not allowed
    ALL            all of these   all of these          all of these   not allowed

Physical columns are always inherited and cannot be declared again. Watermarks for different columns are combined. The
statement's own columns follow the inherited ones; an overwriting column takes the position of the other one. The
comment is the statement's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from datasources.errors import InternalError
from datasources.grammar.source_text import Span
from datasources.sql.definitions.without_spans import without_spans
from datasources.sql.statements.catalog_objects import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PartitionKeys,
    PhysicalColumn,
    PrimaryKey,
    TableDefinition,
    WatermarkSpec,
)
from datasources.sql.statements.statements import CreateTable, LikeOption, LikeRule
from datasources.sql.text.error_location import Site

_DEFAULTS: Final = {
    "OPTIONS": LikeRule.OVERWRITING,
    "WATERMARKS": LikeRule.INCLUDING,
    "GENERATED": LikeRule.INCLUDING,
    "METADATA": LikeRule.INCLUDING,
    "CONSTRAINTS": LikeRule.INCLUDING,
    "PARTITIONS": LikeRule.INCLUDING,
}
_NEVER_OVERWRITTEN: Final = frozenset({"ALL", "CONSTRAINTS", "PARTITIONS"})
_PART_OF: Final[dict[type[Column], str]] = {ComputedColumn: "GENERATED", MetadataColumn: "METADATA"}
_KIND_OF: Final[dict[type[Column], str]] = {
    ComputedColumn: "computed column",
    MetadataColumn: "metadata column",
    PhysicalColumn: "column",
}


def merge_like(base: TableDefinition, statement: CreateTable) -> TableDefinition:
    """Return the table that a statement with LIKE defines.

    Spans in the result point into ``statement``; inherited definitions have none.

    Raises:
        SqlError: a part is named twice or cannot have its rule, or both tables define what may be there once.
    """
    if statement.like is None:
        raise InternalError(f"CREATE TABLE {statement.table.name} has no LIKE")
    stripped = without_spans(base)
    if not isinstance(stripped, TableDefinition):
        raise InternalError(f"LIKE {base.name} is no table")
    merge = _Merge(stripped, statement, statement.like.options)
    return replace(
        statement.table,
        columns=merge.columns(),
        watermarks=merge.watermarks(),
        primary_key=merge.primary_key(),
        partition_keys=merge.partition_keys(),
        options=merge.options(),
    )


class _Merge:
    """One statement and the table that it takes from."""

    def __init__(self, base: TableDefinition, statement: CreateTable, options: Iterable[LikeOption]) -> None:
        self._base = base
        self._statement = statement
        self._own = statement.table
        self._rules = self._rules_of(options)

    def columns(self) -> tuple[Column, ...]:
        """Return the columns, those of the base first."""
        found = {c.name.lower(): c for c in self._base.columns if self._takes(_PART_OF.get(type(c)))}
        own: set[str] = set()
        for column in self._own.columns:
            folded = column.name.lower()
            if folded in own:
                raise self._site(column.span, column.name).error(f"column '{column.name}' is declared twice")
            other = found.get(folded)
            if other is not None:
                self._check_may_overwrite(column, other)
            own.add(folded)
            found[folded] = column
        return tuple(found.values())

    def watermarks(self) -> tuple[WatermarkSpec, ...]:
        """Return the watermarks, those of the base first."""
        inherited = self._base.watermarks if self._takes("WATERMARKS") else ()
        found = {_folded(each.rowtime): each for each in inherited}
        for each in self._own.watermarks:
            if _folded(each.rowtime) in found and self._rules["WATERMARKS"] is not LikeRule.OVERWRITING:
                name = ".".join(each.rowtime)
                raise self._twice(each.span, f"a watermark for '{name}'", "WATERMARKS")
            found[_folded(each.rowtime)] = each
        return tuple(found.values())

    def primary_key(self) -> PrimaryKey | None:
        """Return the primary key."""
        inherited = self._base.primary_key if self._takes("CONSTRAINTS") else None
        own = self._own.primary_key
        if own is not None and inherited is not None:
            raise self._site(own.span, "PRIMARY KEY").error(
                f"table '{self._base.name}' has a primary key already", "Add EXCLUDING CONSTRAINTS to LIKE."
            )
        return own or inherited

    def partition_keys(self) -> PartitionKeys | None:
        """Return the columns of PARTITIONED BY."""
        inherited = self._base.partition_keys if self._takes("PARTITIONS") else None
        own = self._own.partition_keys
        if own is not None and inherited is not None:
            raise self._site(own.span, "PARTITIONED BY").error(
                f"table '{self._base.name}' is partitioned already", "Add EXCLUDING PARTITIONS to LIKE."
            )
        return own or inherited

    def options(self) -> dict[str, str]:
        """Return the options; keys ignore case."""
        found = dict(self._base.options) if self._takes("OPTIONS") else {}
        spellings = {key.lower(): key for key in found}
        for key, value in self._own.options.items():
            other = spellings.get(key.lower())
            if other is not None:
                if self._rules["OPTIONS"] is not LikeRule.OVERWRITING:
                    span = self._statement.option_spans.get(key)
                    raise self._twice(span, f"an option '{other}'", "OPTIONS")
                del found[other]
            found[key] = value
        return found

    def _takes(self, part: str | None) -> bool:
        return part is None or self._rules[part] is not LikeRule.EXCLUDING

    def _check_may_overwrite(self, column: Column, other: Column) -> None:
        part = _PART_OF.get(type(column))
        if part is not None and type(other) is type(column):
            if self._rules[part] is LikeRule.OVERWRITING:
                return
            raise self._twice(column.span, f"a {_KIND_OF[type(other)]} '{other.name}'", part)
        raise self._site(column.span, column.name).error(
            f"table '{self._base.name}' has a {_KIND_OF[type(other)]} '{other.name}' already",
            "Its columns are all taken; give this one another name.",
        )

    def _rules_of(self, options: Iterable[LikeOption]) -> Mapping[str, LikeRule]:
        given: dict[str, LikeRule] = {}
        for option in options:
            site = self._site(option.span, "LIKE")
            if option.part in given:
                raise site.error(f"{option.part} is named twice in LIKE", "Remove one of them.")
            if option.rule is LikeRule.OVERWRITING and option.part in _NEVER_OVERWRITTEN:
                raise site.error(
                    f"OVERWRITING {option.part} is not possible",
                    "Use INCLUDING or EXCLUDING; OPTIONS, WATERMARKS, GENERATED and METADATA can be overwritten.",
                )
            given[option.part] = option.rule
        everything = given.pop("ALL", None)
        defaults = _DEFAULTS if everything is None else dict.fromkeys(_DEFAULTS, everything)
        return {**defaults, **given}

    def _site(self, span: Span | None, clause: str) -> Site:
        return Site(clause=f"table '{self._own.name}', {clause}", source=self._statement.source, span=span)

    def _twice(self, span: Span | None, what: str, part: str) -> Exception:
        return self._site(span, part).error(
            f"table '{self._base.name}' has {what} already",
            f"Add EXCLUDING {part} or OVERWRITING {part} to LIKE.",
        )


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in path)
