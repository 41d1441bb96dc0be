"""Functions of time on the closed list: epoch numbers, truncation, clock fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from datasources import arrow_types as types
from datasources.arrow_types import is_integral, is_time
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.evaluation.nodes import Apply, Node

__all__ = ["TIME_FUNCTIONS"]

Binder = Callable[[Scope, exp.Expr, list[exp.Expr]], Node]

_MINUTE_US: Final = 60_000_000
_HOUR_US: Final = 3_600_000_000
_ALIASES: Final = {
    "YYYY": "YEAR",
    "YY": "YEAR",
    "MM": "MONTH",
    "MON": "MONTH",
    "DD": "DAY",
}
_ZONE_FREE: Final = ("MICROSECOND", "MILLISECOND", "SECOND")
_LOCAL: Final = ("MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_CAST_NTZ: Final = "Use a TIMESTAMP column; Spark would read TIMESTAMP_NTZ in the session time zone here."


def _instant(scope: Scope, tree: exp.Expr, what: str) -> Node:
    node = scope.node(tree)
    if node.type != types.TIMESTAMP:
        raise scope.wrong_type(tree, what, node.type, _CAST_NTZ)
    return node


def _from_epoch(name: str, factor: int) -> Binder:
    def bind(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        node = scope.node(arguments[0])
        if not is_integral(node.type):
            raise scope.wrong_type(arguments[0], name, node.type, "CAST it to BIGINT.")
        return Apply(kernel="scale_up", arguments=(node,), type=types.TIMESTAMP, params=(factor, False))

    return bind


def _to_epoch(name: str, divisor: int) -> Binder:
    def bind(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        node = _instant(scope, arguments[0], name)
        return Apply(kernel="scale_down", arguments=(node,), type=types.BIGINT, params=(divisor,))

    return bind


def _date_trunc(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    written = scope.constant_text(arguments[0], "the unit of date_trunc")
    unit = _ALIASES.get(written.upper(), written.upper())
    node = _instant(scope, arguments[1], "date_trunc")
    if unit not in (*_ZONE_FREE, *_LOCAL):
        units = ", ".join((*_ZONE_FREE, *_LOCAL))
        raise scope.refusal(arguments[0], f"date_trunc has no unit {written!r}", f"The units are {units}.")
    offset_us = 0 if unit in _ZONE_FREE else scope.require_offset_us(tree, f"date_trunc to {unit}")
    return Apply(kernel="truncate", arguments=(node,), type=types.TIMESTAMP, params=(unit, offset_us))


def _clock_field(name: str, unit_us: int, modulus: int) -> Binder:
    def bind(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        node = scope.node(arguments[0])
        if not is_time(node.type):
            raise scope.wrong_type(arguments[0], name, node.type)
        offset_us = 0 if node.type == types.NTZ else scope.require_offset_us(tree, name)
        return Apply(kernel="field", arguments=(node,), type=types.INT, params=(unit_us, modulus, offset_us))

    return bind


TIME_FUNCTIONS: Final[dict[str, tuple[int, int, Binder]]] = {
    "timestamp_seconds": (1, 1, _from_epoch("timestamp_seconds", 1_000_000)),
    "timestamp_millis": (1, 1, _from_epoch("timestamp_millis", 1_000)),
    "timestamp_micros": (1, 1, _from_epoch("timestamp_micros", 1)),
    "unix_seconds": (1, 1, _to_epoch("unix_seconds", 1_000_000)),
    "unix_millis": (1, 1, _to_epoch("unix_millis", 1_000)),
    "unix_micros": (1, 1, _to_epoch("unix_micros", 1)),
    "date_trunc": (2, 2, _date_trunc),
    "hour": (1, 1, _clock_field("hour", _HOUR_US, 24)),
    "minute": (1, 1, _clock_field("minute", _MINUTE_US, 60)),
    "second": (1, 1, _clock_field("second", 1_000_000, 60)),
}
