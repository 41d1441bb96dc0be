"""Values of Flink's rows, which Py4J gives as Python's or as Java objects, as values of JSON without loss.

Whole numbers are numbers, floating ones the text of Python's repr (a FLOAT that of the shortest decimal number that
stands for it, as numpy.float32 reads it), decimals plain text, bytes hexadecimal text, times ISO text with all digits
that they have, instants in UTC, intervals their number of months or milliseconds. Arrays are lists, maps and multisets
lists of pairs in a fixed order, rows objects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from py4j.java_collections import JavaArray, JavaMap
from py4j.java_gateway import JavaObject


def plain(value: Any) -> Any:
    """Return a value of a row as one that JSON has.

    Raises:
        TypeError: No form is known for objects of its class.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    return _collection(value)


def _collection(value: Any) -> Any:
    if isinstance(value, JavaArray):
        return [plain(item) for item in value]
    if isinstance(value, JavaMap):
        # looked up by key, those of TINYINT are not found: Py4J sends an Integer
        pairs = [[plain(entry.getKey()), plain(entry.getValue())] for entry in value.entrySet()]
        return sorted(pairs, key=lambda pair: json.dumps(pair, ensure_ascii=False))
    if isinstance(value, JavaObject):
        return _object(value)
    raise TypeError(f"No form of {type(value).__name__} is known.")


def _object(value: JavaObject) -> Any:
    name = str(value.getClass().getName())
    for known, convert in _CONVERSIONS.items():
        if name.endswith(known):
            return convert(value)
    raise TypeError(f"No form of {name} is known.")


def _row(row: JavaObject) -> Any:
    names = row.getFieldNames(True)
    fields = [plain(row.getField(position)) for position in range(row.getArity())]
    return fields if names is None else dict(zip(map(str, names), fields, strict=True))


def _time(value: JavaObject) -> str:
    """All digits of a time; Java leaves out seconds of zero and writes fractions in groups of three."""
    day, separator, clock = str(value.toString()).rpartition("T")
    utc = "Z" if clock.endswith("Z") else ""
    seconds, _, fraction = clock.removesuffix("Z").partition(".")
    seconds = seconds if seconds.count(":") > 1 else f"{seconds}:00"
    digits = fraction.rstrip("0")
    return f"{day}{separator}{seconds}{'.' if digits else ''}{digits}{utc}"


def _variant(value: JavaObject) -> dict[str, str]:
    return {"variant": str(value.toJson())}


_CONVERSIONS: Final[Mapping[str, Callable[[JavaObject], Any]]] = {
    "types.Row": _row,
    "time.LocalDate": lambda value: str(value.toString()),
    "time.LocalTime": _time,
    "time.LocalDateTime": _time,
    "time.Instant": _time,
    "time.Period": lambda value: int(value.toTotalMonths()),
    "time.Duration": lambda value: int(value.toMillis()),
    "variant.BinaryVariant": _variant,
}
"""By the end of a class's name."""
