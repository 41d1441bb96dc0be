"""Objects in memory, for the lifetime of the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from datasources.sql.catalog.interface import CatalogEntry, Namespace, kind_of
from datasources.sql.definitions.properties import Definition


class MemoryStore:
    """Keeps definitions as they are; see `ObjectStore`."""

    def __init__(self) -> None:
        self._objects: dict[tuple[Namespace, str], Definition] = {}
        self._mutex = threading.Lock()

    @property
    def is_durable(self) -> bool:
        """It ends with the process."""
        return False

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other threads out."""
        with self._mutex:
            yield

    def read(self, namespace: Namespace, name: str) -> Definition | None:
        """Return an object, or None."""
        return self._objects.get((namespace, name.lower()))

    def names(self, namespace: Namespace) -> tuple[str, ...]:
        """Return the names of all objects, lower case."""
        return tuple(sorted(name for owner, name in self._objects if owner is namespace))

    def entry(self, namespace: Namespace, name: str) -> CatalogEntry | None:
        """Return an object, or None."""
        found = self.read(namespace, name)
        return None if found is None else _entry(found)

    def entries(self, namespace: Namespace) -> tuple[CatalogEntry, ...]:
        """Return all objects by name."""
        return tuple(_entry(self._objects[namespace, name]) for name in self.names(namespace))

    def write(self, namespace: Namespace, definition: Definition, datatypes: Sequence[str]) -> None:  # noqa: ARG002 - the store's
        """Keep an object."""
        self._objects[namespace, definition.name.lower()] = definition

    def delete(self, namespace: Namespace, name: str) -> None:
        """Remove the object of a name."""
        self._objects.pop((namespace, name.lower()), None)


def _entry(definition: Definition) -> CatalogEntry:
    return CatalogEntry(name=definition.name, kind=kind_of(definition), is_temporary=definition.is_temporary)
