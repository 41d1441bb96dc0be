"""Packets that are found many at once are those that a walk from one to the next finds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from datasources.mysql.connection.packet_walk import find_packets

HEADER_BYTES = 4


def contents(chance: random.Random, size: int, sequence: int, noise: str) -> bytes:
    if noise == "random":
        return chance.randbytes(size)
    if noise == "zeros":
        return bytes(size)
    # What looks like packets with the next sequence numbers, and is none.
    return b"".join(b"\4\0\0" + bytes([(sequence + n) % 256]) + b"abcd" for n in range(size // 8 + 1))[:size]


def stream(
    chance: random.Random, sizes: list[int], *, noise: str
) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint8]], list[int]]:
    """Packets of these sizes behind some bytes, the last one cut off; and where each begins."""
    parts, begins, at = [b"before!"], [], 7
    sequence = chance.randrange(256)
    for size in sizes:
        content = contents(chance, size, sequence, noise)
        begins.append(at)
        parts.append(size.to_bytes(3, "little") + bytes([sequence]) + content)
        at += HEADER_BYTES + size
        sequence = (sequence + 1) % 256
    data = b"".join(parts)
    return np.frombuffer(data[: len(data) - 3], np.uint8), begins


@pytest.mark.parametrize("noise", ["random", "zeros", "forged"])
@pytest.mark.parametrize("sizes", [(0, 30), (1, 120), (60, 61), (5, 900)])
def test_found_packets_are_those_of_a_walk(noise: str, sizes: tuple[int, int]):
    chance = random.Random(f"{noise} {sizes}")
    gained = 0
    for _ in range(5):
        lengths = [chance.randint(*sizes) for _ in range(600_000 // (sum(sizes) // 2 + HEADER_BYTES))]
        data, begins = stream(chance, lengths, noise=noise)
        found = find_packets(data, 7, len(data))
        if found is not None:
            assert found.tolist() == begins[: len(found)]
            assert len(found) > 0.9 * len(begins)
            gained += 1
    assert gained > 0 or noise == "forged"


def test_few_or_long_packets_are_left_to_the_caller():
    chance = random.Random(3)
    data, _ = stream(chance, [50] * 100, noise="random")
    assert find_packets(data, 7, len(data)) is None
    data, _ = stream(chance, [40_000] * 20, noise="random")
    assert find_packets(data, 7, len(data)) is None


def test_a_long_packet_among_short_ones_is_found_or_refused():
    chance = random.Random(4)
    lengths = [50] * 5000 + [300_000] + [50] * 5000
    data, begins = stream(chance, lengths, noise="random")
    found = find_packets(data, 7, len(data))
    assert found is None or found.tolist() == begins[: len(found)]
    data, begins = stream(chance, [50] * 20_000, noise="random")
    broken = data.copy()
    broken[begins[9000] : begins[9000] + 3] = 255
    assert find_packets(broken, 7, len(broken)) is None
