"""The value of `@@gtid_owned`, in all its forms."""

from __future__ import annotations

import pytest

from datasources.mysql.snapshot.barrier import owned_gtids

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"


@pytest.mark.parametrize(
    ("text", "gtids"),
    [
        ("", set()),
        (f"{A}:3#17", {f"{A}:3"}),
        (f"{A}:3#17:5#18", {f"{A}:3", f"{A}:5"}),
        (f"{A}:3#17,\n{B}:5#18:7#19", {f"{A}:3", f"{B}:5", f"{B}:7"}),
        (f"{A}:blue:3#17:4#18,\n{A}:3#19", {f"{A}:blue:3", f"{A}:blue:4", f"{A}:3"}),
    ],
)
def test_owned_gtids_are_read_without_their_threads(text: str, gtids: set[str]):
    assert owned_gtids(text) == gtids
