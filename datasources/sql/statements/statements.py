"""The statements that are ours. All others are Spark's and are passed through verbatim."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.errors import SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.statements.catalog_objects import (
    Column,
    FunctionDefinition,
    PrimaryKey,
    TableDefinition,
    ViewDefinition,
    WatermarkSpec,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """What all statements have.

    Attributes:
        source: the text of the statement, without the semicolon that ended it.
        hints: remarks for the user that are no errors, such as an INTERVAL that was added.
    """

    source: SqlText
    hints: tuple[str, ...] = ()


class ObjectKind(enum.Enum):
    """What a catalog holds."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    FUNCTION = "FUNCTION"


class LikeRule(enum.Enum):
    """How LIKE treats a part of the table that it copies."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


@dataclass(frozen=True, slots=True)
class LikeOption:
    """`INCLUDING WATERMARKS`: part is ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS or WATERMARKS."""

    rule: LikeRule
    part: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTableLike:
    """`LIKE base (options)`."""

    base: str
    options: tuple[LikeOption, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(_Written):
    """CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name ... [LIKE base | AS query].

    Attributes:
        table: what is written; columns that come from LIKE or the query are not in it.
        query_span: the query that the table is created from.
        column_order: the names of the query's columns in the order of the table, `t (b, a) ... AS SELECT a, b`; empty
            = the query's.
        option_spans: the keys in WITH.
    """

    table: TableDefinition
    if_not_exists: bool = False
    like: CreateTableLike | None = None
    query_span: Span | None = field(default=None, compare=False)
    column_order: tuple[str, ...] = ()
    name_span: Span = field(default=Span(0, 0), compare=False)
    option_spans: Mapping[str, Span] = field(default_factory=dict, compare=False)

    @property
    def query(self) -> SqlText | None:
        """The query that the table is created from, with its spans in the whole statement."""
        return None if self.query_span is None else self.source.part(self.query_span)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView(_Written):
    """CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] AS query."""

    view: ViewDefinition
    or_replace: bool = False
    if_not_exists: bool = False
    query_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFunction(_Written):
    """CREATE [OR REPLACE] [TEMPORARY] FUNCTION [IF NOT EXISTS] name AS 'path' [LANGUAGE PYTHON]."""

    function: FunctionDefinition
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPosition:
    """FIRST, or AFTER a column; ``after`` None = FIRST."""

    after: str | None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionedColumn:
    """A column of ALTER TABLE, `name TYPE [FIRST | AFTER name]`; position None = the last one, or where it is."""

    column: Column
    position: ColumnPosition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddElements:
    """ADD element, or ADD (element, ...): columns, watermarks, and a primary key."""

    columns: tuple[PositionedColumn, ...] = ()
    watermarks: tuple[WatermarkSpec, ...] = ()
    primary_key: PrimaryKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyElements:
    """MODIFY element, or MODIFY (element, ...): each replaces one that is there."""

    columns: tuple[PositionedColumn, ...] = ()
    watermarks: tuple[WatermarkSpec, ...] = ()
    primary_key: PrimaryKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumns:
    """DROP column, or DROP (column, ...)."""

    names: tuple[str, ...]
    spans: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPrimaryKey:
    """DROP PRIMARY KEY, or DROP CONSTRAINT name."""

    constraint: str | None
    span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn:
    """RENAME [COLUMN] old TO new."""

    old: str
    new: str
    old_span: Span = field(default=Span(0, 0), compare=False)
    new_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWatermark:
    """DROP WATERMARK [FOR column]: without a column there must be one only."""

    rowtime: tuple[str, ...] | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTable:
    """RENAME TO name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOptions:
    """SET ('key' = 'value', ...)."""

    options: Mapping[str, str] = field(repr=False)
    option_spans: Mapping[str, Span] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOptions:
    """RESET ('key', ...)."""

    keys: tuple[str, ...]
    key_spans: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherAction:
    """An action that only tables of Spark's have: ADD PARTITION, SET TBLPROPERTIES, ...

    Attributes:
        span: the action, without the name of the table.
        error: why it is no action of ours although it looks like one; to be raised if the table is ours.
    """

    span: Span
    error: SqlError | None = field(default=None, compare=False)


