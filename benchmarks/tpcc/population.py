"""The first rows of the tables (clause 4.3.3 of the specification), determined by a seed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any, Final

from benchmarks.tpcc.random_values import RandomValues, last_name
from benchmarks.tpcc.schema import Scale

__all__ = ["population"]

Row = tuple[Any, ...]
_LOADED_AT: Final = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - a DATETIME has no zone
_PAID: Final = Decimal("10.00")
"""What each customer has paid; of it are the balances, and the sums of districts and warehouses."""
_NAMES: Final = 1_000


def population(scale: Scale, seed: int) -> Iterator[tuple[str, Iterator[Row]]]:
    """Yield each table's name and its rows, values in the order of its columns."""
    makers = {
        "item": _items,
        "warehouse": _warehouses,
        "stock": _stock,
        "district": _districts,
        "customer": _customers,
        "history": _history,
        "orders": _orders,
        "new_orders": _new_orders,
        "order_line": _order_lines,
    }
    for name, rows in makers.items():
        yield name, rows(scale, seed)


def _values(scale: Scale, seed: int, what: str) -> RandomValues:
    return RandomValues(f"{seed} {what}", scale, is_loading=True)


def _districts_of(scale: Scale) -> Iterator[tuple[int, int]]:
    """Yield all warehouses with all districts."""
    return product(range(1, scale.warehouses + 1), range(1, scale.districts + 1))


def _items(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "item")
    for number in range(1, scale.items + 1):
        name, price = values.text(14, 24), values.decimal(100, 10_000, 2)
        yield number, values.number(1, 10_000), name, price, values.data()


def _warehouses(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "warehouse")
    for number in range(1, scale.warehouses + 1):
        ytd = _PAID * scale.customers * scale.districts
        yield number, values.text(6, 10), *values.address(), values.decimal(0, 2_000, 4), ytd


def _stock(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "stock")
    for warehouse, item in product(range(1, scale.warehouses + 1), range(1, scale.items + 1)):
        districts = (values.text(24) for _ in range(10))
        yield item, warehouse, values.number(10, 100), *districts, 0, 0, 0, values.data()


def _districts(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "district")
    for warehouse, number in _districts_of(scale):
        tax, ytd = values.decimal(0, 2_000, 4), _PAID * scale.customers
        yield number, warehouse, values.text(6, 10), *values.address(), tax, ytd, scale.customers + 1


def _customers(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "customer")
    for (warehouse, district), number in product(_districts_of(scale), range(1, scale.customers + 1)):
        last = last_name(number - 1) if number <= _NAMES else values.name()
        name = (values.text(8, 16), "OE", last)
        credit = "BC" if values.happens(10) else "GC"
        sums = (Decimal(50_000), values.decimal(0, 5_000, 4), -_PAID, _PAID, 1, 0)
        contact = (*values.address(), values.digits(16), _LOADED_AT)
        yield number, district, warehouse, *name, *contact, credit, *sums, values.text(300, 500)


def _history(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "history")
    customers = product(_districts_of(scale), range(1, scale.customers + 1))
    for number, ((warehouse, district), customer) in enumerate(customers, 1):
        where = (customer, district, warehouse, district, warehouse)
        yield number, *where, _LOADED_AT, _PAID, values.text(12, 24)


def _orders(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "orders")
    lines = _line_counts(scale, seed)
    for warehouse, district in _districts_of(scale):
        customers = values.random.sample(range(1, scale.customers + 1), scale.customers)
        for number, customer in enumerate(customers, 1):
            carrier = values.number(1, 10) if number < scale.first_new_order else None
            yield number, district, warehouse, customer, _LOADED_AT, carrier, next(lines), 1


def _new_orders(scale: Scale, _seed: int) -> Iterator[Row]:
    for warehouse, district in _districts_of(scale):
        for number in range(scale.first_new_order, scale.customers + 1):
            yield number, district, warehouse


def _order_lines(scale: Scale, seed: int) -> Iterator[Row]:
    values = _values(scale, seed, "order_line")
    lines = _line_counts(scale, seed)
    for (warehouse, district), order in product(_districts_of(scale), range(1, scale.customers + 1)):
        is_delivered = order < scale.first_new_order
        for line in range(1, next(lines) + 1):
            amount = Decimal(0) if is_delivered else values.decimal(1, 999_999, 2)
            item = (values.number(1, scale.items), warehouse, _LOADED_AT if is_delivered else None, 5, amount)
            yield order, district, warehouse, line, *item, values.text(24)


def _line_counts(scale: Scale, seed: int) -> Iterator[int]:
    """Yield the number of lines of each order."""
    values = _values(scale, seed, "lines")
    while True:
        yield values.number(5, 15)
