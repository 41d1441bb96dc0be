"""The clauses of ALTER TABLE: which of them change captured rows or columns.

An unknown clause stops the query: a new server may have clauses that are not listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from datasources.mysql.binlog.statements.statement_tokens import unquoted
from datasources.mysql.ddl.columns import ColumnDefinition, parse_column
from datasources.mysql.ddl.stored_type import StoredType, keeps_values

_NO_COLUMNS: Final = frozenset({"PERIOD", "SYSTEM", "PARTITION", "CONSTRAINT", "PRIMARY"})
_REDEFINING: Final = frozenset({"MODIFY", "CHANGE"})
CHANGES_PRIMARY_KEY: Final = "changes the primary key, which identifies rows"
"""A stop reason."""
_UNKNOWN: Final = "has an unknown clause"
_INDEX_WORDS: Final = frozenset({"INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK"})
_PARTITION_STOPS: Final = frozenset({"DROP", "TRUNCATE", "EXCHANGE", "DISCARD", "IMPORT", "REPAIR", "CONVERT"})
_PARTITION_PASSES: Final = frozenset({"ADD", "COALESCE", "REORGANIZE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD"})
_OPTIONS: Final = frozenset(
    {
        "ALGORITHM",
        "AUTOEXTEND_SIZE",
        "AUTO_INCREMENT",
        "AVG_ROW_LENGTH",
        "CHECKSUM",
        "COMMENT",
        "COMPRESSION",
        "DELAY_KEY_WRITE",
        "ENCRYPTION",
        "ENGINE_ATTRIBUTE",
        "FORCE",
        "KEY_BLOCK_SIZE",
        "LOCK",
        "MAX_ROWS",
        "MIN_ROWS",
        "PACK_KEYS",
        "PAGE_CHECKSUM",
        "PAGE_COMPRESSED",
        "ROW_FORMAT",
        "SECONDARY_ENGINE",
        "SECONDARY_ENGINE_ATTRIBUTE",
        "SECONDARY_LOAD",
        "SECONDARY_UNLOAD",
        "STATS_AUTO_RECALC",
        "STATS_PERSISTENT",
        "STATS_SAMPLE_PAGES",
        "TRANSACTIONAL",
        "COLLATE",
        "CHARSET",
    }
)
_NO_AUTO_VALUE_ON_ZERO: Final = 1 << 19
"""Bit of sql_mode."""
LOGGED_ENGINES: Final = frozenset({"INNODB", "ROCKSDB"})


@dataclass(frozen=True, slots=True)
class DeclaredColumns:
    """The captured columns of a table.

    Attributes:
        types: names, lower case, to the types before the statement; None where the type is not known. No mapping =
            every column is captured.
        sql_mode: of the statement's session.
        spelled: names, lower case, to their declared spelling.
    """

    types: dict[str, StoredType | None] | None
    sql_mode: int = 0
    spelled: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether a column is captured."""
        return self.types is None or name.lower() in self.types

    def type_of(self, name: str) -> StoredType | None:
        """Return a column's type, if it is known."""
        return None if self.types is None else self.types.get(name.lower())

    def spelling_of(self, name: str) -> str:
        """Return a column's name in its declared spelling."""
        return self.spelled.get(name.lower(), name)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause, its tokens in upper case, and the captured columns."""

    tokens: list[str]
    words: list[str]
    declared: DeclaredColumns


def split_clauses(tokens: list[str]) -> Iterator[list[str]]:
    """Yield the clauses behind the table's name, split at commas outside of parentheses."""
    clause: list[str] = []
    depth = 0
    for sign in tokens:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0 and not _takes_rest(clause):
            yield clause
            clause = []
        else:
            clause.append(sign)
    if clause:
        yield clause


def stop_reason(clause: list[str], declared: DeclaredColumns) -> str | None:
    """Return the reason for which a clause stops the query; None if it does not.

    Args:
        clause: its tokens.
        declared: the captured columns of the table.
    """
    words = [token.upper() for token in clause]
    if words[0] == "PARTITION" or "PARTITION" in words[1:2] or words[:2] == ["REMOVE", "PARTITIONING"]:
        return _partition(words)
    if words[0] in _ALWAYS:
        return _ALWAYS[words[0]]
    rule = _RULES.get(words[0])
    return _options(words) if rule is None else rule(_Clause(clause, words, declared))


def _takes_rest(clause: list[str]) -> bool:
    """Lists of partitions and of ORDER BY columns have commas of their own, and come last."""
    words = [token.upper() for token in clause[:2]]
    return "PARTITION" in words or words == ["ORDER", "BY"]


