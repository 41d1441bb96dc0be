"""Python functions in SQL: found by the path in CREATE FUNCTION, or registered in the session by name.

A function takes Arrow arrays and declares the type of its result (`arrow_function`). Spark calls it in queries;
watermark expressions and computed columns that use it are evaluated in the reader, by the same code.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.functions import arrow_udf

from datasources.errors import SqlError
from datasources.expressions.arrow_function import ArrowFunction, arrow_function
from datasources.near_matches import near_matches
from datasources.sql.statements.catalog_objects import FunctionDefinition

__all__ = ["IN_PROCESS", "ArrowFunction", "SessionFunctions", "arrow_function", "for_spark", "load_function"]

IN_PROCESS: Final = "<this process>"
"""The path of a function that was given as an object: it cannot be found by another process."""

_PATH: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


def load_function(path: str) -> ArrowFunction:
    """Return the function at `package.module.attribute`; the attribute may be inside a class.

    Raises:
        SqlError: there is no such module or attribute, the module cannot be imported, or it is no arrow function.
    """
    if not _PATH.fullmatch(path):
        raise SqlError(f"'{path}' is no path to a Python function; write it as 'package.module.function'.")
    parts = path.split(".")
    module, names = _module(path, parts)
    found: Any = module
    for index, name in enumerate(names):
        if not hasattr(found, name):
            owner = ".".join(parts[: len(parts) - len(names) + index])
            near = near_matches(name, _public_names(found))
            raise SqlError(f"function '{path}': '{owner}' has no '{name}'.{near}")
        found = getattr(found, name)
    if not isinstance(found, ArrowFunction):
        raise SqlError(
            f"function '{path}' is {_described(found)}. Put @arrow_function(\"TIMESTAMP\"), with the type of its "
            "result, before it; it takes pyarrow Arrays and returns one of equal length."
        )
    return found


class SessionFunctions:
    """The functions of a session, loaded once; those that were given as objects live here only."""

    def __init__(self) -> None:
        self._given: dict[str, ArrowFunction] = {}
        self._loaded: dict[str, ArrowFunction] = {}

    def add(self, name: str, function: Callable[..., Any], result_type: str | None = None) -> FunctionDefinition:
        """Keep a function under a name and return its definition, which is temporary.

        Args:
            name: in SQL, whatever its case.
            function: an `ArrowFunction`, or with `result_type` a function of Arrow arrays.
            result_type: as in `arrow_function`; only for a function that is no `ArrowFunction` yet.

        Raises:
            SqlError: its result's type is not known, or is given twice.
            OptionError: there is no such type.
        """
        if isinstance(function, ArrowFunction):
            if result_type is not None:
                raise SqlError(f"function '{name}' returns {function.result_type} already; leave the type out.")
            self._given[name.lower()] = function
        elif result_type is None:
            raise SqlError(
                f"function '{name}': declare its result's type, as in create_function('{name}', f, \"TIMESTAMP\"), or "
                'put @arrow_function("TIMESTAMP") before it.'
            )
        else:
            self._given[name.lower()] = ArrowFunction(function, result_type)
        return FunctionDefinition(name=name, path=IN_PROCESS, is_temporary=True)

    def remove(self, name: str) -> None:
        """Forget a function that was given as an object; an unknown one is no error."""
        self._given.pop(name.lower(), None)

    def get(self, definition: FunctionDefinition) -> ArrowFunction:
        """Return the function of a definition.

        Raises:
            SqlError: it cannot be loaded; see `load_function`.
        """
        if definition.path == IN_PROCESS:
            return self._given[definition.name.lower()]
        if definition.path not in self._loaded:
            self._loaded[definition.path] = load_function(definition.path)
        return self._loaded[definition.path]


def for_spark(function: ArrowFunction) -> Any:
    """Return the function as Spark calls it in queries: with type hints, which declare that arrays go in and out."""

    def call(*arrays: pa.Array) -> pa.Array:
        return function.evaluate(arrays, len(arrays[0]))

    call.__annotations__ = {"arrays": pa.Array, "return": pa.Array}
    udf = arrow_udf(call, returnType=function.result_type)
    return udf if function.is_deterministic else udf.asNondeterministic()


def _module(path: str, parts: list[str]) -> tuple[Any, list[str]]:
    """Return the longest importable beginning of a path, and the names that follow it."""
    for length in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:length])
        try:
            return importlib.import_module(name), parts[length:]
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if name != missing and not name.startswith(f"{missing}."):
                raise _import_failed(path, name, error) from error
        except Exception as error:
            raise _import_failed(path, name, error) from error
    raise SqlError(
        f"function '{path}': there is no module '{parts[0]}'. It has to be importable by the driver: install it, or "
        "add its directory to PYTHONPATH."
    )


def _public_names(owner: Any) -> list[str]:
    """Return the attributes of a module or class, with modules of a package that were not imported yet."""
    modules = [each.name for each in pkgutil.iter_modules(getattr(owner, "__path__", []))]
    return [name for name in (*dir(owner), *modules) if not name.startswith("_")]


def _import_failed(path: str, name: str, error: Exception) -> SqlError:
    return SqlError(f"function '{path}': importing '{name}' failed: {type(error).__name__}: {error}")


def _described(found: object) -> str:
    if callable(found):
        return "a plain Python function" if hasattr(found, "__code__") else f"of type {type(found).__name__}"
    return f"of type {type(found).__name__}, no function"
