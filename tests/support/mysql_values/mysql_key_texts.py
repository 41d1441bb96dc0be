"""Texts that collations order in ways that clients get wrong, and tables that hold them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CollatedColumn", "collations", "hostile_texts"]

LENGTH = 60
# Case, accents, expansions, contractions, ligatures, ignorable characters, what is below a space, other scripts, digits
# of several kinds, characters beyond U+FFFF.
SYLLABLES = ["a", "A", "b", "s", "S", "ss", "ß", "ẞ", "ae", "ä", "Ä", "æ", "oe", "ö", "é", "e\u0301", "e", "\u0301"]
SYLLABLES += [
    "\u00ad",
    "\u200d",
    "\0",
    "\x01",
    "\t",
    "\n",
    " ",
    "  ",
    "\u00a0",
    "\u3000",
    "!",
    "-",
    "'",
    "\\",
    "%",
    "?",
]
SYLLABLES += [
    "1",
    "10",
    "9",
    "½",
    "²",
    "\u0e50",
    "\U0001d7d8",
    "ch",
    "c",
    "h",
    "ll",
    "dz",
    "dž",
    "ĳ",
    "ij",
    "ŀ",
    "st",
    "ﬆ",
]
SYLLABLES += [
    "ﬁ",
    "ł",
    "İ",
    "\u0131",
    "i",
    "I",
    "ﾊﾟ",
    "ハ",
    "は",
    "ー",
    "ｱ",
    "\uff21",
    "日",
    "本",
    "한",
    "\u03b1",
    "ά",
    "Σ",
]
SYLLABLES += ["ς", "я", "Ё", "ё", "\u0627", "א", "ก", "เก", "😀", "𐐀", "𐐨", "\uffff", "\ufffd"]


@dataclass(frozen=True)
class CollatedColumn:
    """A column's type.

    Attributes:
        kind: ``CHAR`` or ``VARCHAR``.
        charset: Its character set.
        collation: Its collation.
    """

    kind: str
    charset: str
    collation: str

    def __str__(self) -> str:
        return f"{self.kind}({LENGTH}) CHARACTER SET {self.charset} COLLATE {self.collation}"

    def create(self, cursor: Any, table: str, texts: Sequence[str]) -> int:
        """Create a table with all texts that the character set has, in an index that is not unique; return how many."""
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, k {self} NOT NULL, KEY k (k))")
        contents = self._contents(cursor, texts)
        rows = ", ".join(f"({at}, CONVERT({_literal(text)} USING {self.charset}))" for at, text in enumerate(contents))
        cursor.execute(f"INSERT INTO {table} VALUES {rows}")
        return len(contents)

    def _contents(self, cursor: Any, texts: Sequence[str]) -> list[str]:
        there_and_back = (f"CONVERT(CONVERT({_literal(text)} USING {self.charset}) USING utf8mb4)" for text in texts)
        cursor.execute(f"SELECT {', '.join(there_and_back)}")
        return [text for text, its in zip(texts, cursor.fetchone(), strict=True) if its == text]


def hostile_texts(count: int) -> list[str]:
    """Return different texts: every syllable alone and beside spaces, then random ones."""
    chance = random.Random(17)
    found: dict[str, None] = dict.fromkeys(["", *SYLLABLES])
    found |= dict.fromkeys(form for each in SYLLABLES for form in (f"{each} ", f"{each}\t", f"a{each}"))
    found |= dict.fromkeys(each * (LENGTH - 1) for each in ("a", "ß", "日"))
    while len(found) < count:
        found["".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 5)))] = None
    return list(found)


def collations(cursor: Any, *, is_mariadb: bool) -> Iterable[tuple[str, str]]:
    """Return every collation of texts that a server has, with its character set."""
    table, name = "collations", "collation_name"
    if is_mariadb:
        table, name = "collation_character_set_applicability", "full_collation_name"
    cursor.execute(
        f"SELECT character_set_name, {name} FROM information_schema.{table} "
        f"WHERE character_set_name NOT IN ('binary', 'filename') ORDER BY 1, 2"
    )
    return [(str(charset), str(collation)) for charset, collation in cursor.fetchall()]


def _literal(text: str) -> str:
    return f"_utf8mb4 x'{text.encode().hex()}'"
