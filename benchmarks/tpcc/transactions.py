"""The five transactions (clauses 2.4 to 2.8): values are drawn first, so one that lost a deadlock runs again with them.

`run` leaves the commit to its caller; a new order with an unused item raises `RolledBack` after it has changed rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Protocol, Self

from benchmarks.tpcc.random_values import RandomValues
from benchmarks.tpcc.schema import Scale
from benchmarks.tpcc.session import Session

__all__ = ["DECK", "RolledBack", "Transaction"]

_DATA_LENGTH: Final = 500
_DISTRICT_KEY: Final = "d_w_id = %s AND d_id = %s"
_CUSTOMER_KEY: Final = "c_w_id = %s AND c_d_id = %s AND c_id = %s"
_LOW_ORDERS: Final = 20


class RolledBack(Exception):
    """A new order that is rolled back, as one of a hundred must be."""


class Transaction(Protocol):
    """A transaction with its values."""

    @classmethod
    def draw(cls, values: RandomValues, scale: Scale, home: int) -> Self:
        """Draw the values for a terminal of a warehouse."""

    def run(self, session: Session) -> None:
        """Run it, but for the commit."""


@dataclass(frozen=True, slots=True)
class _Line:
    item: int
    supplier: int
    quantity: int


@dataclass(frozen=True, slots=True)
class NewOrder:
    """An order of 5 to 15 lines."""

    warehouse: int
    district: int
    customer: int
    lines: tuple[_Line, ...]

    @classmethod
    def draw(cls, values: RandomValues, scale: Scale, home: int) -> Self:
        """Draw the lines; one of a hundred is of another warehouse, and one order of a hundred is rolled back."""
        lines = [
            _Line(values.item(), _other(values, scale, home) if values.happens(1) else home, values.number(1, 10))
            for _ in range(values.number(5, 15))
        ]
        if values.happens(1):
            lines[-1] = _Line(scale.items + 1, home, 1)
        return cls(home, values.number(1, scale.districts), values.customer(), tuple(lines))

    def run(self, session: Session) -> None:
        """Run it.

        Raises:
            RolledBack: an item does not exist.
        """
        where, customer = (self.warehouse, self.district), (self.warehouse, self.district, self.customer)
        session.row("SELECT w_tax FROM warehouse WHERE w_id = %s", self.warehouse)
        session.row(f"SELECT c_discount, c_last, c_credit FROM customer WHERE {_CUSTOMER_KEY}", *customer)
        select = f"SELECT d_next_o_id, d_tax FROM district WHERE {_DISTRICT_KEY} FOR UPDATE"
        number, _ = session.row(select, *where)
        session.update("district", f"d_next_o_id = %s WHERE {_DISTRICT_KEY}", number + 1, *where)
        is_local = all(line.supplier == self.warehouse for line in self.lines)
        order = (number, self.district, self.warehouse)
        columns = "o_id, o_d_id, o_w_id, o_c_id, o_ol_cnt, o_all_local, o_entry_d"
        entry = session.row("SELECT NOW()")
        session.insert("orders", columns, (*order, self.customer, len(self.lines), int(is_local), *entry))
        session.insert("new_orders", "no_o_id, no_d_id, no_w_id", order)
        prices = self._prices(session)
        lines = [
            (*order, count, *self._taken(session, line, prices[line.item]))
            for count, line in sorted(enumerate(self.lines, 1), key=lambda each: (each[1].supplier, each[1].item))
        ]
        columns = "ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info"
        session.insert("order_line", columns, *lines)

    def _prices(self, session: Session) -> dict[int, Decimal]:
        items = sorted({line.item for line in self.lines})
        found: dict[int, Any] = dict(session.rows("SELECT i_id, i_price FROM item WHERE i_id IN %s", items))
        if len(found) < len(items):
            raise RolledBack
        return found

    def _taken(self, session: Session, line: _Line, price: Decimal) -> tuple[Any, ...]:
        """Take a line's quantity from the stock; return what the line has of it."""
        district = f"s_dist_{self.district:02}"
        key = "s_w_id = %s AND s_i_id = %s"
        select = f"SELECT s_quantity, {district} FROM stock WHERE {key} FOR UPDATE"
        quantity, info = session.row(select, line.supplier, line.item)
        left = quantity - line.quantity
        left += 0 if left >= 10 else 91
        session.update(
            "stock",
            f"s_quantity = %s, s_ytd = s_ytd + %s, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + %s "
            f"WHERE {key}",
            *(left, line.quantity, int(line.supplier != self.warehouse), line.supplier, line.item),
        )
        return line.item, line.supplier, line.quantity, line.quantity * price, info


@dataclass(frozen=True, slots=True)
class _Customer:
    """A customer: by number, or, in 60 of 100 cases, the one in the middle of those with a last name."""

    warehouse: int
    district: int
    key: int | str

    @classmethod
    def draw(cls, values: RandomValues, warehouse: int, district: int) -> Self:
        return cls(warehouse, district, values.name() if values.happens(60) else values.customer())

    def number(self, session: Session) -> int:
        if isinstance(self.key, int):
            return self.key
        select = "SELECT c_id FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_last = %s ORDER BY c_first"
        found = session.rows(select, self.warehouse, self.district, self.key)
        return int(found[(len(found) - 1) // 2][0])


@dataclass(frozen=True, slots=True)
class Payment:
    """A customer pays, in 15 of 100 cases at another warehouse."""

    warehouse: int
    district: int
    customer: _Customer
    amount: Decimal

    @classmethod
    def draw(cls, values: RandomValues, scale: Scale, home: int) -> Self:
        """Draw customer and amount."""
        warehouse, district = home, values.number(1, scale.districts)
        at = (
            (_other(values, scale, home), values.number(1, scale.districts)) if values.happens(15) else (home, district)
        )
        return cls(warehouse, district, _Customer.draw(values, *at), values.decimal(100, 500_000, 2))

    def run(self, session: Session) -> None:
        """Run it."""
        session.update("warehouse", "w_ytd = w_ytd + %s WHERE w_id = %s", self.amount, self.warehouse)
        (warehouse,) = session.row("SELECT w_name FROM warehouse WHERE w_id = %s", self.warehouse)
        where = (self.warehouse, self.district)
        session.update("district", f"d_ytd = d_ytd + %s WHERE {_DISTRICT_KEY}", self.amount, *where)
        (district,) = session.row(f"SELECT d_name FROM district WHERE {_DISTRICT_KEY}", *where)
        key = (self.customer.warehouse, self.customer.district, self.customer.number(session))
        select = f"SELECT c_credit, c_data FROM customer WHERE {_CUSTOMER_KEY} FOR UPDATE"
        credit, data = session.row(select, *key)
        if credit == "BC":
            data = f"{key[2]} {key[1]} {key[0]} {self.district} {self.warehouse} {self.amount} {data}"[:_DATA_LENGTH]
        session.update(
            "customer",
            "c_balance = c_balance - %s, c_ytd_payment = c_ytd_payment + %s, c_payment_cnt = c_payment_cnt + 1, "
            f"c_data = %s WHERE {_CUSTOMER_KEY}",
            *(self.amount, self.amount, data, *key),
        )
        columns = "h_c_w_id, h_c_d_id, h_c_id, h_d_id, h_w_id, h_amount, h_data, h_date"
        now = session.row("SELECT NOW()")
        paid = (*key, self.district, self.warehouse, self.amount, f"{warehouse}    {district}")
        session.insert("history", columns, (*paid, *now))


@dataclass(frozen=True, slots=True)
class OrderStatus:
    """A customer asks for the last order."""

    customer: _Customer

    @classmethod
    def draw(cls, values: RandomValues, scale: Scale, home: int) -> Self:
        """Draw a customer."""
        return cls(_Customer.draw(values, home, values.number(1, scale.districts)))

    def run(self, session: Session) -> None:
        """Run it."""
        key = (self.customer.warehouse, self.customer.district, self.customer.number(session))
        session.row(f"SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE {_CUSTOMER_KEY}", *key)
        orders = session.rows(
            "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = %s AND o_d_id = %s AND o_c_id = %s "
            "ORDER BY o_id DESC LIMIT 1",
            *key,
        )
        for number, *_ in orders:
            session.rows(
                "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
                "WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id = %s",
                *(*key[:2], number),
            )


@dataclass(frozen=True, slots=True)
class Delivery:
    """The oldest new order of each district is delivered."""

    warehouse: int
    districts: int
    carrier: int

    @classmethod
    def draw(cls, values: RandomValues, scale: Scale, home: int) -> Self:
        """Draw a carrier."""
        return cls(home, scale.districts, values.number(1, 10))

    def run(self, session: Session) -> None:
        """Run it."""
        for district in range(1, self.districts + 1):
            oldest = session.rows(
                "SELECT no_o_id FROM new_orders WHERE no_w_id = %s AND no_d_id = %s ORDER BY no_o_id LIMIT 1 "
                "FOR UPDATE",
                *(self.warehouse, district),
            )
            for (number,) in oldest:
                self._deliver(session, (self.warehouse, district, number))

    def _deliver(self, session: Session, order: tuple[int, int, int]) -> None:
        session.delete("new_orders", "no_w_id = %s AND no_d_id = %s AND no_o_id = %s", *order)
        key = "o_w_id = %s AND o_d_id = %s AND o_id = %s"
        (customer,) = session.row(f"SELECT o_c_id FROM orders WHERE {key}", *order)
        session.update("orders", f"o_carrier_id = %s WHERE {key}", self.carrier, *order)
        key = "ol_w_id = %s AND ol_d_id = %s AND ol_o_id = %s"
        session.update("order_line", f"ol_delivery_d = NOW() WHERE {key}", *order)
        (amount,) = session.row(f"SELECT SUM(ol_amount) FROM order_line WHERE {key}", *order)
        change = "c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1"
        session.update("customer", f"{change} WHERE {_CUSTOMER_KEY}", amount, *order[:2], customer)


@dataclass(frozen=True, slots=True)
class StockLevel:
    """How many items of a district's last orders are short."""

    warehouse: int
    district: int
    threshold: int

    @classmethod
    def draw(cls, values: RandomValues, scale: Scale, home: int) -> Self:
        """Draw a district and a threshold."""
        return cls(home, values.number(1, scale.districts), values.number(10, 20))

    def run(self, session: Session) -> None:
        """Run it."""
        where = (self.warehouse, self.district)
        (following,) = session.row(f"SELECT d_next_o_id FROM district WHERE {_DISTRICT_KEY}", *where)
        session.row(
            "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id "
            "WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id >= %s AND ol_o_id < %s AND s_quantity < %s",
            *(*where, following - _LOW_ORDERS, following, self.threshold),
        )


DECK: Final[tuple[type[Transaction], ...]] = (
    *([NewOrder] * 45),
    *([Payment] * 43),
    *([OrderStatus] * 4),
    *([Delivery] * 4),
    *([StockLevel] * 4),
)
"""The mix: a terminal shuffles these cards and plays them, then again (clause 5.2.4.2)."""


def _other(values: RandomValues, scale: Scale, home: int) -> int:
    """Return another warehouse, or the same where there is one only."""
    others = [number for number in range(1, scale.warehouses + 1) if number != home]
    return values.random.choice(others or [home])
