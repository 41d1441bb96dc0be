"""Random texts as slices of long ones, and the channels and URLs of bids.

The reference implementation draws the padding `extra` as a slice of a text of 1 MiB, so this does. Half of that text is
small letters, the other half, in groups of six, characters from `H` to `a`: Java's remainder of a negative number is
negative. One character in 52 is a backslash, which JSON escapes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.nexmark.generator.generator_config import Numbers

__all__ = ["ChannelTable", "TextPool", "extra_pool", "trimmed_words", "word_pool"]

_POOL_BYTES: Final = 1 << 20
_INLINE: Final = 12
"""A string view holds texts of up to so many bytes, and the first four of others."""
_PREFIX: Final = 4
_LETTERS: Final = 26
_GROUP: Final = 6
_SPECIAL_IN: Final = 13
_MIN_WORD: Final = 3
_HOT_CHANNELS: Final = ("Google", "Facebook", "Baidu", "Apple")
_CHANNELS: Final = 10_000
_WITHOUT_CHANNEL_IN: Final = 10
_URL_WORD: Final = 5
_SIGN: Final = 1 << 31
Bytes = npt.NDArray[np.uint8]


class TextPool:
    """A long text whose slices are texts of events.

    Args:
        text: of ASCII characters.
    """

    def __init__(self, text: Bytes) -> None:
        self._text = text
        is_escaped = text == ord("\\")
        self._escaped = np.repeat(text, 1 + is_escaped)
        self._escaped_at = np.concatenate([[0], np.cumsum(1 + is_escaped)]).astype(np.int32)

    def __len__(self) -> int:
        return len(self._text)

    def slices(self, at: Numbers, lengths: Numbers) -> pa.StringArray:
        """Return slices, by where they begin and how long they are."""
        return _slices(self._text, at.astype(np.int32), lengths.astype(np.int32))

    def json_slices(self, at: Numbers, lengths: Numbers) -> pa.StringArray:
        """Return the slices as they stand in JSON, without quotes."""
        begins = self._escaped_at[at]
        return _slices(self._escaped, begins, self._escaped_at[at + lengths] - begins)


def _slices(text: Bytes, at: npt.NDArray[np.int32], lengths: npt.NDArray[np.int32]) -> pa.StringArray:
    """Return slices of a text, by way of string views, which Arrow copies into a string array."""
    views = np.zeros((len(at), 4), np.int32)
    views[:, 0] = lengths
    views[:, 3] = at
    padded = np.concatenate([text, np.zeros(_INLINE, np.uint8)])
    views[:, 1] = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(padded, _PREFIX)[at]).view(np.int32)[
        :, 0
    ]
    short = np.flatnonzero(lengths <= _INLINE)
    if len(short):
        inline = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(padded, _INLINE)[at[short]])
        inline[np.arange(_INLINE) >= lengths[short, None]] = 0
        views[short, 1:] = inline.view(np.int32)
    buffers = [None, pa.py_buffer(views), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string_view(), len(at), buffers).cast(pa.string())


def extra_pool(seed: int) -> TextPool:
    """Return the pool of the padding."""
    random = np.random.default_rng([seed, 1])
    groups = -(-_POOL_BYTES // _GROUP)
    letters = random.integers(0, _LETTERS, (groups, _GROUP))
    signs = random.integers(0, 2, (groups, 1)) * 2 - 1
    return TextPool((ord("a") + letters * signs).astype(np.uint8).reshape(-1)[:_POOL_BYTES])


def word_pool(seed: int, special: str = " ") -> TextPool:
    """Return a pool of small letters, one in 13 of which is a special character."""
    return TextPool(_words(np.random.default_rng([seed, 2]), _POOL_BYTES, special))


def _words(random: np.random.Generator, length: int, special: str) -> Bytes:
    letters = random.integers(ord("a"), ord("a") + _LETTERS, length)
    return np.where(random.integers(0, _SPECIAL_IN, length) == 0, ord(special), letters).astype(np.uint8)


class ChannelTable:
    """Channels and their URLs: half of the bids come by one of four, the others by one of 10,000.

    Args:
        seed: of the URLs.
    """

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng([seed, 3])
        hot = [(name, _base_url(random)) for name in _HOT_CHANNELS]
        others = [(f"channel-{number}", _channel_url(random, number)) for number in range(_CHANNELS)]
        self.names = pa.array([name for name, _ in hot + others])
        self.urls = pa.array([url for _, url in hot + others])

    @staticmethod
    def indices(draws: Any) -> npt.NDArray[np.int32]:
        """Return the channel of each event of `EventRandom`, as an index into names and URLs."""
        is_hot = draws.below("hot channel", 2) > 0
        hot, other = draws.below("channel", len(_HOT_CHANNELS)), draws.below("channel", _CHANNELS)
        indices: npt.NDArray[np.int32] = np.where(is_hot, hot, len(_HOT_CHANNELS) + other).astype(np.int32)
        return indices


def _base_url(random: np.random.Generator) -> str:
    words = (_words(random, _MIN_WORD + int(random.integers(0, _URL_WORD - _MIN_WORD)), "_") for _ in range(3))
    return f"https://www.nexmark.com/{'/'.join(word.tobytes().decode() for word in words)}/item.htm?query=1"


def _channel_url(random: np.random.Generator, number: int) -> str:
    url = _base_url(random)
    if not random.integers(0, _WITHOUT_CHANNEL_IN):
        return url
    reversed_bits = int(f"{number:032b}"[::-1], 2)
    signed = reversed_bits - 2 * _SIGN if reversed_bits >= _SIGN else reversed_bits
    channel = signed if signed == -_SIGN else abs(signed)  # Java's absolute value of the smallest integer is itself
    return f"{url}&channel_id={channel}"


def trimmed_words(pool: TextPool, draws: Any, what: str, max_length: int) -> pa.StringArray:
    """Return a text of 3 to max_length - 1 characters for each event, without the blanks at its ends."""
    lengths = _MIN_WORD + draws.below(f"{what} length", max_length - _MIN_WORD)
    at = draws.below(f"{what} slice", len(pool) - max_length)
    return pc.ascii_trim(pool.slices(at, lengths), characters=" ")
