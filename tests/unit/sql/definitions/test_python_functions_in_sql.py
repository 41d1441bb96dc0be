"""Python functions over Arrow arrays: declared, found, called, checked."""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import inspect
import pickle
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark import cloudpickle

from datasources.errors import ExpressionError, OptionError, SqlError
from datasources.sql.definitions.python_functions import (
    IN_PROCESS,
    ArrowFunction,
    SessionFunctions,
    arrow_function,
    load_function,
)
from datasources.sql.statements.catalog_objects import FunctionDefinition


@arrow_function("BIGINT")
def watermark_on_flag(ts: pa.Array, flag: pa.Array) -> pa.Array:
    """A watermark only at the end of a sequence (FLIP-66)."""
    return pc.if_else(flag, pc.cast(ts, pa.int64()), pa.scalar(None, pa.int64()))


class Holder:
    @staticmethod
    @arrow_function("int", deterministic=False)
    def nested(values: pa.Array) -> pa.Array:
        return values


def test_a_function_is_called_as_it_was_written_and_keeps_its_name():
    ts, flag = pa.array([1_000, 2_000]), pa.array([True, False])
    assert watermark_on_flag(ts, flag).to_pylist() == [1_000, None]
    assert watermark_on_flag.evaluate([ts, flag], 2) == pa.array([1_000, None], pa.int64())
    assert watermark_on_flag.name == f"{__name__}.watermark_on_flag"
    assert (watermark_on_flag.__name__, watermark_on_flag.__doc__) == (
        "watermark_on_flag",
        "A watermark only at the end of a sequence (FLIP-66).",
    )
    assert repr(watermark_on_flag) == f"ArrowFunction({__name__}.watermark_on_flag, 'BIGINT')"
    assert (watermark_on_flag.is_deterministic, Holder.nested.is_deterministic) == (True, False)


@pytest.mark.parametrize(
    ("text", "name", "arrow"),
    [
        ("timestamp", "TIMESTAMP", pa.timestamp("us", tz="UTC")),
        ("TIMESTAMP_LTZ", "TIMESTAMP", pa.timestamp("us", tz="UTC")),
        ("timestamp_ntz", "TIMESTAMP_NTZ", pa.timestamp("us")),
        ("Integer", "INT", pa.int32()),
        (" bigint ", "BIGINT", pa.int64()),
        ("decimal( 10 ,2)", "DECIMAL(10, 2)", pa.decimal128(10, 2)),
        ("DEC(5)", "DECIMAL(5, 0)", pa.decimal128(5, 0)),
        ("bytes", "BINARY", pa.binary()),
        ("bool", "BOOLEAN", pa.bool_()),
    ],
)
def test_a_result_has_a_type_of_sparks(text, name, arrow):
    function = arrow_function(text)(len)
    assert (function.result_type, function.arrow_type) == (name, arrow)


@pytest.mark.parametrize(
    "text", ["", "TIMESTAMP(3)", "ARRAY<INT>", "DECIMAL(39, 2)", "DECIMAL(2, 3)", "DECIMAL(0)", "INTERVAL"]
)
def test_other_types_are_refused(text):
    with pytest.raises(OptionError, match="a function cannot return '") as caught:
        arrow_function(text)(len)
    assert ("A time has no precision here" in caught.value.message) is text.startswith("TIMESTAMP")


def test_the_decorator_wants_its_type_and_a_function():
    with pytest.raises(OptionError, match="@arrow_function needs the type of the result"):
        arrow_function(len)
    with pytest.raises(OptionError, match="@arrow_function stands before a function, not before 3"):
        arrow_function("INT")(3)


