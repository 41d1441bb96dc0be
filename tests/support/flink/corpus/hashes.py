"""Hashes of texts, and functions of the catalogue."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import each, lines

EXPRESSIONS: Final = (
    *each(
        "{f}({x})",
        f=("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512"),
        x=("s", "c", "''", "'é😀'", "CAST(NULL AS STRING)", "i", "bin"),
    ),
    *each(
        "SHA2({x}, {n})", x=("s", "'abc'", "bin"), n=("224", "256", "384", "512", "0", "1", "i2", "CAST(NULL AS INT)")
    ),
    *lines(
        r"""
        MD5('abc')
        MD5(NULL)
        SHA1('')
        SHA256('a', 'b')
        SHA2('abc')
        CRC32('abc')
        HASH_CODE(s)
        CURRENT_DATABASE()
        CURRENT_USER
        USER
        """
    ),
)
