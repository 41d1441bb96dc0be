"""The nine tables of TPC-C with the specification's types, and how many rows they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["TABLES", "Scale", "Table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table.

    Attributes:
        name: of the table.
        columns: name and type of each column, in order.
        key: names of the columns of its primary key.
        indexes: the columns of further indexes, as they stand in DDL.
    """

    name: str
    columns: Sequence[tuple[str, str]]
    key: Sequence[str]
    indexes: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self.columns]

    @property
    def ddl(self) -> str:
        """CREATE TABLE for MySQL."""
        columns = [f"{name} {kind}" for name, kind in self.columns]
        indexes = [f"INDEX ({index})" for index in self.indexes]
        key = f"PRIMARY KEY ({', '.join(self.key)})"
        return f"CREATE TABLE {self.name} ({', '.join([*columns, key, *indexes])})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much there is.

    Attributes:
        warehouses: number of warehouses.
        districts: of each warehouse; 10 in the specification, and no more.
        customers: of each district, and of orders at first; 3,000 in the specification.
        items: 100,000 in the specification; each warehouse has a stock of each.
    """

    warehouses: int = 1
    districts: int = 10
    customers: int = 300
    items: int = 1_000

    @property
    def first_new_order(self) -> int:
        """The number of the first order of a district that is not delivered at first: the last three tenths are not."""
        return self.customers * 7 // 10 + 1


def _table(name: str, columns: str, key: str, *indexes: str) -> Table:
    """Return a table; columns are separated by semicolons, as types have commas."""
    pairs = [tuple(column.split(maxsplit=1)) for column in columns.split(";")]
    return Table(
        name=name, columns=[(name, kind) for name, kind in pairs], key=key.replace(",", " ").split(), indexes=indexes
    )


_ADDRESS: Final = (
    "{0}_street_1 VARCHAR(20); {0}_street_2 VARCHAR(20); {0}_city VARCHAR(20); {0}_state CHAR(2); {0}_zip CHAR(9)"
)
_DISTRICTS: Final = "; ".join(f"s_dist_{number:02} CHAR(24)" for number in range(1, 11))

_ALL: Final = (
    _table(
        "warehouse",
        f"w_id SMALLINT NOT NULL; w_name VARCHAR(10); {_ADDRESS.format('w')}; w_tax DECIMAL(4,4); w_ytd DECIMAL(12,2)",
        "w_id",
    ),
    _table(
        "district",
        f"d_id TINYINT NOT NULL; d_w_id SMALLINT NOT NULL; d_name VARCHAR(10); {_ADDRESS.format('d')}; "
        "d_tax DECIMAL(4,4); d_ytd DECIMAL(12,2); d_next_o_id INT",
        "d_w_id, d_id",
    ),
    _table(
        "customer",
        "c_id INT NOT NULL; c_d_id TINYINT NOT NULL; c_w_id SMALLINT NOT NULL; c_first VARCHAR(16); c_middle CHAR(2); "
        f"c_last VARCHAR(16); {_ADDRESS.format('c')}; c_phone CHAR(16); c_since DATETIME; c_credit CHAR(2); "
        "c_credit_lim DECIMAL(12,2); c_discount DECIMAL(4,4); c_balance DECIMAL(12,2); c_ytd_payment DECIMAL(12,2); "
        "c_payment_cnt SMALLINT; c_delivery_cnt SMALLINT; c_data VARCHAR(500)",
        "c_w_id, c_d_id, c_id",
        "c_w_id, c_d_id, c_last, c_first",
    ),
    _table(
        "history",
        "h_id BIGINT NOT NULL AUTO_INCREMENT; h_c_id INT; h_c_d_id TINYINT; h_c_w_id SMALLINT; h_d_id TINYINT; "
        "h_w_id SMALLINT; h_date DATETIME; h_amount DECIMAL(6,2); h_data VARCHAR(24)",
        "h_id",
    ),
    _table(
        "new_orders",
        "no_o_id INT NOT NULL; no_d_id TINYINT NOT NULL; no_w_id SMALLINT NOT NULL",
        "no_w_id, no_d_id, no_o_id",
    ),
    _table(
        "orders",
        "o_id INT NOT NULL; o_d_id TINYINT NOT NULL; o_w_id SMALLINT NOT NULL; o_c_id INT; o_entry_d DATETIME; "
        "o_carrier_id TINYINT; o_ol_cnt TINYINT; o_all_local TINYINT",
        "o_w_id, o_d_id, o_id",
        "o_w_id, o_d_id, o_c_id, o_id",
    ),
    _table(
        "order_line",
        "ol_o_id INT NOT NULL; ol_d_id TINYINT NOT NULL; ol_w_id SMALLINT NOT NULL; ol_number TINYINT NOT NULL; "
        "ol_i_id INT; ol_supply_w_id SMALLINT; ol_delivery_d DATETIME; ol_quantity TINYINT; ol_amount DECIMAL(6,2); "
        "ol_dist_info CHAR(24)",
        "ol_w_id, ol_d_id, ol_o_id, ol_number",
    ),
    _table(
        "item",
        "i_id INT NOT NULL; i_im_id INT; i_name VARCHAR(24); i_price DECIMAL(5,2); i_data VARCHAR(50)",
        "i_id",
    ),
    _table(
        "stock",
        f"s_i_id INT NOT NULL; s_w_id SMALLINT NOT NULL; s_quantity SMALLINT; {_DISTRICTS}; s_ytd INT; "
        "s_order_cnt INT; s_remote_cnt INT; s_data VARCHAR(50)",
        "s_w_id, s_i_id",
    ),
)
TABLES: Final = {table.name: table for table in _ALL}
"""All tables by their names."""
