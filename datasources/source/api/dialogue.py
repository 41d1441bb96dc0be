"""Pure computations that need answers which only I/O can give.

Such a computation is a generator: it yields questions, frozen values, is sent the answers, and returns its result. It
knows neither who answers nor how, so a test answers from a table, and the planner from the connector and the
coordinator. Source: psycopg's generators, h11: the rules of a protocol without its I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")

Dialogue: TypeAlias = Generator[Any, Any, _T]
"""A computation that yields questions and returns a `T`."""


def answered(dialogue: Dialogue[_T], answer: Callable[[Any], Any]) -> _T:
    """Run a computation to its end; `answer` is called with each of its questions."""
    try:
        question = next(dialogue)
        while True:
            question = dialogue.send(answer(question))
    except StopIteration as done:
        result: _T = done.value
        return result
