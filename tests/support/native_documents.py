"""The C decoder of JSON held against the slow path, and schemas to try it on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.columns.partial_rows import PartialRows
from datasources.formats.json.native_path.native_decoder import NativeDecoder
from datasources.formats.json.slow_path import BadRecord, SlowPathDecoder
from datasources.grammar.zones import find_zone
from tests.support.decoded_values import plain

__all__ = ["check", "decoded", "exact_array", "narrowed", "random_ddl", "share_decoded"]

_SCALARS: Final = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ",
    "DECIMAL(10, 2)", "DECIMAL(38, 18)", "DECIMAL(38, 0)", "DECIMAL(3, 2)", "DECIMAL(19, 3)",
)  # fmt: skip
_NAMES: Final = ("a", "b", "user", "A", "`odd name`", "`ä.b`", "`x-y`", "a_name_of_more_than_eight_bytes", "``")


def exact_array(documents: Sequence[bytes | None]) -> pa.Array:
    """Texts in a buffer that ends where they end, so that a checked build notices a read behind them."""
    data = np.frombuffer(b"".join(each or b"" for each in documents) or b" ", np.uint8).copy()
    starts = np.cumsum([0, *(len(each or b"") for each in documents)]).astype(np.int32)
    mask = pa.array([each is not None for each in documents]).buffers()[1] if None in documents else None
    return pa.Array.from_buffers(pa.string(), len(documents), [mask, pa.py_buffer(starts), pa.py_buffer(data)])


def decoded(
    library: Any, schema: pa.Schema, documents: Sequence[bytes | None], zone: str | None, wanted: Sequence[pa.Field]
) -> PartialRows:
    """Decode and check that the arrays are consistent."""
    found = NativeDecoder(library, schema, wanted, zone and find_zone(zone)).decode(exact_array(documents))
    assert [column.type for column in found.columns] == [field.type for field in wanted]
    for column in found.columns:
        assert len(column) == len(documents)
        column.validate(full=True)
    return found


def check(
    library: Any,
    schema: pa.Schema,
    documents: Sequence[bytes | None],
    zone: str | None = "UTC",
    wanted: Sequence[pa.Field] | None = None,
) -> npt.NDArray[np.bool_]:
    """Hold what is decoded against the slow path; return which documents are. Those of wrong UTF-8 count as missing."""
    given = [each if each is not None and _is_utf8(each) else None for each in documents]
    fields = list(schema) if wanted is None else wanted
    found = decoded(library, schema, given, zone, fields)
    exact = SlowPathDecoder(schema, zone and find_zone(zone))
    rows: list[Sequence[object]] = [[None] * len(schema) for _ in given]
    for row in np.flatnonzero(found.is_done).tolist():
        rows[row] = _exact_row(exact, given[row])
    for field, column in zip(fields, found.columns, strict=True):
        at = schema.get_field_index(field.name)
        expected = plain(pa.array([row[at] for row in rows], field.type))
        pairs = zip(given, expected, plain(column), strict=True)
        different = [(document, one, other) for document, one, other in pairs if one != other]
        assert not different, (field, different[:3])
    return found.is_done


def share_decoded(library: Any, schema: pa.Schema, documents: Sequence[bytes]) -> float:
    """Return which share of the good documents is decoded, once they are held against the slow path."""
    exact = SlowPathDecoder(schema, find_zone("UTC"))
    good = [document for document in documents if _is_good(exact, document)]
    return float(check(library, schema, good).mean()) if good else 1.0


def narrowed(rng: random.Random, fields: Sequence[pa.Field], chance: float = 0.6) -> list[pa.Field]:
    """Return some of the fields in any order, and of their types at any depth some of the fields."""
    chosen = [field for field in fields if rng.random() < chance]
    rng.shuffle(chosen)
    return [field.with_type(_narrowed(rng, field.type, chance)) for field in chosen]


def random_ddl(rng: random.Random, depth: int = 4) -> str:
    """Return a schema of some columns, with types up to a depth, some of them NOT NULL."""
    return _fields(rng, depth, " ")


def _narrowed(rng: random.Random, arrow: pa.DataType, chance: float) -> pa.DataType:
    if pa.types.is_struct(arrow):
        return pa.struct(narrowed(rng, list(arrow), chance))
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_narrowed(rng, arrow.value_type, chance)))
    if pa.types.is_map(arrow):
        return pa.map_(arrow.key_field, arrow.item_field.with_type(_narrowed(rng, arrow.item_type, chance)))
    return arrow


def _fields(rng: random.Random, depth: int, colon: str) -> str:
    names = {name.lower(): name for name in rng.sample(_NAMES, rng.randint(1, 5))}.values()
    return ", ".join(f"{name}{colon}{_type(rng, depth - 1)}{rng.choice(('', '', '', ' NOT NULL'))}" for name in names)


def _type(rng: random.Random, depth: int) -> str:
    kind = rng.randrange(6) if depth else 5
    if kind == 0:
        return f"ARRAY<{_type(rng, depth - 1)}>"
    if kind == 1:
        return f"MAP<STRING, {_type(rng, depth - 1)}>"
    return f"STRUCT<{_fields(rng, depth, ': ')}>" if kind in {2, 3} else rng.choice(_SCALARS)


def _exact_row(exact: SlowPathDecoder, document: bytes | None) -> list[object]:
    assert document is not None
    try:
        return exact.row(document)
    except BadRecord as reason:
        raise AssertionError(document, str(reason)) from None


def _is_good(exact: SlowPathDecoder, document: bytes) -> bool:
    try:
        exact.row(document)
    except BadRecord:
        return False
    return True


def _is_utf8(document: bytes) -> bool:
    try:
        document.decode()
    except UnicodeDecodeError:
        return False
    return True