def _partition(words: list[str]) -> str | None:
    if words[0] in ("PARTITION", "REMOVE") or words[0] in _PARTITION_PASSES:
        return None
    if words[0] in _PARTITION_STOPS:
        return f"changes rows without row events ({words[0]} PARTITION)"
    return _UNKNOWN


def _add(each: _Clause) -> str | None:
    words = each.words
    if words[1:3] == ["SYSTEM", "VERSIONING"]:
        return "adds a history (SYSTEM VERSIONING): from here on old rows are in the binlog among current ones"
    if words[1:2] == ["CONSTRAINT"]:
        kinds = [word for word in words[2:4] if word in _INDEX_WORDS or word == "PRIMARY"]
        words = ["ADD", *kinds]
    if words[1:2] == ["PRIMARY"]:
        return CHANGES_PRIMARY_KEY
    if words[1:2] and words[1] in _INDEX_WORDS:
        return None
    reasons = (_added(definition, each.declared) for definition in _definitions(each.tokens))
    return next((reason for reason in reasons if reason is not None), None)


def _definitions(clause: list[str]) -> list[list[str]]:
    """Return what an ADD clause adds: one definition, or a list of columns and indexes in parentheses."""
    words = [token.upper() for token in clause]
    at = 1 + (words[1:2] == ["COLUMN"])
    if words[at : at + 3] == ["IF", "NOT", "EXISTS"]:
        at += 3
    return [clause[at:]] if clause[at : at + 1] != ["("] else list(split_clauses(clause[at + 1 : -1]))


def added_columns(clauses: Iterable[list[str]]) -> list[str]:
    """Return the names of the columns that clauses add, in order."""
    adding = [clause for clause in clauses if clause[0].upper() == "ADD"]
    words = _INDEX_WORDS | _NO_COLUMNS
    columns = [clause for clause in adding if clause[1:2] and clause[1].upper() not in words]
    definitions = (definition for clause in columns for definition in _definitions(clause))
    return [unquoted(each[0]) for each in definitions if len(each) > 1 and each[0].upper() not in words]


def _added(definition: list[str], declared: DeclaredColumns) -> str | None:
    if len(definition) <= 1:
        return _UNKNOWN
    if definition[0].upper() in _INDEX_WORDS:
        return None
    name, column = unquoted(definition[0]), _column(definition[1:])
    if column is None or definition[0].upper() in _NO_COLUMNS:
        return f"adds column '{name}' with a definition that cannot be read"
    if column.is_primary:
        return CHANGES_PRIMARY_KEY
    return _filled(name, column) if declared.has(name) else None


def _filled(name: str, column: ColumnDefinition) -> str | None:
    """Return a stop reason if a new captured column has values in existing rows."""
    if column.is_not_null or column.fills_rows:
        return f"adds column '{name}' with a value for existing rows (NOT NULL, DEFAULT or an expression)"
    if column.is_timestamp and not column.is_null:
        return f"adds column '{name}' as TIMESTAMP without NULL, which some settings treat as NOT NULL with a default"
    return None


def _drop(each: _Clause) -> str | None:
    clause, words, declared = each.tokens, each.words, each.declared
    if words[1:3] == ["SYSTEM", "VERSIONING"]:
        return "drops the history (SYSTEM VERSIONING): until here old rows were in the binlog among current ones"
    if words[1:2] == ["PRIMARY"]:
        return CHANGES_PRIMARY_KEY
    if words[1:2] and (words[1] in _INDEX_WORDS or words[1] == "CONSTRAINT"):
        return None
    at = 1 + (words[1:2] == ["COLUMN"])
    if words[at : at + 2] == ["IF", "EXISTS"]:
        at += 2
    if len(clause) != at + 1 and words[at + 1 :] not in (["RESTRICT"], ["CASCADE"]):
        return _UNKNOWN
    name = unquoted(clause[at])
    return f"drops column '{name}', which is read" if declared.has(name) else None


def _modify(each: _Clause) -> str | None:
    found = _redefinition(each.tokens)
    if found is None:
        return _UNKNOWN
    old_name, new_name, column = found
    old_name = each.declared.spelling_of(old_name)
    # Servers write a column's name as the clause does, in MODIFY too, and the binlog has only that spelling.
    if old_name != new_name:
        renamed = _renamed(old_name, new_name, each.declared)
        if renamed is not None:
            return renamed
    if not each.declared.has(old_name):
        return None
    return _redefined(old_name, column, each.declared.type_of(old_name), each.declared.sql_mode)


def redefined_columns(clauses: Iterable[list[str]]) -> dict[str, ColumnDefinition | None]:
    """Return the redefined columns that keep their names, in lower case; None = the definition cannot be read."""
    return {old.lower(): column for old, new, column in _redefinitions(clauses) if old.lower() == new.lower()}


