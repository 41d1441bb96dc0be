"""Which of many transactions are in a GTID set, looked up at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.binlog.positions.gtid_set import GtidSet
from datasources.mysql.binlog.positions.known_transactions import KnownTransactions

ONE, TWO = "00000000-0000-0000-0000-000000000000", "11111111-1111-1111-1111-111111111111"
NAMES = [None, ONE, f"{ONE}:tag", TWO]

intervals = st.lists(
    st.tuples(st.integers(1, 30), st.integers(0, 5)).map(lambda pair: (pair[0], sum(pair))), max_size=5
)


@given(
    st.dictionaries(st.sampled_from(NAMES[1:]), intervals),
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 40)), max_size=40),
)
def test_the_vectorized_lookup_equals_that_of_the_set(members, looked_up):
    gtids = GtidSet.of(members)
    source, number = np.array(looked_up or np.empty((0, 2)), np.int64).reshape(-1, 2).T
    lacks = KnownTransactions(gtids).lacks(NAMES, source, number)
    assert lacks.tolist() == [not gtids.has_gtid(f"{NAMES[index]}:{count}") for index, count in looked_up]


def test_a_transaction_without_a_gtid_is_never_outside():
    nothing = KnownTransactions(GtidSet())
    assert nothing.lacks(NAMES, np.array([0, 1]), np.array([0, 1])).tolist() == [False, True]
