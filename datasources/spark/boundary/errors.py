"""The boundary to Spark's code: errors cross it with their own sentence first, not with a traceback.

Spark formats an exception of a Python worker together with its traceback unless the worker's environment sets
otherwise; the worker ends after an error, so saying so right before we raise affects nothing else.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from datasources.errors import TidemarkError

__all__ = ["spark_entry", "spark_errors"]

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def spark_errors() -> Iterator[None]:
    """Let errors of ours reach the user with our code and sentence in the first line."""
    try:
        yield
    except TidemarkError as error:
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise error.with_traceback(None) from None


def spark_entry(method: Callable[P, T]) -> Callable[P, T]:
    """Decorate a method that Spark calls in a worker process."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with spark_errors():
            return method(*args, **kwargs)

    return call
