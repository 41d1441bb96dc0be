"""The interface of a catalog for its users, and of the store of its permanent objects."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from datasources.sql.definitions.properties import Definition
from datasources.sql.statements.catalog_objects import FunctionDefinition, TableDefinition, ViewDefinition
from datasources.sql.statements.statements import ObjectKind
from datasources.sql.text.error_location import Site


class Namespace(enum.Enum):
    """Within one, a name exists once: a table and a view cannot share it, a table and a function can."""

    RELATIONS = "tables"
    FUNCTIONS = "functions"

    @classmethod
    def of(cls, kind: ObjectKind) -> Namespace:
        """Return where objects of a kind live."""
        return cls.FUNCTIONS if kind is ObjectKind.FUNCTION else cls.RELATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """An object in a list.

    Attributes:
        name: as declared; of a broken object the name that it would be asked for.
        kind: its kind; a broken object counts as a table, or as a function where functions are kept.
        is_temporary: whether it ends with the session.
        problem: reason why it cannot be loaded; None = it can.
    """

    name: str
    kind: ObjectKind
    is_temporary: bool = False
    problem: str | None = None


class Catalog(Protocol):
    """Tables, views and functions by name, whatever the name's case.

    A temporary object hides a permanent one of the same name and ends with the session. `at` is the location of a name
    in a statement: errors underline it.
    """

    @property
    def is_durable(self) -> bool:
        """Whether permanent objects survive the process."""
        ...

    def create(
        self,
        definition: Definition,
        *,
        if_not_exists: bool = False,
        or_replace: bool = False,
        datatypes: Sequence[str] = (),
        at: Site | None = None,
    ) -> bool:
        """Add an object and return whether something changed.

        Args:
            definition: its spans are not stored.
            if_not_exists: an object of this name, with the same lifetime, is left as it is.
            or_replace: an object of this name, kind and lifetime is replaced.
            datatypes: of a table's watermark expressions, for the stored properties.
            at: the name.

        Raises:
            SqlError: the name is in use, the object holds a secret and would be kept, or cannot be written.
        """
        ...

    def replace(
        self, old: Definition, new: Definition, *, datatypes: Sequence[str] = (), at: Site | None = None
    ) -> None:
        """Replace an object by its altered version; the name may differ.

        Raises:
            SqlError: the object is gone or was changed concurrently, or the new name is in use.
        """
        ...

    def drop(
        self,
        kind: ObjectKind,
        name: str,
        *,
        if_exists: bool = False,
        is_temporary: bool = False,
        at: Site | None = None,
    ) -> bool:
        """Remove an object and return whether there was one. One that is broken can be removed.

        Raises:
            SqlError: there is none, it is of another kind, or a temporary one hides the permanent one.
        """
        ...

    def rename(self, name: str, new_name: str, *, at: Site | None = None) -> None:
        """Give a table or view another name.

        Raises:
            SqlError: there is none, or the new name is in use.
        """
        ...

    def find(self, name: str) -> TableDefinition | ViewDefinition | None:
        """Return a table or view, or None.

        Raises:
            SqlError: it is broken; the error names the file.
        """
        ...

    def function(self, name: str) -> FunctionDefinition | None:
        """Return a function, or None.

        Raises:
            SqlError: it is broken; the error names the file.
        """
        ...

    def get(self, kind: ObjectKind, name: str, *, at: Site | None = None) -> Definition:
        """Return an object.

        Raises:
            SqlError: there is none (with near matches), it is of another kind, or broken.
        """
        ...

    def exists(self, kind: ObjectKind, name: str) -> bool:
        """Return whether there is such an object, broken or not."""
        ...

    def entries(self, kind: ObjectKind) -> tuple[CatalogEntry, ...]:
        """Return all visible objects of a kind by name; broken ones carry the reason."""
        ...


class ObjectStore(Protocol):
    """Keeps permanent objects. What changes something is called inside of `lock`."""

    @property
    def is_durable(self) -> bool:
        """Whether its objects survive the process."""
        ...

    def lock(self) -> AbstractContextManager[None]:
        """Keep others, also other processes, from changing anything meanwhile. Not to be entered twice."""
        ...

    def read(self, namespace: Namespace, name: str) -> Definition | None:
        """Return an object, or None.

        Raises:
            SqlError: it exists and is broken.
        """
        ...

    def names(self, namespace: Namespace) -> tuple[str, ...]:
        """Return the names of all objects, lower case, broken ones too."""
        ...

    def entry(self, namespace: Namespace, name: str) -> CatalogEntry | None:
        """Return an object, or None; a broken one carries the reason."""
        ...

    def entries(self, namespace: Namespace) -> tuple[CatalogEntry, ...]:
        """Return all objects by name; broken ones carry the reason."""
        ...

    def write(self, namespace: Namespace, definition: Definition, datatypes: Sequence[str]) -> None:
        """Store an object, replacing the one of that name, atomically."""
        ...

    def delete(self, namespace: Namespace, name: str) -> None:
        """Remove the object of a name."""
        ...


def kind_of(definition: Definition) -> ObjectKind:
    """Return what a definition defines."""
    if isinstance(definition, TableDefinition):
        return ObjectKind.TABLE
    return ObjectKind.VIEW if isinstance(definition, ViewDefinition) else ObjectKind.FUNCTION
