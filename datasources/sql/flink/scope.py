"""What names mean in a query: the columns of what FROM names, and of the queries around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from datasources.grammar.sql_types import SqlType
from datasources.near_matches import near_matches
from datasources.sql.flink.typed_value import Refused, shown_type


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table or of a result."""

    name: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class Source:
    """Something that FROM names. `alias` qualifies its columns, "" = nothing does."""

    alias: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """The sources of a query, in order.

    Attributes:
        sources: what names may come from.
        parent: of the query around a correlated one.
        aliases: of the select list, for ORDER BY.
    """

    sources: tuple[Source, ...] = ()
    parent: Scope | None = None
    aliases: tuple[Column, ...] = ()

    def columns(self, qualifier: str | None = None) -> tuple[Column, ...]:
        """Return the columns of `*`, or of `qualifier.*`.

        Raises:
            Refused: nothing has this name.
        """
        found = [each for each in self.sources if qualifier is None or each.alias == qualifier]
        if not found:
            raise Refused(f"nothing in FROM is called '{qualifier}'", near_matches(qualifier or "", self._aliases()))
        return tuple(column for source in found for column in source.columns)

    def type_of(self, path: tuple[str, ...]) -> SqlType:
        """Return the type of the column, or field of a column, that a path names.

        Raises:
            Refused: there is none, or several.
        """
        scope: Scope | None = self
        while scope is not None:
            found = scope.find(path)
            if found is not None:
                return found
            scope = scope.parent
        raise Refused(f"there is no column '{'.'.join(path)}'", self._hint(path))

    def find(self, path: tuple[str, ...]) -> SqlType | None:
        """Return the type of what a path names in this query alone, None if there is nothing.

        Raises:
            Refused: there are several, or a column has no such field.
        """
        if len(path) > 1:
            for source in self.sources:
                if source.alias == path[0]:
                    column = _named(path[1], source.columns)
                    if column is not None:
                        return _field(column.type, path[2:], path[:2])
        if len(path) == 1 and (column := _named(path[0], self.aliases)) is not None:
            return column.type
        found = [c for source in self.sources if (c := _named(path[0], source.columns)) is not None]
        if len(found) > 1:
            raise Refused(
                f"the column '{path[0]}' is in {len(found)} of the sources", "Qualify it: alias.column, for example."
            )
        return _field(found[0].type, path[1:], path[:1]) if found else None

    def _aliases(self) -> Iterator[str]:
        return (each.alias for each in self.sources if each.alias)

    def _hint(self, path: tuple[str, ...]) -> str:
        known = [column.name for source in self.sources for column in source.columns]
        same = [name for name in known if name.lower() == path[-1].lower()]
        if same:
            return f"Names are case-sensitive in Flink SQL: it is '{same[0]}'."
        return near_matches(path[-1], known).strip() or _listed(known)


def _listed(names: Iterable[str]) -> str:
    found = ", ".join(names)
    return f"There are {found}." if found else ""


def _named(name: str, columns: tuple[Column, ...]) -> Column | None:
    return next((each for each in columns if each.name == name), None)


def _field(kind: SqlType, path: tuple[str, ...], before: tuple[str, ...]) -> SqlType:
    for at, name in enumerate(path):
        found = next((each.type for each in kind.fields if each.name == name), None)
        if found is None:
            whole = ".".join((*before, *path[:at]))
            fields = ", ".join(each.name for each in kind.fields)
            hint = f"Its fields are {fields}." if fields else f"It is {shown_type(kind)}."
            raise Refused(f"'{whole}' has no field '{name}'", hint)
        kind = found
    return kind