def redefined_names(clauses: Iterable[list[str]]) -> frozenset[str]:
    """Return the names, in lower case, before and after, of all redefined columns."""
    return frozenset(name.lower() for old, new, _ in _redefinitions(clauses) for name in (old, new))


def _redefinitions(clauses: Iterable[list[str]]) -> Iterator[tuple[str, str, ColumnDefinition | None]]:
    found = (_redefinition(clause) for clause in clauses if clause[0].upper() in _REDEFINING)
    yield from (each for each in found if each is not None)


def _redefinition(clause: list[str]) -> tuple[str, str, ColumnDefinition | None] | None:
    """Return the names before and after of MODIFY or CHANGE, and the definition; None if it ends too early."""
    words = [token.upper() for token in clause]
    at = 1 + (words[1:2] == ["COLUMN"])
    if words[at : at + 2] == ["IF", "EXISTS"]:
        at += 2
    new = at + (words[0] == "CHANGE")
    if len(clause) <= new + 1:
        return None
    return unquoted(clause[at]), unquoted(clause[new]), _column(clause[new + 1 :])


def _redefined(name: str, column: ColumnDefinition | None, old: StoredType | None, sql_mode: int) -> str | None:
    """Return a stop reason unless a captured column keeps its values: its old type is known, and preserved."""
    may_change = f"may change the type of column '{name}', which is read, and its values without row events"
    if column is None or column.type is None or old is None or not column.is_plain:
        return may_change
    if column.is_not_null and not old.is_not_null:
        return f"makes column '{name}', which is read, NOT NULL, by which values may change without row events"
    if column.is_timestamp and not (column.is_null or old.is_not_null):
        return f"defines column '{name}' as TIMESTAMP without NULL, which some settings treat as NOT NULL"
    if column.is_auto_increment and not sql_mode & _NO_AUTO_VALUE_ON_ZERO:
        return f"makes column '{name}', which is read, AUTO_INCREMENT: where it was not, a row with 0 gets a new number"
    new = column.type if column.type.charset else replace(column.type, charset=old.charset)
    return None if keeps_values(old, new, sql_mode) else may_change


def _rename(each: _Clause) -> str | None:
    if each.words[1:2] == ["COLUMN"]:
        if len(each.tokens) != 5:  # noqa: PLR2004 - RENAME COLUMN a TO b
            return _UNKNOWN
        return _renamed(unquoted(each.tokens[2]), unquoted(each.tokens[4]), each.declared)
    return None  # indexes; renames of the table are classified with the statement


def _renamed(old: str, new: str, declared: DeclaredColumns) -> str | None:
    for name in (old, new):
        if declared.has(name):
            return f"renames column '{old}' to '{new}', and '{name}' is read"
    return None


_RULES: Final[dict[str, Callable[[_Clause], str | None]]] = {
    "ADD": _add,
    "DROP": _drop,
    "MODIFY": _modify,
    "CHANGE": _modify,
    "RENAME": _rename,
}
_REPLACED: Final = "replaces the table's rows without row events"
_ALWAYS: Final[dict[str, str | None]] = {
    "CONVERT": "converts texts to another character set, which may change values without row events",
    "DISCARD": _REPLACED,
    "IMPORT": _REPLACED,
    "ALTER": None,  # defaults, visibility, checks: for new rows
    "ORDER": None,
    "ENABLE": None,
    "DISABLE": None,
    "WITH": None,
    "WITHOUT": None,
}


def _options(words: list[str]) -> str | None:
    """Return a stop reason for table options, each with a value that may follow ``=``."""
    at = 0
    while at < len(words):
        if words[at] == "DEFAULT":
            at += 1
        if words[at : at + 2] == ["CHARACTER", "SET"]:
            at += 1
        elif words[at : at + 1] == ["ENGINE"]:
            engine = words[at + 1 + (words[at + 1 : at + 2] == ["="])].strip("`'\"")
            if engine not in LOGGED_ENGINES:
                return f"moves the table to the engine {engine}, which may not keep its rows"
        elif words[at] == "PARTITION":
            return None
        elif words[at] not in _OPTIONS:
            return _UNKNOWN
        at += 1
        at += words[at : at + 1] == ["="]
        at += words[at - 1] != "FORCE"
    return None


def _column(tokens: list[str]) -> ColumnDefinition | None:
    """Parse a definition, without FIRST and AFTER name."""
    words = [token.upper() for token in tokens]
    if words[-1:] == ["FIRST"]:
        tokens = tokens[:-1]
    elif words[-2:-1] == ["AFTER"]:
        tokens = tokens[:-2]
    return parse_column(tokens)