AlterAction = (
    AddElements
    | DropColumns
    | DropPrimaryKey
    | DropWatermark
    | ModifyElements
    | OtherAction
    | RenameColumn
    | RenameTable
    | ResetOptions
    | SetOptions
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable(_Written):
    """ALTER TABLE [IF EXISTS] name action."""

    name: str
    action: AlterAction
    if_exists: bool = False
    name_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(_Written):
    """DROP [TEMPORARY] TABLE | VIEW | FUNCTION [IF EXISTS] name."""

    kind: ObjectKind
    name: str
    if_exists: bool = False
    is_temporary: bool = False
    name_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Show(_Written):
    """SHOW TABLES | VIEWS | FUNCTIONS [LIKE 'pattern']."""

    kind: ObjectKind
    like: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCreate(_Written):
    """SHOW CREATE TABLE | VIEW name."""

    kind: ObjectKind
    name: str
    name_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(_Written):
    """DESCRIBE | DESC [TABLE] [EXTENDED] name."""

    name: str
    is_extended: bool = False
    name_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowColumns(_Written):
    """SHOW COLUMNS FROM | IN name [[NOT] LIKE 'pattern']."""

    name: str
    like: str | None = None
    is_negated: bool = False
    name_span: Span = field(default=Span(0, 0), compare=False)


class Namespace(enum.Enum):
    """What Flink's names of tables begin with. There is one of each here."""

    CATALOG = "catalog"
    DATABASE = "database"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNamespaces(_Written):
    """SHOW CATALOGS | DATABASES, SHOW CURRENT CATALOG | DATABASE, as Flink has them."""

    kind: Namespace
    is_current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(_Written):
    """USE CATALOG name, USE [catalog.]database, as Flink has them.

    Attributes:
        names: by what they are names of.
    """

    names: Mapping[Namespace, str]
    span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Set(_Written):
    """SET 'key' = 'value'; SET alone (key None) lists; SET 'key' shows one."""

    key: str | None = None
    value: str | None = field(default=None, repr=False)
    key_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(_Written):
    """RESET ['key']."""

    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(_Written):
    """SELECT, WITH, VALUES, or a query in parentheses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(_Written):
    """INSERT INTO | OVERWRITE [TABLE] target [PARTITION (key = literal, ...)] [(columns)] query.

    Attributes:
        target: the table.
        columns: those of the query, in its order; empty = all that PARTITION does not name.
        partition: SQL literals by column; None = the query has the column.
        is_overwrite: whether rows that are there are replaced.
    """

    target: str
    columns: tuple[str, ...] = ()
    partition: Mapping[str, str | None] = field(default_factory=dict)
    is_overwrite: bool = False
    target_span: Span = field(default=Span(0, 0), compare=False)
    query_span: Span = field(default=Span(0, 0), compare=False)

    @property
    def query(self) -> SqlText:
        """The query, with its spans in the whole statement."""
        return self.source.part(self.query_span)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSet(_Written):
    """EXECUTE STATEMENT SET BEGIN insert; ... END."""

    inserts: tuple[Insert, ...]


class ExplainMode(enum.Enum):
    """What EXPLAIN shows: the tree, or the plan as JSON."""

    TREE = "TREE"
    JSON = "JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(_Written):
    """EXPLAIN [PLAN FOR | JSON_EXECUTION_PLAN, CHANGELOG_MODE, ...] query or insert.

    Attributes:
        statement: what is explained.
        mode: what is shown.
        shows_changelog_mode: whether the kinds of rows of the result are shown as well.
    """

    statement: Query | Insert
    mode: ExplainMode = ExplainMode.TREE
    shows_changelog_mode: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PassThrough(_Written):
    """A statement of Spark's."""


Statement = (
    AlterTable
    | CreateFunction
    | CreateTable
    | CreateView
    | Describe
    | Drop
    | Explain
    | Insert
    | PassThrough
    | Query
    | Reset
    | Set
    | Show
    | ShowColumns
    | ShowCreate
    | ShowNamespaces
    | StatementSet
    | Use
)
