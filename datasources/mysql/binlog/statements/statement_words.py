"""A cursor over a statement's tokens, scanned lazily."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import Final

from datasources.mysql.binlog.statements.statement_tokens import is_name, tokens_of, unquoted

__all__ = ["StatementWords", "UnclearError"]

Name = tuple[str, str]
_NAMING_OTHERS: Final = re.compile(r"rename|table", re.IGNORECASE)


class UnclearError(Exception):
    """A statement does not have the form that its first words imply."""


class StatementWords:
    """A cursor over a statement's tokens.

    Args:
        text: the statement.
        sql_mode: of its session.
        skipped: how many tokens to skip.
    """

    def __init__(self, text: str, sql_mode: int, skipped: int) -> None:
        self._text = text
        self._tokens = islice(tokens_of(text, sql_mode), skipped, None)
        self._ahead: list[str] = []

    def peek(self) -> str:
        """Return the next token; empty behind the last one."""
        if not self._ahead:
            self._ahead = [next(self._tokens, "")]
        return self._ahead[0]

    def take(self) -> str:
        """Return the next token and advance."""
        token, self._ahead = self.peek(), []
        return token

    def accept(self, *words: str) -> bool:
        """Advance over one of these words if it comes next; return whether it did."""
        return self.peek().upper() in words and bool(self.take())

    def name(self, database: str) -> Name:
        """Return database and table of the name that comes next, and advance.

        Raises:
            UnclearError: the next token is no name.
        """
        first = self._part()
        if self.peek() != ".":
            return database, first
        self.take()
        return first, self._part()

    @property
    def may_name_others(self) -> bool:
        """Whether ALTER TABLE may name a second table: a cheap check of a long text."""
        return len(list(islice(_NAMING_OTHERS.finditer(self._text), 2))) > 1

    def rest(self) -> list[str]:
        """Return the remaining tokens."""
        return [token for token in chain([self.take()], self._tokens) if token]

    def _part(self) -> str:
        token = self.take()
        if not is_name(token):
            raise UnclearError
        return unquoted(token)
