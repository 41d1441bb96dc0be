"""Laws of aggregates over changes: the result is that of the table, whatever the changes, their order and their cuts."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from tests.support.oracles.aggregate_model import aggregate_model
from tests.support.spark.aggregate_run import AggregateRun
from tests.support.spark.change_bucket_run import canonical_row

few_examples = settings(deadline=None, max_examples=30)
"""An example is some sixty aggregates of every type."""
STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])
DATA = pa.schema(
    [
        ("k", pa.float64()),
        ("j", pa.string()),
        ("b", pa.bool_()),
        ("i", pa.int32()),
        ("v", pa.int64()),
        ("d", pa.decimal128(10, 2)),
        ("w", pa.decimal128(38, 4)),
        ("f", pa.float64()),
        ("e", pa.float32()),
        ("s", pa.string()),
        ("x", pa.binary()),
        ("t", pa.timestamp("us", "UTC")),
        ("day", pa.date32()),
        ("u", STRUCT),
        ("l", pa.list_(pa.int32())),
    ]
)
LONG = (1 << 63) - 1
doubles = st.sampled_from([0.0, -0.0, 0.1, -0.3, 1e300, 1.7e308, -1e-320, float("nan"), float("inf"), -float("inf")])
VALUES = {
    "k": st.sampled_from([0.0, -0.0, 1.5, float("nan"), None]),
    "j": st.sampled_from(["a", "b"]),
    "b": st.none() | st.booleans(),
    "i": st.none() | st.integers(-3, 3),
    "v": st.none() | st.sampled_from([-LONG - 1, LONG, LONG, 1, -7, 1 << 53]),
    "d": st.none() | st.integers(-500, 500).map(lambda cents: Decimal(cents).scaleb(-2)),
    "w": st.none() | st.sampled_from([Decimal("9" * 34 + ".9999"), Decimal("-" + "9" * 34), Decimal("0.0001")]),
    "f": st.none() | doubles | st.floats(),
    "e": st.none() | st.floats(width=32),
    "s": st.none() | st.sampled_from(["", "x", "yy", "\U0001f600", "\uffff"]),
    "x": st.none() | st.sampled_from([b"", b"\x00", b"\xff", b"ab"]),
    "t": st.none() | st.sampled_from([dt.datetime(1969, 1, n, tzinfo=dt.UTC) for n in (1, 2)]),
    "day": st.none() | st.sampled_from([dt.date(1, 1, 1), dt.date(2024, 2, 29)]),
    "u": st.none()
    | st.tuples(st.none() | st.integers(0, 1), st.none() | st.sampled_from(["", "a"])).map(
        lambda pair: {"x": pair[0], "y": pair[1]}
    ),
    "l": st.none() | st.lists(st.none() | st.integers(0, 1), max_size=2),
}
rows = st.tuples(*(VALUES[name] for name in DATA.names))


def call(function, argument=None, kind=None, **options):
    kind = kind or (DATA.field(argument).type if argument else pa.int64())
    name = f"{function}_{argument}_{'_'.join(map(str, options.values()))}"
    return AggregateCall(name=name, function=function, argument=argument, type=kind, **options)


LINEAR = [
    call("count"),
    call("count", filter="b"),
    call("count", "s", pa.int64()),
    call("sum", "i", pa.int64()),
    call("sum", "v", overflow="wrap"),
    call("sum", "v", overflow="null"),
    call("sum", "d", pa.decimal128(20, 2)),
    call("sum", "w", pa.decimal128(38, 4), overflow="null"),
    call("sum", "f", filter="b"),
    call("sum", "f"),
    call("sum", "e", pa.float64()),
    call("avg", "i", pa.float64()),
    call("avg", "v", pa.float64()),
    call("avg", "d", pa.decimal128(14, 6)),
    call("avg", "w", pa.decimal128(38, 8), overflow="null"),
    call("avg", "f"),
    call("bool_and", "b"),
    call("bool_or", "b", filter="b"),
]
DISTINCT = [
    *(call("count", name, pa.int64(), is_distinct=True) for name in DATA.names),
    call("sum", "i", pa.int64(), is_distinct=True, filter="b"),
    call("sum", "d", pa.decimal128(20, 2), is_distinct=True),
    call("avg", "f", is_distinct=True),
]
OF_VALUES = [
    *(call("min", name) for name in DATA.names),
    *(call("max", name) for name in DATA.names),
    call("any_value", "s", filter="b"),
    call("first", "s", order=(("i", False, False),)),
    call("last", "s", order=(("i", True, True), ("f", False, True)), ignore_nulls=True),
    call("collect", "f", pa.list_(pa.float64())),
    call("collect", "u", pa.list_(STRUCT), order=(("s", True, False),)),
    call("collect", "i", pa.list_(pa.int32()), is_distinct=True),
    call("collect_set", "l", pa.list_(DATA.field("l").type)),
    call("listagg", "s", separator=", ", filter="b"),
    call("listagg", "s", separator="", is_distinct=True),
]
ALL = [*LINEAR, *DISTINCT, *OF_VALUES]
keys = st.sampled_from([["k"], ["k", "j"], ["j", "i", "day"]])
changes = st.tuples(st.sampled_from(["insert", "insert", "delete", "update"]), rows, st.integers(0, 9))
batches = st.lists(st.lists(changes, max_size=8), max_size=4)


def identity(row):
    return canonical_row(row)


def replayed(batches):
    """Return the changes of each micro-batch and the table after it."""
    table, found = [], []
    for batch in batches:
        weighted = []
        for kind, row, at in batch:
            if kind != "insert" and table:
                weighted.append((table.pop(at % len(table)), -1))
            if kind != "delete":
                table.append(row)
                weighted.append((row, 1))
        found.append((weighted, list(table)))
    return found


def model(table, keys, calls):
    return aggregate_model((dict(zip(DATA.names, row, strict=True)) for row in table), keys, calls)


@few_examples
@given(keys, batches, st.sampled_from([64, 1]))
def test_after_every_micro_batch_the_result_is_the_tables(keys, batches, hash_bits):
    run = AggregateRun(DATA, keys, ALL, hash_bits=hash_bits)
    for weighted, table in replayed(batches):
        run.advance(weighted)
        assert run.rows == model(table, keys, ALL)


@few_examples
@given(batches)
def test_without_keys_there_is_one_row_after_the_first_change(batches):
    run, is_changed = AggregateRun(DATA, [], ALL), False
    for weighted, table in replayed(batches):
        net = Counter()
        for row, weight in weighted:
            net[identity(row)] += weight
        is_changed |= any(net.values())
        run.advance(weighted)
        assert run.rows == (model(table, [], ALL) if is_changed else [])


@few_examples
@given(keys, batches, st.data())
def test_neither_order_nor_cuts_have_an_influence(keys, batches, data):
    """Also where a row is removed before it is added."""
    steps = replayed(batches)
    weighted = [change for each, _ in steps for change in each]
    shuffled = data.draw(st.permutations(weighted))
    run = AggregateRun(DATA, keys, ALL)
    while shuffled:
        size = data.draw(st.integers(1, len(shuffled)))
        run.advance(shuffled[:size])
        shuffled = shuffled[size:]
    table = steps[-1][1] if steps else []
    assert run.rows == model(table, keys, ALL)
    assert run.operator.missing_rows(run.state) == 0


@few_examples
@given(keys, st.lists(rows, max_size=8), st.data())
def test_nothing_is_stored_of_an_empty_table(keys, table, data):
    run = AggregateRun(DATA, keys, ALL)
    run.advance([(row, 1) for row in table])
    gone = data.draw(st.permutations(table))
    cut = data.draw(st.integers(0, len(table)))
    run.advance([(row, -1) for row in gone[:cut]])
    run.advance([(row, -1) for row in gone[cut:]])
    assert run.rows == []
    assert [name for name in run.operator.state_names if run.state.stored(name) is not None] == []


@few_examples
@given(keys, st.lists(st.lists(rows, max_size=8), max_size=4))
def test_extremes_of_insertions_are_those_of_the_table(keys, batches):
    calls = [each for each in OF_VALUES if each.is_extreme]
    run, table = AggregateRun(DATA, keys, calls, is_insert_only=True), []
    for batch in batches:
        run.advance([(row, 1) for row in batch])
        table += batch
        assert run.rows == model(table, keys, calls)
    assert run.operator.state_names == ("groups",)


DUCKDB = {
    "count(*)": call("count"),
    "count(s)": call("count", "s", pa.int64()),
    "count(DISTINCT s)": call("count", "s", pa.int64(), is_distinct=True),
    "count(DISTINCT f)": call("count", "f", pa.int64(), is_distinct=True),
    "count(*) FILTER (WHERE b)": call("count", filter="b"),
    "sum(i)::BIGINT": call("sum", "i", pa.int64()),
    "sum(DISTINCT i)::BIGINT": call("sum", "i", pa.int64(), is_distinct=True),
    "sum(d)::DECIMAL(20, 2)": call("sum", "d", pa.decimal128(20, 2)),
    "avg(i)": call("avg", "i", pa.float64()),
    "bool_and(b)": call("bool_and", "b"),
    "bool_or(b)": call("bool_or", "b"),
    **{f"min({name})": call("min", name) for name in "ivdwfsxt"},
    **{f"max({name})": call("max", name) for name in "ivdwfsxt"},
    "coalesce(list(i ORDER BY i) FILTER (WHERE i IS NOT NULL), [])": call("collect", "i", pa.list_(pa.int32())),
    "string_agg(s, '-' ORDER BY s)": call("listagg", "s", separator="-"),
}


@few_examples
@given(batches)
def test_the_result_is_that_of_duckdb(batches):
    run = AggregateRun(DATA, ["j"], list(DUCKDB.values()))
    for weighted, table in replayed(batches):
        run.advance(weighted)
        source = pa.table([[row[n] for row in table] for n in range(len(DATA))], schema=DATA)
        with duckdb.connect() as connection:
            connection.register("source", source)
            connection.execute("SET TimeZone = 'UTC'")
            expected = connection.sql(f"SELECT j, {', '.join(DUCKDB)} FROM source GROUP BY j").to_arrow_table()
        rows = zip(*(column.to_pylist() for column in expected.columns), strict=True)
        assert run.rows == sorted((identity(row) for row in rows), key=repr)
