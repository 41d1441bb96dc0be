"""The file of a definition: one JSON object of its properties, one per line.

Its name is safe on every file system, and equal for names that differ only in case.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

from datasources.errors import SqlError

SUFFIX: Final = ".json"
_LONGEST: Final = 180
_KEPT: Final = 120
_HASH_DIGITS: Final = 32


def text_of(properties: Mapping[str, str]) -> str:
    """Return the text of a file."""
    return json.dumps(properties, indent=2, ensure_ascii=False) + "\n"


def properties_in(text: bytes) -> dict[str, str]:
    """Return the properties in a file.

    Raises:
        SqlError: it is not what `text_of` writes; the message does not name the file.
    """
    try:
        found = json.loads(text.decode("utf-8"), object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        raise SqlError(
            f"it is cut short or was damaged: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except UnicodeDecodeError as error:
        raise SqlError(f"it is no UTF-8 text: byte {error.start + 1} is damaged.") from None
    except RecursionError:
        raise SqlError("it is nested deeply; it has to be one JSON object of texts.") from None
    if not isinstance(found, dict):
        raise SqlError("it is no JSON object of texts.")
    for key, value in found.items():
        if not isinstance(value, str):
            raise SqlError(f"property '{key}' is no text: put its value between double quotes.")
    return found


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise SqlError(f"property '{double}' is there twice.")
    return found


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
