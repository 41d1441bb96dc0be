"""The page of Flink's functions: ``python -m tests.support.flink.functions_page > docs/flink-functions.md``.

A test asserts that the page is what this module writes.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from datasources.sql.flink.functions.aggregates import AGGREGATES
from datasources.sql.flink.functions.function_table import FUNCTIONS, NOT_THERE
from tests.support.flink.answers import aggregate_answers, scalar_answers
from tests.support.flink.compared import compared_areas, recorded
from tests.support.flink.corpus.areas import AGGREGATES as AREA_OF_AGGREGATES

_CALL: Final = re.compile(r"\b([A-Z][A-Z0-9_]*)\s*\(")
_HEAD: Final = """# Functions of Flink SQL

<!-- Made by `python -m tests.support.flink.functions_page > docs/flink-functions.md`. Change the tables, not this file. -->

What `SET 'table.sql-dialect' = 'flink'` has ([the dialect](sql.md#sparks-expressions-or-flinks)). Each function is compared with a real Flink 2.2.1:
its answers to {answers:,} expressions over ten rows of unusual values (`tests/golden/flink`) are what
`tests/integration/sql/flink/test_flink_answers.py` expects. {equal:,} are equal, type and value of each row; {refused:,} are refused here, and
{differs:,} differ ([which](../tests/golden/flink/not_equal.json)).

The number beside a function is that of Flink's answers to calls of it that are equal here, of all that Flink gave. Calls within them that are
refused or differ say why in the list above. Types are compared without NOT NULL, which no type has here.

Most differences are these:

* `temporal`: years below 1 and above 9999, times of TIMESTAMP_LTZ from before zones had standard time, times before 1970 with a fraction of a second,
  and texts that are no times, where Flink gives a number for want of NULL, or counts the 30th of February as the 1st of March.
* `casts`: texts that Flink's DECIMAL takes for numbers (`4a` is 4 there, a blank 0); days that their month lacks.
* `arithmetic`: the last digit of EXP and POWER, the sign of a zero, the smallest BIGINT divided by -1, which fails here.
* `aggregates`, `collections`: NaN, which equals itself and is the largest number here; 0.0 and -0.0, which are one value here. Flink's MAX with NaN
  depends on the order of the rows. A map without a key NULL, and with each key once.
* `strings`: characters beyond the basic plane, which are two characters for Flink.
"""
_COMPARED: Final = """
## Areas

| area | equal | refused here | different |
|---|---|---|---|
{rows}
"""


def render_page() -> str:
    """Return the whole page as Markdown."""
    areas = {area: _counted(area) for area in compared_areas()}
    total = Counter[str]()
    for each in areas.values():
        total += each
    rows = "\n".join(f"| {area} | {n['equal']} | {n['refused']} | {n['differs']} |" for area, n in areas.items())
    head = _HEAD.format(answers=total.total(), equal=total["equal"], refused=total["refused"], differs=total["differs"])
    parts = [head + _COMPARED.format(rows=rows)]
    parts.append("## Functions\n\n| function | equal answers | in Spark's dialect |\n|---|---|---|")
    parts[-1] += "".join(f"\n| `{f.name}` | {_share(f.name)} | {f.differs} |" for f in _sorted(FUNCTIONS.values()))
    parts.append(
        "## Aggregates and window functions\n\n| function | equal answers | in Spark's dialect |\n|---|---|---|"
    )
    parts[-1] += "".join(f"\n| `{f.name}` | {_share(f.name)} | {f.differs} |" for f in _sorted(AGGREGATES.values()))
    parts.append("## Not there\n\n| function | in its place |\n|---|---|")
    parts[-1] += "".join(f"\n| `{f.name}` | {f.hint} |" for f in _sorted(NOT_THERE.values()))
    return "\n".join(parts) + "\n"


def called_functions() -> set[str]:
    """Return the names of all functions that Flink answered calls of."""
    return {name for _, names in _answered() for name in names}


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.write(render_page())


def _sorted(found: Iterable[object]) -> list[object]:
    return sorted(found, key=lambda each: str(each.name))  # type: ignore[attr-defined]


def _counted(area: str) -> Counter[str]:
    known = recorded(area)
    found = Counter(text.partition(":")[0] for text in known.values())
    found["equal"] = len(_expressions(area)) - found.total()
    return found


def _expressions(area: str) -> tuple[str, ...]:
    if area == AREA_OF_AGGREGATES:
        return tuple(each.call for each in aggregate_answers() if each.refused is None)
    return tuple(each.expression for each in scalar_answers(area) if each.refused is None)


@cache
def _answered() -> tuple[tuple[bool, frozenset[str]], ...]:
    """Whether each answer is equal here, and the functions that its expression calls."""
    return tuple(_of_areas())


def _of_areas() -> Iterator[tuple[bool, frozenset[str]]]:
    for area in compared_areas():
        known = recorded(area)
        for expression in _expressions(area):
            yield expression not in known, frozenset(_CALL.findall(expression))


def _share(name: str) -> str:
    found = [is_equal for is_equal, names in _answered() if name in names]
    return f"{sum(found)} of {len(found)}" if found else "not compared yet"


if __name__ == "__main__":
    main()