@pytest.mark.parametrize(
    ("result_type", "returned", "expected"),
    [
        ("BIGINT", pa.array([1, None], pa.int32()), pa.array([1, None], pa.int64())),
        ("INT", pa.array([1, 2], pa.int64()), pa.array([1, 2], pa.int32())),
        ("BIGINT", pa.array([None, None]), pa.array([None, None], pa.int64())),
        ("BIGINT", pa.chunked_array([[1], [2]]), pa.array([1, 2])),
        ("BIGINT", pa.chunked_array([[1, 2]]), pa.array([1, 2])),
        ("STRING", pa.array(["a", "b"], pa.large_string()), pa.array(["a", "b"])),
        ("DOUBLE", pa.array([1, 2], pa.float32()), pa.array([1.0, 2.0])),
        (
            "TIMESTAMP",
            pa.array([1, 2], pa.timestamp("ms", tz="Europe/Berlin")),
            pa.array([1_000, 2_000], pa.timestamp("us", tz="UTC")),
        ),
        ("TIMESTAMP_NTZ", pa.array([1, 2], pa.timestamp("ms")), pa.array([1_000, 2_000], pa.timestamp("us"))),
        (
            "DECIMAL(5, 2)",
            pa.array([decimal.Decimal("1.5"), None], pa.decimal128(2, 1)),
            pa.array([decimal.Decimal("1.50"), None], pa.decimal128(5, 2)),
        ),
        ("DATE", pa.array([dt.date(2020, 1, 1)] * 2), pa.array([dt.date(2020, 1, 1)] * 2)),
    ],
)
def test_a_result_becomes_the_declared_type_where_nothing_is_lost(result_type, returned, expected):
    assert ArrowFunction(lambda _: returned, result_type).evaluate([pa.array([0, 0])], 2) == expected


@pytest.mark.parametrize(
    ("result_type", "returned", "message"),
    [
        ("BIGINT", [1, 2], "returned a list; it must return a pyarrow.Array."),
        ("BIGINT", None, "returned a NoneType; it must return a pyarrow.Array."),
        ("BIGINT", pa.array([1]), "returned 1 values for 2 rows; it must return one for each."),
        ("BIGINT", pa.array(["1", "2"]), "returned values of type string; it is declared to return BIGINT, int64 in Arrow."),
        ("BIGINT", pa.array([1.0, 2.0]), "returned values of type double; it is declared to return BIGINT, int64 in Arrow."),
        ("TIMESTAMP", pa.array([1, 2], pa.timestamp("us")), "returned values of type timestamp[us]; it is declared to return TIMESTAMP, timestamp[us, tz=UTC] in Arrow."),
        ("INT", pa.array([1, 2**40]), "returned values of type int64; it is declared to return INT, int32 in Arrow (Integer value 1099511627776 not in range"),
        ("TIMESTAMP_NTZ", pa.array([1, 2], pa.timestamp("ns")), "returned values of type timestamp[ns]; it is declared to return TIMESTAMP_NTZ, timestamp[us] in Arrow ("),
    ],
)  # fmt: skip
def test_a_wrong_result_is_refused(result_type, returned, message):
    def wrong(_):
        return returned

    with pytest.raises(ExpressionError) as caught:
        ArrowFunction(wrong, result_type).evaluate([pa.array([0, 0])], 2)
    assert f"the function {__name__}.test_a_wrong_result_is_refused.<locals>.wrong {message}" in caught.value.message


def test_a_function_that_fails_names_its_call():
    with pytest.raises(
        ExpressionError, match=r"watermark_on_flag failed: TypeError: .* It is called with whole columns \(int64\)\."
    ):
        watermark_on_flag.evaluate([pa.array([1])], 1)


@pytest.mark.parametrize(("rows", "expected"), [(3, [7, 7, 7]), (0, []), (1, [7])])
def test_without_arguments_one_value_stands_for_all_rows(rows, expected):
    constant = ArrowFunction(lambda: pa.scalar(7, pa.int64()), "BIGINT")
    assert constant.evaluate([], rows).to_pylist() == expected


def test_no_rows_are_no_problem():
    assert watermark_on_flag.evaluate([pa.array([], pa.int64()), pa.array([], pa.bool_())], 0) == pa.array(
        [], pa.int64()
    )


@pytest.mark.parametrize("function", [watermark_on_flag, Holder.nested])
def test_a_function_of_a_module_is_pickled_by_its_name(function):
    assert pickle.loads(pickle.dumps(function)) is function
    assert len(pickle.dumps(function)) < 120


def test_any_other_function_is_pickled_with_its_code():
    factor = 3
    local = ArrowFunction(lambda x: pc.multiply(x, factor), "BIGINT", deterministic=False)
    copy = cloudpickle.loads(cloudpickle.dumps(local))
    assert copy.evaluate([pa.array([1, 2])], 2).to_pylist() == [3, 6]
    assert (copy.result_type, copy.is_deterministic) == ("BIGINT", False)


