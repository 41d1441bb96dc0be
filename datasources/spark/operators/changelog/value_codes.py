"""Values as integers: codes that are equal where values are, ranks that are ordered as values are, and hashes.

Equality is that of GROUP BY: NULL equals NULL, -0.0 equals 0.0, every NaN equals every other. The order is that of
ORDER BY: NaN is the largest number, text and binary are compared by their bytes, structs field by field, lists element
by element, with NULL as the smallest within structs and lists. Hashes are stored, so they never change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.native import native
from datasources.spark.operators.buckets.partition_keys import canonical_floats, python_values, value_key
from datasources.spark.operators.changelog.changes import Ints

Hashes = NDArray[np.uint64]
_MAX_CODES: Final = 1 << 62
_NULL_HASH: Final = np.uint64(0x9E3779B97F4A7C15)
_BYTE_FACTOR: Final = np.uint64(0x100000001B3)


def canonical_values(array: Any) -> Any:
    """Return the values with one representation of each: 0.0 for -0.0, a single NaN; also inside structs and lists."""
    if pa.types.is_floating(array.type):
        return canonical_floats(array)
    if not _has_floats(array.type):
        return array
    if pa.types.is_list(array.type):
        array = array.take(pa.array(np.arange(len(array))))  # a mask needs an array that is no slice
        return pa.ListArray.from_arrays(
            array.offsets, canonical_values(array.values), type=array.type, mask=array.is_null()
        )
    if pa.types.is_struct(array.type):
        fields = [canonical_values(each) for each in array.flatten()]
        return pa.StructArray.from_arrays(fields, fields=list(array.type), mask=array.is_null())
    return array


def _has_floats(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _has_floats(kind.value_type)
    if pa.types.is_struct(kind):
        return any(_has_floats(each.type) for each in kind)
    return bool(pa.types.is_floating(kind))


def value_codes(array: Any) -> tuple[Ints, int]:
    """Return a code per canonical value, equal where they are, and a number that all codes are below."""
    return _coded(array, is_ranked=False)


def value_ranks(array: Any, *, is_ascending: bool = True, is_nulls_first: bool = True) -> tuple[Ints, int]:
    """Return a rank per canonical value, ordered as they are, and a number that all ranks are below."""
    ranks, count = _coded(array, is_ranked=True)
    ranks = ranks if is_ascending else count - 1 - ranks
    nulls = array.is_null().to_numpy(zero_copy_only=False)
    return np.where(nulls, 0 if is_nulls_first else count + 1, ranks + 1), count + 2


def combined_codes(parts: Sequence[tuple[Ints, int]], rows: int) -> tuple[Ints, int]:
    """Return the codes of rows by the codes of their parts, ordered by the first, then the second, and so on."""
    codes, count = np.zeros(rows, dtype=np.int64), 1
    for part, part_count in parts:
        if count * part_count >= _MAX_CODES:
            _, codes = np.unique(codes, return_inverse=True)
            count = int(codes.max(initial=0)) + 1
        codes, count = codes * part_count + part, count * part_count
    return codes, count


def _coded(array: Any, *, is_ranked: bool) -> tuple[Ints, int]:
    """Return codes or ranks; those of NULLs are equal and the smallest."""
    if pa.types.is_struct(array.type) and array.type.num_fields:
        parts = [_coded(each, is_ranked=is_ranked) for each in array.flatten()]
        validity = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=np.int64)
        return combined_codes([(validity, 2), *parts], len(array))
    if pa.types.is_nested(array.type) or pa.types.is_null(array.type):
        return _object_ranks(python_values(array))
    encoded = array.dictionary_encode()
    indices = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    count = len(encoded.dictionary)
    if is_ranked:
        ranks = np.empty(count + 1, dtype=np.int64)
        ranks[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(count)
        ranks[-1] = -1
        indices = ranks[indices]
    return indices + 1, count + 1


def _object_ranks(values: list[Any]) -> tuple[Ints, int]:
    keys = [value_key(value) for value in values]
    ranks = {key: rank for rank, key in enumerate(sorted({(0,), *keys}))}
    return np.array([ranks[key] for key in keys], dtype=np.int64), len(ranks)


def value_hashes(array: Any) -> Hashes:
    """Return a hash per canonical value."""
    kind = array.type
    if pa.types.is_struct(kind) and kind.num_fields:
        return mixed_hashes([value_hashes(each) for each in (array.is_valid(), *array.flatten())])
    if pa.types.is_decimal128(kind):
        hashes = mixed_hashes(list(_words(array, 2).T))
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        hashes = _byte_hashes(array)
    elif pa.types.is_list(kind):
        hashes = _sequence_hashes(value_hashes(array.values), array.offsets.to_numpy().astype(np.int64))
    elif pa.types.is_boolean(kind):
        hashes = mixed_hashes([array.cast(pa.int64()).fill_null(0).to_numpy().view(np.uint64)])
    elif pa.types.is_primitive(kind):
        number = array.view(pa.int64() if kind.bit_width == 64 else _SIGNED[kind.bit_width]).cast(pa.int64())  # noqa: PLR2004
        hashes = mixed_hashes([number.fill_null(0).to_numpy().view(np.uint64)])
    else:
        return np.array([_object_hash(value) for value in array.to_pylist()], dtype=np.uint64)
    return np.where(array.is_null().to_numpy(zero_copy_only=False), _NULL_HASH, hashes)


_SIGNED: Final = {8: pa.int8(), 16: pa.int16(), 32: pa.int32()}


def mixed_hashes(parts: Sequence[Hashes]) -> Hashes:
    """Return the hashes of rows by the numbers of their parts."""
    mixed = np.full(len(parts[0]), _NULL_HASH)
    for part in parts:  # the finalizer of splitmix64
        mixed = (mixed * _BYTE_FACTOR) ^ part
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _words(array: Any, per_value: int) -> Hashes:
    words = np.frombuffer(array.buffers()[1] or b"", dtype=np.uint64)
    return words[: len(words) // per_value * per_value].reshape(-1, per_value)[array.offset : array.offset + len(array)]


def _byte_hashes(array: Any) -> Hashes:
    """Return the hashes of texts as sequences of bytes."""
    array = pa.concat_arrays([array.fill_null(b"" if pa.types.is_binary(array.type) else "")])
    offsets = np.frombuffer(array.buffers()[1] or bytes(4), dtype=np.int32)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2] or b"", dtype=np.uint8)
    library = native()
    if library is None:
        return _sequence_hashes(data.astype(np.uint64), offsets.astype(np.int64))
    return _with_lengths(library.byte_hashes(data, offsets, int(_BYTE_FACTOR)), np.diff(offsets))


def _sequence_hashes(items: Hashes, offsets: Ints) -> Hashes:
    """Return hashes of sequences of items: polynomials, mixed with the lengths."""
    lengths, hashes = np.diff(offsets), np.zeros(len(offsets) - 1, dtype=np.uint64)
    filled = np.flatnonzero(lengths)
    if len(filled):
        starts, items = offsets[:-1] - offsets[0], items[offsets[0] : offsets[-1]]
        powers = np.cumprod(np.full(int(lengths.max()), _BYTE_FACTOR))
        at = np.arange(len(items)) - np.repeat(starts, lengths)
        hashes[filled] = np.add.reduceat((items + np.uint64(1)) * powers[at], starts[filled])
    return _with_lengths(hashes, lengths)


def _with_lengths(hashes: Hashes, lengths: NDArray[np.integer]) -> Hashes:
    return mixed_hashes([hashes, lengths.astype(np.uint64)])


def _object_hash(value: Any) -> int:
    return int.from_bytes(hashlib.blake2b(repr(value_key(value)).encode(), digest_size=8).digest(), "little")
