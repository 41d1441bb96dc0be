"""Headers of Confluent's wire format, against Confluent's own reader and writer."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.formats.registry.wire_format import HEADER_BYTES, headers_of

_PAYLOADS = st.lists(
    st.one_of(
        st.none(),
        st.binary(max_size=8),
        st.tuples(st.integers(0, 2**32 - 1), st.binary(max_size=6)).map(
            lambda it: struct.pack(">bI", 0, it[0]) + it[1]
        ),
    ),
    max_size=20,
)


@given(payloads=_PAYLOADS, skipped=st.integers(0, 3))
def test_ids_are_those_of_the_headers_also_in_a_slice(payloads, skipped):
    found = headers_of(pa.array(payloads, pa.binary())[skipped:])
    for index, payload in enumerate(payloads[skipped:]):
        has_header = payload is not None and len(payload) >= HEADER_BYTES and payload[0] == 0
        assert found.has_header[index] == has_header
        if has_header:
            assert found.ids[index] == struct.unpack(">bI", payload[:HEADER_BYTES])[1]
        assert (index in found.reasons) == (payload is not None and not has_header)
    groups = list(found.by_id())
    assert sorted(int(index) for _, rows in groups for index in rows) == np.flatnonzero(found.has_header).tolist()
    assert all((found.ids[rows] == schema_id).all() for schema_id, rows in groups)
    assert found.single_id() == (groups[0][0] if len(groups) == 1 and not found.reasons else None)


def test_one_id_is_that_of_all_payloads_that_exist():
    one, other = struct.pack(">bI", 0, 2**32 - 1), struct.pack(">bI", 0, 7)
    assert headers_of(pa.array([one, None, one + b"x"])).single_id() == 2**32 - 1
    assert headers_of(pa.array([one, other])).single_id() is None
    assert headers_of(pa.array([one, b"{}"])).single_id() is None
    assert headers_of(pa.array([None, None], pa.binary())).single_id() is None


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "it has 0 bytes and the id of a schema takes 5, so it was not written with a schema registry"),
        (b"\0\0\0\1", "it has 4 bytes and the id of a schema takes 5, so it was not written with a schema registry"),
        (b'{"id": 1}', "it begins with the byte 123 in place of 0, so it was not written with a schema registry"),
    ],
)
def test_the_reason_of_a_payload_without_a_header(payload, reason):
    assert headers_of(pa.array([payload], pa.binary())).reasons == {0: reason}
