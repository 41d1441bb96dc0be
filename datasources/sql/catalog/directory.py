"""Objects in a directory, one file each, shared by any number of processes.

How it works. A file is written under another name, synced to disk and renamed: a reader sees the old file or the new
one, never a partial one. Changes hold a lock on one file of the directory, so that two processes cannot both find a
name free. Reads take no lock. A broken file affects only its own object.

    tables/orders.json       a table or view
    functions/f.json         a function
    .lock                    empty; locked during a change
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from datasources.errors import SqlError
from datasources.sql.catalog.file_text import SUFFIX, file_name, name_in, properties_in, text_of
from datasources.sql.catalog.interface import CatalogEntry, Namespace, kind_of
from datasources.sql.definitions.properties import Definition, definition_of, properties_of
from datasources.sql.statements.catalog_objects import FunctionDefinition
from datasources.sql.statements.statements import ObjectKind

_HIDDEN: Final = "."
_Signature = tuple[int, int, int]


class DirectoryStore:
    """Keeps definitions in files; see `ObjectStore`.

    Raises:
        SqlError: it cannot be made, or is a file.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._mutex = threading.Lock()
        self._loaded: dict[Path, tuple[_Signature, Definition]] = {}
        for namespace in Namespace:
            try:
                self._folder(namespace).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise SqlError(f"the catalog directory '{root}' cannot be used: {error.strerror}.") from None

    @property
    def is_durable(self) -> bool:
        """Files survive the process."""
        return True

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other threads and processes from changing anything."""
        with self._mutex, self._explained("be locked"), (self._root / ".lock").open("ab") as lock_file:
            fcntl.flock(lock_file, fcntl.LOCK_EX)
            yield

    def read(self, namespace: Namespace, name: str) -> Definition | None:
        """Return an object, or None.

        Raises:
            SqlError: its file is broken, or there are two; the files are named.
        """
        return self._only(namespace, name, self._files_of(namespace, name))

    def names(self, namespace: Namespace) -> tuple[str, ...]:
        """Return the names of all objects, lower case; a long name as in its file's name."""
        return tuple(sorted(self._files(namespace)))

    def entry(self, namespace: Namespace, name: str) -> CatalogEntry | None:
        """Return an object, or None; a broken one carries the reason."""
        files = self._files_of(namespace, name)
        return self._entry(namespace, name, files) if files else None

    def entries(self, namespace: Namespace) -> tuple[CatalogEntry, ...]:
        """Return all objects by name; broken ones carry the reason."""
        groups = sorted(self._files(namespace).items())
        found = (self._entry(namespace, name, files) for name, files in groups)
        return tuple(entry for entry in found if entry is not None)

    def write(self, namespace: Namespace, definition: Definition, datatypes: Sequence[str]) -> None:
        """Keep an object: once this returns it is on the disk."""
        folder = self._folder(namespace)
        path = folder / file_name(definition.name)
        draft = folder / ".draft"  # one writer at a time: an old draft is a leftover
        text = text_of(properties_of(definition, datatypes=datatypes))
        with self._explained("be written"):
            with draft.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            _sync_directory(folder)

    def delete(self, namespace: Namespace, name: str) -> None:
        """Remove the object of a name, broken or not."""
        with self._explained("be changed"):
            for file in self._files_of(namespace, name):
                file.unlink(missing_ok=True)
            _sync_directory(self._folder(namespace))

    def _folder(self, namespace: Namespace) -> Path:
        return self._root / namespace.value

    def _files(self, namespace: Namespace) -> dict[str, list[Path]]:
        """Return the files by the names that they are named after."""
        found: dict[str, list[Path]] = {}
        with self._explained("be read"):
            for file in sorted(self._folder(namespace).iterdir()):
                if file.name.endswith(SUFFIX) and not file.name.startswith(_HIDDEN):
                    found.setdefault(name_in(file.name), []).append(file)
        return found

    def _files_of(self, namespace: Namespace, name: str) -> list[Path]:
        return self._files(namespace).get(name_in(file_name(name)), [])

    def _entry(self, namespace: Namespace, name: str, files: list[Path]) -> CatalogEntry | None:
        try:
            definition = self._only(namespace, name, files)
        except SqlError as error:
            kind = ObjectKind.FUNCTION if namespace is Namespace.FUNCTIONS else ObjectKind.TABLE
            return CatalogEntry(name=name, kind=kind, problem=error.message)
        return None if definition is None else CatalogEntry(name=definition.name, kind=kind_of(definition))

    def _only(self, namespace: Namespace, name: str, files: list[Path]) -> Definition | None:
        if len(files) > 1:
            shown = " and ".join(f"'{file}'" for file in files)
            raise SqlError(f"'{name}' is in the catalog twice, in {shown}. Remove one of the files.")
        return self._load(namespace, files[0]) if files else None

    def _load(self, namespace: Namespace, file: Path) -> Definition | None:
        """Return the object in a file; the same one while the file is the same. None = it has just been deleted."""
        try:
            stat = file.stat()
            signature = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            known = self._loaded.get(file)
            if known is not None and known[0] == signature:
                return known[1]
            text = file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SqlError(f"the catalog file '{file}' cannot be read: {error.strerror}.") from None
        definition = _parsed(namespace, file, text)
        self._loaded[file] = (signature, definition)
        return definition

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SqlError(f"the catalog directory '{self._root}' cannot {what}: {error.strerror}.") from error


def _parsed(namespace: Namespace, file: Path, text: bytes) -> Definition:
    try:
        definition = definition_of(properties_in(text), name=name_in(file.name))
    except SqlError as error:
        raise _unusable(file, error.message) from None
    if (namespace is Namespace.FUNCTIONS) != isinstance(definition, FunctionDefinition):
        raise _unusable(file, f"a {kind_of(definition).value.lower()} does not belong into '{file.parent.name}'.")
    belongs = file_name(definition.name)
    if belongs != file.name:
        raise _unusable(file, f"it holds '{definition.name}', whose file is '{belongs}': a copy, or renamed by hand.")
    return definition


def _unusable(file: Path, reason: str) -> SqlError:
    return SqlError(f"the catalog file '{file}' cannot be used: {reason} Correct or remove it.")


def _sync_directory(folder: Path) -> None:
    """Bring a renaming or removal to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
