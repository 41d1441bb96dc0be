"""String literals and what they stand for."""

from __future__ import annotations

__all__ = ["LITERALS"]

LITERALS = {
    "'a'": "a",
    "''": "",
    "'it''s'": "it's",
    "\"it''s\"": "it''s",
    '"a""b"': 'a"b',
    "'a\"\"b'": 'a""b',
    r"'a\'b\\c\n\t\Z\0'": "a'b\\c\n\t\x1a\0",
    r"'\b\r\'\"'": "\b\r'\"",
    r"'\u0041\U00000042\101'": "ABA",
    r"'\uD83D\uDE00 \u00e9 \U0001F600'": "😀 é 😀",
    r"'\377\08\18\u12\1\12\123\1234'": "377\x00818u12112SS4",
    r"'100\% \_'": r"100\% \_",
    r"'\d'": "d",
    r"r'\d\'": "\\d\\",
    'R"a\'b"': "a'b",
    "'two\nlines'": "two\nlines",
}
"""Literals that Spark accepts."""
