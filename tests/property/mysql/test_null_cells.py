"""Where a value is NULL its bytes are another's, or none: no decoder of the binlog may depend on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.binlog.rows.column_codes import storage_of
from datasources.mysql.types.column import ColumnCode, ZeroDates
from datasources.mysql.types.decoders.cells import PADDING, Cells
from datasources.mysql.types.storage import ColumnStorage

C = ColumnCode
METADATA = {
    C.NEWDECIMAL: st.integers(1, 65).flatmap(
        lambda digits: st.integers(0, min(30, digits)).map(lambda scale: bytes([digits, scale]))
    ),
    C.BIT: st.integers(1, 64).map(lambda bits: bytes([bits % 8, bits // 8])),
    **dict.fromkeys((C.TIMESTAMP2, C.DATETIME2, C.TIME2), st.integers(0, 6).map(lambda digits: bytes([digits]))),
    **dict.fromkeys((C.VARCHAR, C.STRING, C.VAR_STRING), st.sampled_from((b"\x09\x00", b"\xff\x01"))),
    **dict.fromkeys(
        (C.TINY_BLOB, C.BLOB, C.MEDIUM_BLOB, C.LONG_BLOB, C.JSON, C.GEOMETRY, C.VECTOR),
        st.integers(1, 4).map(lambda width: bytes([width])),
    ),
}
REFUSED = (C.DECIMAL, C.NEWDATE, C.BLOB_COMPRESSED, C.VARCHAR_COMPRESSED)


def of_code(code: ColumnCode, metadata: bytes, members: int, charset: str, *, is_unsigned: bool) -> ColumnStorage:
    names = tuple(f"m{index}" for index in range(members))
    return storage_of(code, metadata, is_unsigned=is_unsigned, charset=charset, members=names)


def storages(code: ColumnCode) -> st.SearchStrategy[ColumnStorage]:
    members = st.sampled_from((1, 9, 64) if code is C.SET else (1, 255, 300))
    charsets = st.sampled_from(("binary", "utf8mb4", "ucs2"))
    metadata = METADATA.get(code, st.just(b""))
    return st.builds(of_code, st.just(code), metadata, members, charsets, is_unsigned=st.booleans())


@pytest.mark.parametrize("code", [code for code in C if code not in REFUSED], ids=lambda code: code.name)
@given(data=st.data(), content=st.binary(max_size=40), behind=st.sampled_from((0x00, 0x7F, 0xFF)))
def test_the_bytes_of_a_null_are_never_used(code, data, content, behind):
    storage = data.draw(storages(code))
    at = np.array(sorted(data.draw(st.lists(st.integers(0, len(content)), min_size=1, max_size=5))), np.int64)
    cells = Cells(
        data=np.frombuffer(content + bytes([behind]) * PADDING, np.uint8),
        at=at,
        lengths=np.zeros_like(at) if storage.prefix else None,
        is_null=np.ones(len(at), np.bool_),
        name="t.c",
    )
    found = storage.decode(cells, storage.type, data.draw(st.sampled_from(ZeroDates)))
    found.validate(full=True)
    assert found.to_pylist() == [None] * len(at)
