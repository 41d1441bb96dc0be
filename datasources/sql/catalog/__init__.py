"""The catalog: tables, views and functions by name, in memory or in a directory that survives the process."""

from __future__ import annotations

from pathlib import Path

from datasources.sql.catalog.directory import DirectoryStore
from datasources.sql.catalog.interface import Catalog, CatalogEntry, Namespace, ObjectStore
from datasources.sql.catalog.memory import MemoryStore
from datasources.sql.catalog.stored import StoredCatalog

__all__ = [
    "Catalog",
    "CatalogEntry",
    "DirectoryStore",
    "MemoryStore",
    "Namespace",
    "ObjectStore",
    "StoredCatalog",
    "open_catalog",
]


def open_catalog(path: str | Path | None = None) -> Catalog:
    """Return a catalog.

    The directory is made if it is not there; several processes may use it at once. Without one the catalog is in
    memory.

    Raises:
        SqlError: the directory cannot be made or is none.
    """
    return StoredCatalog(MemoryStore() if path is None else DirectoryStore(Path(path)))
