"""The line that says why a table's query is started again."""

from __future__ import annotations

import pytest

from datasources.sync.table_sync import code_and_reason

_PROXY = (
    "An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):\n"
    '  File "a.py", line 1, in call\n    f()\n'
)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (
            "[STREAM_FAILED] Query ... terminated with exception: [TIDEMARK_SCHEMA] column 'a' is gone.\n\tat X",
            ("TIDEMARK_SCHEMA", "column 'a' is gone."),
        ),
        (
            "An error occurred while calling o8.load.\n: java.io.IOException: Stream closed\n\tat a.B(C.java:1)",
            (None, "java.io.IOException: Stream closed"),
        ),
        (
            f"{_PROXY}py4j.protocol.Py4JJavaError: An error occurred while calling o1.x.\n: a.OutOfMemory: Java heap\n\tat B",
            (None, "a.OutOfMemory: Java heap"),
        ),
        (
            "Traceback (most recent call last):\n  File x\npyspark.errors.ParseException:\n[PARSE] near 'a'. SQLSTATE: 42601",
            (None, "[PARSE] near 'a'. SQLSTATE: 42601"),
        ),
        ("java.lang.NullPointerException\n\tat a.B", (None, "java.lang.NullPointerException")),
        ("", (None, "no reason is given")),
    ],
)
def test_the_reason_is_the_sentence_of_an_error(message, found):
    assert code_and_reason(message) == found
