"""One vocabulary: identifiers use the field's terms, not the words that this project once had for its own ideas.

Compared are the words of every name in the packages below: snake_case words and CamelCase humps. Strings are not
compared: keys on the wire and on disk keep their names.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.project import ROOT

PACKAGES = ("watermark", "datasources", "tests")

OLD_TERMS = {
    "stamp stamps stamped stamping": "row watermark",
    "settle settles settled settling settlement": "reconcile",
    "say says said": "status, message, report",
    "tell tells told telling": "report, emit, notify",
    "publication publications": "source status",
    "mailbox presence": "report store, lease",
    "foresight": "candidate cache",
    "sweep sweeps sweeping lane lanes": "snapshot scan, snapshot reader",
    "quiet quietly": "irrelevant range",
    "judge judges judged judging verdict verdicts": "classifier, effect, accuracy",
    "patience patient": "deadline",
    "quick quickly duck unlearnable": "fast path, DuckDB, unsupported template",
    "stranger strangers misfit misfits hopeless": "unregistered, incompatible, unreachable",
    "odd": "unusual",
    "fact facts": "info, metadata",
    "fewest": "min",
}
"""Words that no name has, and the terms in their place."""

OLD_NOUNS = {
    "hold holds held": "load gate, open, closed",
    "cap caps": "limit",
    "turn turns": "batch step, processing-time start, round-robin index",
    "promise promises promised": "guaranteed minimum",
    "brief briefs": "state header",
    "place places": "position, span, path",
    "most least": "max, min",
    "further": "additional",
    "meets met": "matched, reached",
}
"""Words that had a meaning of the project's own and are plain English in a sentence, such as a test's name."""

OLD_CLASSES = {
    "rest": "idle-poll skip",
    "instant": "planning clock",
    "kept": "pool",
    "launch": "startup resolver",
    "mark": "snapshot position",
    "asking": "lazy client",
}
"""Words that no class is named after."""

EXCEPTIONS = {
    "AT_LEAST_ONCE": "a guarantee of Flink's",
    "DuckDBError": "a product's name",
    "HOLD": "a value of the option watermark.all-idle",
    "at_least": "an adverb",
    "field_presence": "tests: a feature of Protobuf's editions",
    "has_presence": "a property of Google's descriptors",
    "hold": "tests: the JSON key of a table's load gate as a keyword argument",
    "holds_back": "the standard verb for a watermark",
    "_in_place": "an adverb",
    "_rounded_to_odd": "a rounding mode",
    "least": "a function of Spark's",
    "odd_double": "a rounding mode",
    "scan__hold__name": "an option's key as a keyword argument",
    "scan__hold__until": "an option's key as a keyword argument",
    "tell": "a method of Python's files",
}

_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_NAME_FIELDS = ("id", "attr", "arg", "name", "asname")
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@cache
def names_in(path: Path) -> list[tuple[int, str]]:
    """Return line and name of every identifier; of an imported module its last part."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = ((getattr(node, "lineno", 0), getattr(node, field, None)) for node in nodes for field in _NAME_FIELDS)
    return [(line, name.rpartition(".")[2]) for line, name in found if isinstance(name, str)]


def standard_terms(name: str) -> str | None:
    """Return the terms to use instead of a name's old word; None if it has none."""
    words = {hump.lower() for hump in _HUMP.findall(name)}
    old = dict(OLD_TERMS)
    if not name.startswith("test_"):
        old |= OLD_NOUNS
    if re.match("_*[A-Z]", name) and not name.isupper():
        old |= OLD_CLASSES
    return next((terms for known, terms in old.items() if words & set(known.split())), None)


@pytest.mark.parametrize("name", ["row_stamp", "HeldQuery", "_MOST_ROWS", "test_a_report_says_where", "Rest"])
def test_an_old_word_is_found_in_any_case(name):
    assert standard_terms(name)


@pytest.mark.parametrize("name", ["test_the_laws_hold", "timestamp", "almost", "rest"])
def test_plain_words_and_parts_of_words_are_no_old_words(name):
    assert standard_terms(name) is None


@pytest.mark.parametrize("package", PACKAGES)
def test_identifiers_use_the_standard_terms(package):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}: use {terms}"
        for path in FILES
        if path.is_relative_to(ROOT / package)
        for line, name in names_in(path)
        if name not in EXCEPTIONS and (terms := standard_terms(name)) is not None
    ]
    assert found == []


def test_every_exception_is_used():
    used = {name for path in FILES for _, name in names_in(path)}
    assert sorted(EXCEPTIONS.keys() - used) == []
