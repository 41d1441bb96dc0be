"""Text of others on a terminal: of records, names and servers."""

from __future__ import annotations


def plain(text: object, *, keep: str = "") -> str:
    """Return a text that cannot steer a terminal: what cannot be printed is written as in a Python literal.

    Args:
        text: whatever is to be shown.
        keep: characters that stay although they cannot be printed: line ends and tabs of a longer text.
    """
    return "".join(
        letter if letter.isprintable() or letter in keep else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in str(text)
    )
