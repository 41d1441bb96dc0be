"""GTID sets behave as sets of transactions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.positions.positions import encode_gtid_set

A, B = "00000000-0000-0000-0000-0000000000aa", "0f000000-0000-0000-0000-0000000000bb"
SOURCES = (A, f"{A}:bulk", f"{A}:zeta_1", B, f"{B}:bulk")

transactions = st.sets(st.tuples(st.sampled_from(SOURCES), st.integers(1, 14)), max_size=40)
"""Transactions, as source and number: dense, so that intervals touch."""

domains = st.dictionaries(st.integers(0, 3), st.tuples(st.integers(1, 2), st.integers(1, 9)))


def _set(members: set[tuple[str, int]]) -> GtidSet:
    return GtidSet.parse(",".join(f"{source}:{number}" for source, number in members))


def _members(gtids: GtidSet) -> set[tuple[str, int]]:
    return {
        (source, n) for source, intervals in gtids.sources for first, last in intervals for n in range(first, last + 1)
    }


@given(transactions)
def test_a_set_has_one_text_which_reads_back_as_the_same_set(members):
    gtids = _set(members)
    assert _members(gtids) == members
    assert len(gtids) == len(members)
    assert bool(gtids) == bool(members)
    assert GtidSet.parse(str(gtids)) == gtids
    assert GtidSet.parse(str(gtids).upper().replace(",", " ,\n ")) == gtids
    assert hash(GtidSet.parse(str(gtids))) == hash(gtids)
    assert encode_gtid_set(str(gtids)) == encode_gtid_set(
        ",".join(f"{s}:{n}" for s, n in sorted(members, reverse=True))
    )


@given(transactions, transactions)
def test_union_difference_and_inclusion_are_those_of_the_members(some, others):
    one, other = _set(some), _set(others)
    assert one.union(other) == _set(some | others)
    assert one.minus(other) == _set(some - others)
    assert one.contains(other) == (others <= some)
    for source, number in some | others:
        assert one.has_gtid(f"{source}:{number}") == ((source, number) in some)


@given(transactions, st.lists(st.tuples(st.integers(1, 14), st.integers(0, 5))))
def test_intervals_of_one_source_are_merged(members, intervals):
    spans = [(first, first + more) for first, more in intervals]
    added = {(f"{A}:bulk", n) for first, last in spans for n in range(first, last + 1)}
    assert _members(_set(members).union(GtidSet.of({f"{A}:bulk": spans}))) == members | added


@given(domains, domains)
def test_positions_of_domains_are_the_newest_of_each(some, others):
    one, other = DomainPositions.of(some), DomainPositions.of(others)
    both = one.union(other)
    assert DomainPositions.parse(str(both)) == both
    assert both.contains(one)
    assert both.contains(other)
    assert one.contains(other) == all(some.get(domain, (0, 0))[1] >= n for domain, (_, n) in others.items())
    assert {domain: number for domain, _, number in both.newest} == {
        domain: max(some.get(domain, (0, 0))[1], others.get(domain, (0, 0))[1]) for domain in {*some, *others}
    }
    for domain, (server, number) in some.items():
        assert one.has_gtid(f"{domain}-{server}-{number}")
        assert not one.has_gtid(f"{domain}-{server}-{number + 1}")
