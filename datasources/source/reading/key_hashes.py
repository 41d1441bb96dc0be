"""Spark's `xxhash64` over Arrow columns: the same numbers, for rows that are packed before Spark sees them.

XXH64 with the hash so far as its seed, column by column, 42 at first; NULL leaves the hash as it is. Numbers of up to
32 bits are hashed as four bytes, others as eight, decimals of more than 18 digits as the bytes of a Java BigInteger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.native import native

Hashes = NDArray[np.uint64]
_SEED: Final = 42
_PRIMES: Final = tuple(
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
    )
)  # fmt: skip
_MASK: Final = (1 << 64) - 1
_LONG_DECIMAL: Final = 18
_SMALL_BITS: Final = 32


def is_hashable(kind: pa.DataType) -> bool:
    """Return whether `spark_hashes` takes columns of a type."""
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_decimal128(kind)
    )


def spark_hashes(columns: Sequence[Any], rows: int) -> NDArray[np.int64]:
    """Return the hash of each row, a BIGINT in Spark.

    Args:
        columns: arrays of types that are hashable. -0.0 counts as 0.0, and every NaN as the same.
        rows: how many rows there are.
    """
    hashes = np.full(rows, _SEED, np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            hashed = _hashed(column, hashes)
            hashes = np.where(column.is_valid().to_numpy(zero_copy_only=False), hashed, hashes)
    return hashes.view(np.int64)


def _hashed(column: Any, seeds: Hashes) -> Hashes:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _of_bytes(column, seeds)
    if pa.types.is_decimal128(kind):
        return _of_decimals(column, seeds)
    if pa.types.is_boolean(kind):
        return _of_small(column.cast(pa.int32()).fill_null(0).to_numpy(), seeds)
    if pa.types.is_floating(kind):
        return _of_floats(column, seeds)
    bits = kind.bit_width
    if pa.types.is_integer(kind) and bits < _SMALL_BITS:
        column, bits = column.cast(pa.int32()), _SMALL_BITS
    number = column.view(pa.int32() if bits == _SMALL_BITS else pa.int64()).fill_null(0).to_numpy()
    return _of_small(number, seeds) if bits == _SMALL_BITS else _of_large(number, seeds)


def _of_floats(column: Any, seeds: Hashes) -> Hashes:
    numbers = column.fill_null(0.0).to_numpy()
    numbers = np.where(np.isnan(numbers), np.nan, np.where(numbers == 0, 0.0, numbers)).astype(numbers.dtype)
    if numbers.dtype == np.float32:
        return _of_small(numbers.view(np.int32), seeds)
    return _of_large(numbers.view(np.int64), seeds)


def _of_small(values: NDArray[np.int32], seeds: Hashes) -> Hashes:
    p1, p2, p3, _, p5 = _PRIMES
    hashes = (seeds + p5 + np.uint64(4)) ^ (values.astype(np.int64).view(np.uint64) & np.uint64(0xFFFFFFFF)) * p1
    return _mixed(_rotated(hashes, 23) * p2 + p3)


def _of_large(values: NDArray[np.int64], seeds: Hashes) -> Hashes:
    p1, p2, _, p4, p5 = _PRIMES
    hashes = (seeds + p5 + np.uint64(8)) ^ _rotated(values.view(np.uint64) * p2, 31) * p1
    return _mixed(_rotated(hashes, 27) * p1 + p4)


def _mixed(hashes: Hashes) -> Hashes:
    _, p2, p3, _, _ = _PRIMES
    hashes = (hashes ^ (hashes >> np.uint64(33))) * p2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * p3
    return hashes ^ (hashes >> np.uint64(32))


def _rotated(values: Hashes, bits: int) -> Hashes:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _of_decimals(column: Any, seeds: Hashes) -> Hashes:
    words = np.frombuffer(column.buffers()[1] or b"", np.int64)
    words = words[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2)
    if column.type.precision <= _LONG_DECIMAL:
        return _of_large(np.ascontiguousarray(words[:, 0]), seeds)
    texts = [_big_integer((int(high) << 64) | (int(low) & _MASK)) for low, high in words]
    return _of_bytes(pa.array(texts, pa.binary()), seeds)


def _big_integer(value: int) -> bytes:
    """Return the bytes of `java.math.BigInteger.toByteArray`."""
    return value.to_bytes((value + (value < 0)).bit_length() // 8 + 1, "big", signed=True)


def _of_bytes(column: Any, seeds: Hashes) -> Hashes:
    offsets = np.frombuffer(column.buffers()[1] or bytes(4), np.int32)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)
    library = native()
    if library is not None:
        return library.xxhash64(data, offsets, seeds)
    whole = data.tobytes()
    bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), seeds.tolist(), strict=True)
    return np.array([_xxh64(whole[first:end], seed) for first, end, seed in bounds], np.uint64)


def _xxh64(data: bytes, seed: int) -> int:
    """Return XXH64 of bytes, as its specification has it."""
    p1, p2, p3, p4, p5 = map(int, _PRIMES)
    at, end = 0, len(data)
    if end >= 32:  # noqa: PLR2004 - a stripe
        accumulators = [(seed + p1 + p2) & _MASK, (seed + p2) & _MASK, seed, (seed - p1) & _MASK]
        while at + 32 <= end:
            for number in range(4):
                accumulators[number] = _round(accumulators[number], int.from_bytes(data[at : at + 8], "little"))
                at += 8
        value = sum(_turned(each, bits) for each, bits in zip(accumulators, (1, 7, 12, 18), strict=True)) & _MASK
        for each in accumulators:
            value = ((value ^ _round(0, each)) * p1 + p4) & _MASK
    else:
        value = (seed + p5) & _MASK
    value = (value + end) & _MASK
    while at + 8 <= end:
        value ^= _round(0, int.from_bytes(data[at : at + 8], "little"))
        value = (_turned(value, 27) * p1 + p4) & _MASK
        at += 8
    if at + 4 <= end:
        value ^= (int.from_bytes(data[at : at + 4], "little") * p1) & _MASK
        value = (_turned(value, 23) * p2 + p3) & _MASK
        at += 4
    for byte in data[at:]:
        value = (_turned(value ^ (byte * p5 & _MASK), 11) * p1) & _MASK
    value = (value ^ (value >> 33)) * p2 & _MASK
    value = (value ^ (value >> 29)) * p3 & _MASK
    return value ^ (value >> 32)


def _round(accumulator: int, word: int) -> int:
    p1, p2, *_ = map(int, _PRIMES)
    return _turned((accumulator + word * p2) & _MASK, 31) * p1 & _MASK


def _turned(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK
