"""A catalog over a store of permanent objects; temporary objects are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as changed

from datasources.near_matches import near_matches
from datasources.sql.catalog.interface import CatalogEntry, Namespace, ObjectStore, kind_of
from datasources.sql.catalog.memory import MemoryStore
from datasources.sql.definitions.option_secrets import refuse_literal_secrets
from datasources.sql.definitions.properties import Definition
from datasources.sql.definitions.without_spans import without_spans
from datasources.sql.statements.catalog_objects import FunctionDefinition, TableDefinition, ViewDefinition
from datasources.sql.statements.statements import ObjectKind
from datasources.sql.text.error_location import Site


class StoredCatalog:
    """Tables, views and functions by name; see `Catalog`."""

    def __init__(self, permanent: ObjectStore) -> None:
        self._permanent = permanent
        self._temporary = MemoryStore()

    @property
    def is_durable(self) -> bool:
        """Whether permanent objects survive the process."""
        return self._permanent.is_durable

    def create(
        self,
        definition: Definition,
        *,
        if_not_exists: bool = False,
        or_replace: bool = False,
        datatypes: Sequence[str] = (),
        at: Site | None = None,
    ) -> bool:
        """Add an object and return whether something changed; see `Catalog`."""
        kind = kind_of(definition)
        store, namespace = self._layer(is_temporary=definition.is_temporary), Namespace.of(kind)
        self._check_keepable(definition, store)
        with store.lock():
            existing = store.read(namespace, definition.name)
            if existing is not None:
                if if_not_exists:
                    return False
                if not or_replace or kind_of(existing) is not kind:
                    raise _name_conflict(existing, at)
            store.write(namespace, without_spans(definition), datatypes)
        return True

    def replace(
        self, old: Definition, new: Definition, *, datatypes: Sequence[str] = (), at: Site | None = None
    ) -> None:
        """Replace an object by its altered version; see `Catalog`."""
        store, namespace = self._layer(is_temporary=old.is_temporary), Namespace.of(kind_of(old))
        self._check_keepable(new, store)
        with store.lock():
            if store.read(namespace, old.name) != old:
                raise _site(at).error(
                    f"'{old.name}' was changed or dropped by someone else meanwhile", "Run the statement again."
                )
            if new.name.lower() != old.name.lower():
                other = store.read(namespace, new.name)
                if other is not None:
                    raise _name_conflict(other, at)
            store.write(namespace, without_spans(new), datatypes)
            if new.name.lower() != old.name.lower():
                store.delete(namespace, old.name)

    def drop(
        self,
        kind: ObjectKind,
        name: str,
        *,
        if_exists: bool = False,
        is_temporary: bool = False,
        at: Site | None = None,
    ) -> bool:
        """Remove an object and return whether there was one; see `Catalog`."""
        namespace = Namespace.of(kind)
        store = self._layer(is_temporary=is_temporary)
        hiding = None if is_temporary else self._temporary.read(namespace, name)
        if hiding is not None:
            shown = kind_of(hiding).value
            raise _site(at).error(
                f"'{name}' is a temporary {shown.lower()}", f"Drop it first: DROP TEMPORARY {shown} {hiding.name}."
            )
        with store.lock():
            entry = store.entry(namespace, name)
            if entry is None:
                if if_exists:
                    return False
                raise _no_temporary(kind, name, at) if is_temporary else self._unknown(kind, name, at)
            if entry.problem is None and entry.kind is not kind:
                raise _other_kind(entry.name, entry.kind, kind, at)
            store.delete(namespace, name)
        return True

    def rename(self, name: str, new_name: str, *, at: Site | None = None) -> None:
        """Give a table or view another name; see `Catalog`."""
        old = self.find(name)
        if old is None:
            raise self._unknown(ObjectKind.TABLE, name, at)
        self.replace(old, changed(old, name=new_name), at=at)

    def find(self, name: str) -> TableDefinition | ViewDefinition | None:
        """Return a table or view, or None; see `Catalog`."""
        found = self._read(Namespace.RELATIONS, name)
        return found if isinstance(found, TableDefinition | ViewDefinition) else None

    def function(self, name: str) -> FunctionDefinition | None:
        """Return a function, or None; see `Catalog`."""
        found = self._read(Namespace.FUNCTIONS, name)
        return found if isinstance(found, FunctionDefinition) else None

    def get(self, kind: ObjectKind, name: str, *, at: Site | None = None) -> Definition:
        """Return an object; see `Catalog`."""
        found = self._read(Namespace.of(kind), name)
        if found is None:
            raise self._unknown(kind, name, at)
        if kind_of(found) is not kind:
            raise _other_kind(found.name, kind_of(found), kind, at)
        return found

    def exists(self, kind: ObjectKind, name: str) -> bool:
        """Return whether there is such an object, broken or not."""
        namespace = Namespace.of(kind)
        for store in (self._temporary, self._permanent):
            entry = store.entry(namespace, name)
            if entry is not None:
                return entry.kind is kind or entry.problem is not None
        return False

    def entries(self, kind: ObjectKind) -> tuple[CatalogEntry, ...]:
        """Return all objects of a kind by name; see `Catalog`."""
        namespace = Namespace.of(kind)
        visible = {entry.name.lower(): entry for entry in self._permanent.entries(namespace)}
        visible |= {entry.name.lower(): entry for entry in self._temporary.entries(namespace)}
        return tuple(visible[name] for name in sorted(visible) if visible[name].kind is kind)

    def _layer(self, *, is_temporary: bool) -> ObjectStore:
        return self._temporary if is_temporary else self._permanent

    def _read(self, namespace: Namespace, name: str) -> Definition | None:
        return self._temporary.read(namespace, name) or self._permanent.read(namespace, name)

    @staticmethod
    def _check_keepable(definition: Definition, store: ObjectStore) -> None:
        if store.is_durable and isinstance(definition, TableDefinition):
            refuse_literal_secrets(definition.options, spans={})

    def _unknown(self, kind: ObjectKind, name: str, at: Site | None) -> Exception:
        namespace = Namespace.of(kind)
        known = {*self._permanent.names(namespace), *self._temporary.names(namespace)}
        shown = kind.value.lower()
        hint = near_matches(name, known).strip() or f"SHOW {kind.value}S lists those that exist."
        return _site(at).error(f"there is no {shown} '{name}'", hint)


def _site(at: Site | None) -> Site:
    return Site(clause="the catalog") if at is None else at


def _no_temporary(kind: ObjectKind, name: str, at: Site | None) -> Exception:
    shown = kind.value
    return _site(at).error(f"there is no temporary {shown.lower()} '{name}'", f"DROP {shown} drops a permanent one.")


def _name_conflict(existing: Definition, at: Site | None) -> Exception:
    kind = kind_of(existing).value
    lifetime = "temporary " if existing.is_temporary else ""
    return _site(at).error(
        f"there is a {lifetime}{kind.lower()} '{existing.name}' already",
        f"Choose another name, write IF NOT EXISTS, or drop it first: DROP {lifetime.upper()}{kind} {existing.name}.",
    )


def _other_kind(name: str, kind: ObjectKind, wanted: ObjectKind, at: Site | None) -> Exception:
    return _site(at).error(f"'{name}' is a {kind.value.lower()}, not a {wanted.value.lower()}")
