"""Lists of names in options: ``id, `order time` `` and ``ingested FROM timestamp, part FROM partition``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from datasources.arrow_types import Path
from datasources.errors import OptionError

_PATH = re.compile(r"(?P<word>`(?:[^`]|``)*`|[^.`]+)")
_WORD = re.compile(r"\s*(?P<word>(?:`(?:[^`]|``)*`|[^\s,`]+)+|,)")


def parse_paths(text: str, *, option: str) -> tuple[Path, ...]:
    """Return the columns of a comma-separated list, or the fields inside of them: ``id, bid.price, `order time```.

    Raises:
        OptionError: a name is missing, or a column or field is repeated, whatever the case; `option` is named.
    """
    entries = _entries(text, option)
    paths = []
    for words in entries:
        names = [found["word"] for found in _PATH.finditer(words[0])]
        if len(words) != 1 or not names or ".".join(names) != words[0]:
            way_out = "write names with commas between them, unusual ones in backticks; a dot leads into a STRUCT"
            raise _malformed(option, " ".join(words), way_out)
        paths.append(tuple(map(_plain, names)))
    _require_distinct(paths, option)
    return tuple(paths)


def parse_metadata(text: str, *, option: str) -> dict[str, str]:
    """Return name -> key of a list of `name [FROM key]`; without FROM the key is the name.

    Raises:
        OptionError: an entry has another form, or a name is repeated; `option` is named.
    """
    entries = _entries(text, option)
    for words in entries:
        if len(words) != 1 and not (len(words) == _NAME_FROM_KEY and words[1].upper() == "FROM"):
            raise _malformed(option, " ".join(words), "write 'name', or 'name FROM key'")
    names = tuple(_plain(words[0]) for words in entries)
    _require_distinct([(name,) for name in names], option)
    return {name: _plain(words[-1]) for name, words in zip(names, entries, strict=True)}


_NAME_FROM_KEY = 3


def _entries(text: str, option: str) -> list[list[str]]:
    """Cut the text at its commas and each part into words. A blank text has no entry."""
    if not text.strip():
        return []
    entries: list[list[str]] = [[]]
    position = 0
    end = len(text.rstrip())
    while position < end:
        found = _WORD.match(text, position)
        if found is None:
            raise _malformed(option, text[position:].strip(), "close the backtick")
        position = found.end()
        if found["word"] == ",":
            entries.append([])
        else:
            entries[-1].append(found["word"])
    if not all(entries):
        raise _malformed(option, text.strip(), "leave out the comma that has no name beside it")
    return entries


def _plain(word: str) -> str:
    return word[1:-1].replace("``", "`") if word.startswith("`") else word


def _require_distinct(paths: Sequence[Path], option: str) -> None:
    seen: set[Path] = set()
    for path in paths:
        folded = tuple(name.lower() for name in path)
        if folded in seen:
            raise OptionError(f"option '{option}' names '{'.'.join(path)}' twice: name each column once.")
        seen.add(folded)


def _malformed(option: str, found: str, way_out: str) -> OptionError:
    return OptionError(f"option '{option}': '{found}' is not a column: {way_out}.")
