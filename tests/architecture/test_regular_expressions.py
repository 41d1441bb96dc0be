"""A regular expression over record or server data takes time in proportion to the text, whatever the text is."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

import datasources
import watermark
from datasources.expressions.compiler.patterns import from_like
from tests.support.backtracking import ambiguous_loops, representatives

PACKAGES: Final = ("formats", "expressions", "kafka", "mysql", "source", "observe")
"""What reads records and servers' answers; statements and settings are the user's own."""
CANNOT_FAIL: Final = {
    ("datasources.mysql.preflight.tables", "_CASCADE"): "the server wrote the statement: what begins like a key is one",
    ("datasources.mysql.preflight.privileges", "_COLUMN_LIST"): "what has no end ends with the text",
    ("datasources.mysql.types.declarations", "_MEMBER"): "a second quote always ends it",
    ("datasources.observe.server", "_TOKEN"): "one character behind the sign of equality is enough",
}
LONG: Final = 1_000_000
DEADLINE_S: Final = 300


def modules() -> Iterator[str]:
    for package in (datasources, watermark):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            is_read = package is watermark or found.name.split(".")[1] in PACKAGES
            if is_read and not found.name.endswith("__main__"):
                yield found.name


def patterns_in(value: object) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(list(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from patterns_in(item)


def all_patterns() -> Iterator[tuple[str, str, re.Pattern[str] | re.Pattern[bytes], bool]]:
    """Yield module, name and pattern, and whether it may match in the middle of a text."""
    for name in modules():
        module = importlib.import_module(name)
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for variable, value in vars(module).items():
            is_searched = re.search(rf"\b{variable}\b(\[\w+\])?\.(search|sub|subn|split|findall|finditer)\b", source)
            for pattern in patterns_in(value):
                yield name, variable, pattern, is_searched is not None


@pytest.mark.parametrize(
    ("pattern", "is_searched", "is_ambiguous"),
    [
        (r"\d+\.?\d*", False, True),
        (r"\d+(?:\.\d*)?", False, False),
        (r"(a+)+b", False, True),
        (r"(a|ab|b)*c", False, True),
        (r"(.+)\.(\d+)", False, False),
        (r"\s*a\s*", False, False),
        (r"\s+at ", True, True),
        (r"\s+at ", False, False),
        (r"a*b*", False, False),
        (r"a*[ab]*", False, True),
        (r"(?i)a*A*", False, True),
        (r"[ab]*c?a*", False, True),
    ],
)
def test_the_check_knows_which_patterns_are_ambiguous(pattern, is_searched, is_ambiguous):
    assert ambiguous_loops(re.compile(pattern), is_searched=is_searched) is is_ambiguous


def test_no_pattern_reads_a_text_in_two_ways():
    found = [
        (module, name, pattern.pattern)
        for module, name, pattern, is_searched in all_patterns()
        if (module, name) not in CANNOT_FAIL and ambiguous_loops(pattern, is_searched=is_searched)
    ]
    assert found == []


def test_no_excuse_is_given_in_vain():
    needed = {
        (module, name)
        for module, name, pattern, is_searched in all_patterns()
        if ambiguous_loops(pattern, is_searched=is_searched)
    }
    assert needed == set(CANNOT_FAIL)


def run_all() -> int:
    """Match every pattern against long texts of what it distinguishes; return how many there were."""
    count = 0
    for module, name, pattern, _ in all_patterns():
        if (module, name) in CANNOT_FAIL:
            continue
        signs = representatives(pattern)[:8]
        for part in (*signs, *(a + b for a, b in pairwise(signs))):
            text = part * (LONG // len(part)) + "\x01"
            given = text.encode("utf-8", "surrogatepass") if isinstance(pattern.pattern, bytes) else text
            pattern.fullmatch(given)  # type: ignore[arg-type] - bytes for bytes
            count += 1
    return count


def test_every_pattern_on_a_million_characters():
    code = "from tests.architecture.test_regular_expressions import run_all; print(run_all())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    assert int(done.stdout) > 100


def test_like_on_a_million_characters():
    text = "abc" * (LONG // 3)
    code = f"import re; print(re.search({from_like('%a%b%c%a_%d%')!r}, 'abc' * {len(text) // 3}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    assert done.stdout == "None\n"
