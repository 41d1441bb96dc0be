"""Python functions over Arrow arrays that SQL can call, and readers run: `@arrow_function("TIMESTAMP")`.

    @arrow_function("BIGINT")
    def watermark_on_flag(log_ts: pa.Array, flag: pa.Array) -> pa.Array:
        return pc.if_else(flag, pc.cast(log_ts, pa.int64()), None)

A reader imports this module and no SQL parser. A function is called with whole columns, never with one row; it must be
deterministic unless it is declared otherwise.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from datasources.arrow_types import COLUMN_TYPES, SPELLINGS, decimal_of
from datasources.errors import ExpressionError, OptionError

_OTHER_NAMES: Final = {
    **SPELLINGS,
    "BOOL": "BOOLEAN",
    "BYTES": "BINARY",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "VARCHAR": "STRING",
}
_DECIMAL: Final = re.compile(r"(?:DECIMAL|DEC|NUMERIC)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)")


class ArrowFunction:
    """A function of Arrow arrays with a result type.

    Calling it calls the wrapped function. It is pickled by name if a worker can import it, and with its
    code otherwise (by cloudpickle, as Spark does).

    Args:
        function: takes one `pyarrow.Array` per SQL argument, of equal length, and returns one of that length.
        result_type: Spark's name of the result's type: TIMESTAMP is a moment, TIMESTAMP_NTZ a wall clock.
        deterministic: whether equal arguments give equal results. Only then it may be used in a watermark.

    Raises:
        OptionError: there is no such type, or no function.
    """

    def __init__(self, function: Callable[..., Any], result_type: str, *, deterministic: bool = True) -> None:
        if not callable(function):
            raise OptionError(f"@arrow_function stands before a function, not before {function!r}.")
        self._function = function
        self._result_type, self._arrow_type = _type_of(result_type)
        self._is_deterministic = deterministic
        self.__module__ = str(getattr(function, "__module__", ""))
        self.__qualname__ = str(getattr(function, "__qualname__", type(function).__qualname__))
        self.__name__ = self.__qualname__.rsplit(".", 1)[-1]
        self.__doc__ = function.__doc__

    @property
    def name(self) -> str:
        """The qualified name for messages: `package.module.name`."""
        return f"{self.__module__}.{self.__qualname__}"

    @property
    def result_type(self) -> str:
        """The result's type as Spark DDL: `TIMESTAMP`, `DECIMAL(10, 2)`."""
        return self._result_type

    @property
    def arrow_type(self) -> pa.DataType:
        """The result's type as Arrow has it; times count microseconds."""
        return self._arrow_type

    @property
    def is_deterministic(self) -> bool:
        """Whether equal arguments give equal results."""
        return self._is_deterministic

    def __call__(self, *arguments: Any) -> Any:
        """Call the wrapped function."""
        return self._function(*arguments)

    def __repr__(self) -> str:
        return f"ArrowFunction({self.name}, {self._result_type!r})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._is_importable():
            return self.__qualname__
        return _rebuilt, (self._function, self._result_type, self._is_deterministic)

    def evaluate(self, arguments: Sequence[pa.Array], rows: int) -> pa.Array:
        """Return the function's result, of the declared type.

        Args:
            arguments: arrays of `rows` values each.
            rows: how many values there are; a function without arguments is given none and cannot know it, so its
                result may have one value, which then stands for all.

        Raises:
            ExpressionError: the function failed, or returned something else than an array of that type and length.
        """
        try:
            result = self._function(*arguments)
        except Exception as error:
            raise ExpressionError(
                f"the function {self.name} failed: {type(error).__name__}: {error}. It is called with whole columns "
                f"({', '.join(str(each.type) for each in arguments) or 'no arguments'})."
            ) from error
        array = _as_array(result)
        if array is None:
            raise ExpressionError(
                f"the function {self.name} returned a {type(result).__name__}; it must return a pyarrow.Array."
            )
        if not arguments and len(array) == 1:
            array = pa.concat_arrays([array] * rows) if rows else array.slice(0, 0)
        if len(array) != rows:
            raise ExpressionError(
                f"the function {self.name} returned {len(array)} values for {rows} rows; it must return one for each."
            )
        return self._cast(array)

    def _cast(self, array: pa.Array) -> pa.Array:
        if array.type == self._arrow_type:
            return array
        if not _is_alike(array.type, self._arrow_type):
            raise self._wrong_type(array.type, "")
        try:
            return array.cast(self._arrow_type)
        except pa.ArrowInvalid as error:
            raise self._wrong_type(array.type, f" ({error})") from None

    def _wrong_type(self, found: pa.DataType, why: str) -> ExpressionError:
        return ExpressionError(
            f"the function {self.name} returned values of type {found}; it is declared to return {self._result_type}, "
            f"{self._arrow_type} in Arrow{why}."
        )

    def _is_importable(self) -> bool:
        if self.__module__ == "__main__":
            return False
        found: Any = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        return found is self


def arrow_function(result_type: str, *, deterministic: bool = True) -> Callable[[Callable[..., Any]], ArrowFunction]:
    """Make the function below it one that SQL can call.

    See `ArrowFunction` for the arguments.

    Raises:
        OptionError: there is no such type.
    """
    if not isinstance(result_type, str):
        raise OptionError('@arrow_function needs the type of the result: @arrow_function("TIMESTAMP").')
    return lambda function: ArrowFunction(function, result_type, deterministic=deterministic)


def _rebuilt(function: Callable[..., Any], result_type: str, deterministic: bool) -> ArrowFunction:  # noqa: FBT001
    return ArrowFunction(function, result_type, deterministic=deterministic)


def _type_of(text: str) -> tuple[str, pa.DataType]:
    """Return the canonical name of a type and the Arrow type."""
    name = " ".join(text.upper().split())
    name = _OTHER_NAMES.get(name, name)
    if name in COLUMN_TYPES:
        return name, COLUMN_TYPES[name]
    decimal = _DECIMAL.fullmatch(name)
    if decimal is not None:
        precision, scale = int(decimal[1]), int(decimal[2] or 0)
        arrow = decimal_of(precision, scale)
        if arrow is not None:
            return f"DECIMAL({precision}, {scale})", arrow
    hint = ""
    if name.startswith("TIMESTAMP"):
        hint = " A time has no precision here: TIMESTAMP is a moment, TIMESTAMP_NTZ a wall clock without a zone."
    raise OptionError(
        f"a function cannot return '{text}'.{hint} Types: {', '.join(COLUMN_TYPES)}, DECIMAL(precision, scale)."
    )


def _as_array(result: object) -> pa.Array | None:
    if isinstance(result, pa.ChunkedArray):
        return result.combine_chunks() if result.num_chunks != 1 else result.chunk(0)
    if isinstance(result, pa.Scalar):
        return pa.array([result.as_py()], type=result.type)
    return result if isinstance(result, pa.Array) else None


def _is_alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a value of one type is a value of the other, if it fits: never text for a number, or a zone made up."""
    if pa.types.is_null(found):
        return True
    if pa.types.is_timestamp(wanted):
        return pa.types.is_timestamp(found) and (found.tz is None) == (wanted.tz is None)
    return any(is_kind(found) and is_kind(wanted) for is_kind in _KINDS)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


_KINDS: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_date, _is_text, _is_bytes)