def test_readers_need_no_sql_parser_for_a_function():
    tree = ast.parse(Path(inspect.getfile(ArrowFunction)).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    ours = {"datasources.arrow_types", "datasources.errors"}
    assert modules == {"__future__", "collections.abc", "typing", "re", "sys", "pyarrow", *ours}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that a job would bring along."""
    files = {
        "jobs_for_udf/__init__.py": "",
        "jobs_for_udf/functions.py": """
            from datasources.sql.definitions.python_functions import arrow_function

            @arrow_function("INT")
            def double(x):
                return x

            def plain(x):
                return x

            number = 3

            class Group:
                inside = double
            """,
        "jobs_for_udf/broken.py": "import no_such_module_for_udf",
        "jobs_for_udf/failing.py": "raise ValueError('at import')",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("jobs_for_udf")]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("path", ["jobs_for_udf.functions.double", "jobs_for_udf.functions.Group.inside"])
def test_a_function_is_found_by_its_path(path):
    assert load_function(path).result_type == "INT"
    assert load_function(path) is load_function("jobs_for_udf.functions.double")


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("double", "'double' is no path to a Python function; write it as 'package.module.function'."),
        ("a..b", "'a..b' is no path to a Python function; write it as 'package.module.function'."),
        ("os; rm -rf", "'os; rm -rf' is no path to a Python function; write it as 'package.module.function'."),
        ("no_such_module_for_udf.f", "function 'no_such_module_for_udf.f': there is no module 'no_such_module_for_udf'. It has to be importable by the driver: install it, or add its directory to PYTHONPATH."),
        ("jobs_for_udf.function.double", "function 'jobs_for_udf.function.double': 'jobs_for_udf' has no 'function'. Did you mean 'functions'?"),
        ("jobs_for_udf.functions.duble", "function 'jobs_for_udf.functions.duble': 'jobs_for_udf.functions' has no 'duble'. Did you mean 'double'?"),
        ("jobs_for_udf.functions.Group.insid", "function 'jobs_for_udf.functions.Group.insid': 'jobs_for_udf.functions.Group' has no 'insid'. Did you mean 'inside'?"),
        ("jobs_for_udf.functions.plain", "function 'jobs_for_udf.functions.plain' is a plain Python function. Put @arrow_function(\"TIMESTAMP\"), with the type of its result, before it; it takes pyarrow Arrays and returns one of equal length."),
        ("jobs_for_udf.functions.number", "function 'jobs_for_udf.functions.number' is of type int, no function. Put @arrow_function(\"TIMESTAMP\"), with the type of its result, before it; it takes pyarrow Arrays and returns one of equal length."),
        ("jobs_for_udf.broken.f", "function 'jobs_for_udf.broken.f': importing 'jobs_for_udf.broken' failed: ModuleNotFoundError: No module named 'no_such_module_for_udf'"),
        ("jobs_for_udf.failing.f", "function 'jobs_for_udf.failing.f': importing 'jobs_for_udf.failing' failed: ValueError: at import"),
    ],
)  # fmt: skip
def test_a_path_that_does_not_exist_is_an_error_with_its_last_valid_step(path, message):
    with pytest.raises(SqlError) as caught:
        load_function(path)
    assert caught.value.message == message


def test_a_function_may_be_given_to_the_session_as_an_object():
    functions = SessionFunctions()
    definition = functions.add("Flag", watermark_on_flag)
    assert definition == FunctionDefinition(name="Flag", path=IN_PROCESS, is_temporary=True)
    assert functions.get(definition) is watermark_on_flag
    plain = functions.add("plain", lambda x: x, "INT")
    assert functions.get(plain).evaluate([pa.array([1], pa.int32())], 1).to_pylist() == [1]


def test_a_function_that_is_given_as_an_object_needs_one_type():
    with pytest.raises(
        SqlError, match=r"function 'f': declare its result's type, as in create_function\('f', f, \"TIMESTAMP\"\)"
    ):
        SessionFunctions().add("f", lambda x: x)
    with pytest.raises(SqlError, match="function 'f' returns BIGINT already; leave the type out"):
        SessionFunctions().add("f", watermark_on_flag, "INT")


@pytest.mark.usefixtures("package")
def test_a_session_loads_a_path_once():
    functions = SessionFunctions()
    definition = FunctionDefinition(name="d", path="jobs_for_udf.functions.double")
    assert functions.get(definition) is functions.get(definition)


def test_a_function_that_was_removed_is_not_there():
    functions = SessionFunctions()
    definition = functions.add("f", watermark_on_flag)
    functions.remove("F")
    functions.remove("f")
    with pytest.raises(KeyError):
        functions.get(definition)
