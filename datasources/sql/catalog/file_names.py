"""The file name of an object: safe on every file system, equal for names that differ only in case."""

from __future__ import annotations

import hashlib
from typing import Final
from urllib.parse import quote, unquote

__all__ = ["SUFFIX", "file_name", "name_in"]

SUFFIX: Final = ".json"
_LONGEST: Final = 180
_KEPT: Final = 120
_HASH_DIGITS: Final = 32


def file_name(name: str) -> str:
    """Return the file's name: letters, digits, `_` and `-`; other characters as %XX; a long name ends in a hash."""
    folded = name.lower()
    # quote() leaves '.' and '~' alone: a name must not look like a directory, a hidden file or a hash.
    stem = quote(folded, safe="", errors="surrogatepass").replace(".", "%2E").replace("~", "%7E")
    if len(stem) > _LONGEST:
        digest = hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
        stem = f"{stem[:_KEPT]}~{digest}"
    return stem + SUFFIX


def name_in(file: str) -> str:
    """Return the object name of a file name, lower case; of a long one only its beginning and hash."""
    return unquote(file.removesuffix(SUFFIX), errors="replace").lower()
