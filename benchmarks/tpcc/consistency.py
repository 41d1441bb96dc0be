"""The consistency conditions of TPC-C (clause 3.3.2) as queries for the rows that break them.

Conditions 1 to 10 and 12; the eleventh holds for the first rows only. Sums of money are those of `population`, so the
conditions hold before the first transaction and after each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

__all__ = ["CONDITIONS", "broken_conditions"]

_DELIVERED: Final = (
    "(SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders JOIN order_line ON ol_w_id = o_w_id "
    "AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS d"
)
_ORDER_COUNTS: Final = (
    "(SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS line_count FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l"
)
_PAID: Final = (
    "(SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h"
)

CONDITIONS: Final = {
    "1: W_YTD = sum(D_YTD)": (
        "SELECT w_id FROM warehouse JOIN district ON d_w_id = w_id GROUP BY w_id, w_ytd HAVING w_ytd <> SUM(d_ytd)"
    ),
    "2: D_NEXT_O_ID - 1 = max(O_ID)": (
        "SELECT d_w_id, d_id FROM district LEFT JOIN orders ON o_w_id = d_w_id AND o_d_id = d_id "
        "GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id - 1 <> COALESCE(MAX(o_id), 0)"
    ),
    "2: D_NEXT_O_ID - 1 = max(NO_O_ID)": (
        "SELECT d_w_id, d_id FROM district JOIN new_orders ON no_w_id = d_w_id AND no_d_id = d_id "
        "GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id - 1 <> MAX(no_o_id)"
    ),
    "3: NO_O_ID without gaps": (
        "SELECT no_w_id, no_d_id FROM new_orders GROUP BY no_w_id, no_d_id "
        "HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)"
    ),
    "4: sum(O_OL_CNT) = rows of ORDER-LINE": (
        "SELECT * FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS wanted FROM orders GROUP BY o_w_id, o_d_id) AS o "
        "LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) AS l "
        "ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE found IS NULL OR wanted <> found"
    ),
    "5: O_CARRIER_ID is NULL for a row of NEW-ORDER": (
        "SELECT o_w_id, o_d_id, o_id FROM orders LEFT JOIN new_orders ON no_w_id = o_w_id AND no_d_id = o_d_id "
        "AND no_o_id = o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)"
    ),
    "5: a row of NEW-ORDER has its order": (
        "SELECT no_w_id, no_d_id, no_o_id FROM new_orders LEFT JOIN orders ON no_w_id = o_w_id AND no_d_id = o_d_id "
        "AND no_o_id = o_id WHERE o_id IS NULL"
    ),
    "6: O_OL_CNT = rows of ORDER-LINE of an order": (
        f"SELECT o_w_id, o_d_id, o_id FROM orders LEFT JOIN {_ORDER_COUNTS} ON l.ol_w_id = o_w_id "
        "AND l.ol_d_id = o_d_id AND l.ol_o_id = o_id WHERE COALESCE(line_count, 0) <> o_ol_cnt"
    ),
    "7: OL_DELIVERY_D is NULL where O_CARRIER_ID is": (
        "SELECT ol_w_id, ol_d_id, ol_o_id FROM order_line LEFT JOIN orders ON ol_w_id = o_w_id AND ol_d_id = o_d_id "
        "AND ol_o_id = o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL) OR o_id IS NULL"
    ),
    "8: W_YTD = sum(H_AMOUNT)": (
        "SELECT w_id FROM warehouse JOIN history ON h_w_id = w_id GROUP BY w_id, w_ytd HAVING w_ytd <> SUM(h_amount)"
    ),
    "9: D_YTD = sum(H_AMOUNT)": (
        "SELECT d_w_id, d_id FROM district JOIN history ON h_w_id = d_w_id AND h_d_id = d_id "
        "GROUP BY d_w_id, d_id, d_ytd HAVING d_ytd <> SUM(h_amount)"
    ),
    "10: C_BALANCE = sum(OL_AMOUNT) - sum(H_AMOUNT)": (
        f"SELECT c_w_id, c_d_id, c_id FROM customer LEFT JOIN {_DELIVERED} ON d.o_w_id = c_w_id AND d.o_d_id = c_d_id "
        f"AND d.o_c_id = c_id LEFT JOIN {_PAID} ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id "
        "WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0)"
    ),
    "12: C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT)": (
        f"SELECT c_w_id, c_d_id, c_id FROM customer LEFT JOIN {_DELIVERED} ON d.o_w_id = c_w_id AND d.o_d_id = c_d_id "
        "AND d.o_c_id = c_id WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0)"
    ),
}
"""Each condition, and a query that finds nothing if it holds; in SQL that MySQL, DuckDB and Spark read alike."""


def broken_conditions(query: Callable[[str], Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Return the conditions that do not hold, each with some of the rows that break it.

    Args:
        query: returns the rows of a SELECT from the nine tables.
    """
    found = {name: query(f"{select} LIMIT 5") for name, select in CONDITIONS.items()}
    return {name: rows for name, rows in found.items() if rows}
