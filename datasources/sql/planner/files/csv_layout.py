"""CSV as Flink has it: no header, quotes doubled, an empty field is an empty text.

Spark reads each field as a text, in which an empty field is NULL, and SQL makes the value of it. Flink's rules are
those of the format `csv` of records (`datasources.formats.csv`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pydantic import Field, create_model

from datasources.arrow_types import STRING
from datasources.errors import OptionError, SchemaError
from datasources.formats.csv.csv_types import check_csv_types
from datasources.formats.csv.dialect import CSV_OPTIONS, Dialect, dialect_of
from datasources.formats.schema_text.ddl import parse_schema
from datasources.formats.schema_text.ddl_types import type_text
from datasources.grammar.literals import literal, quoted
from datasources.grammar.spark_type_names import sql_name_of
from datasources.options import OptionGroup, parse_group
from datasources.sql.planner.files.file_layout import FileLayout, LayoutRequest, StoredColumn
from datasources.sql.planner.files.value_text import text_of, try_value

_PREFIX: Final = "csv."
_SURPLUS: Final = "__tidemark_surplus"
_QUOTE: Final = "'"
_NOT_WRITTEN: Final = (
    "option 'csv.disable-quote-character': a text with a delimiter or an end of a line could not be read again. Leave "
    "it out in tables that are written."
)


class _CsvOptions(OptionGroup):
    """Spark's options of the format."""

    multi_line: bool = Field(
        True,
        alias="multiLine",
        description="Whether a text may contain ends of lines. `false`: Spark reads parts of a large file at once.",
    )


_FIELDS: Final[Mapping[str, Any]] = {
    re.sub(r"\W", "_", each.key): (
        each.type | None,
        Field(None, alias=f"{_PREFIX}{each.key}", description=each.description),
    )
    for each in CSV_OPTIONS
}
CsvFileOptions = create_model(
    "CsvFileOptions", __base__=_CsvOptions, __doc__="Flink's options of the format, and Spark's.", **_FIELDS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Csv:
    """The rules of one table.

    Attributes:
        table: its name.
        dialect: how fields are written.
        is_lenient: whether a field that does not fit is NULL, and a row with too many fields is left out.
        is_single: whether the table has one column.
    """

    table: str
    dialect: Dialect
    is_lenient: bool
    is_single: bool

    def column(self, column: pa.Field) -> StoredColumn:
        """Return a column with the SQL for its values and texts."""
        name = quoted(column.name)
        if pa.types.is_list(column.type) or pa.types.is_struct(column.type):
            text = f"coalesce({name}, '')"
            make = self._array if pa.types.is_list(column.type) else self._row
            value = make(name, column)
        else:
            text = self._without_null_literal(f"coalesce({name}, '')")
            value = self._scalar(name, column.type, column)
        return StoredColumn(
            name=column.name, stored_type="STRING", text=text, value=value, written=self._written(name, column.type)
        )

    def _without_null_literal(self, text: str) -> str:
        null = self.dialect.null_literal
        return text if null is None else f"nullif({text}, {literal(null)})"

    def _scalar(self, text: str, arrow: pa.DataType, column: pa.Field) -> str:
        value = try_value(text, arrow)
        if arrow == STRING or self.is_lenient:
            return value
        return f"coalesce({value}, {self._failure(f'{text} IS NULL', text, arrow, column)})"

    def _array(self, text: str, column: pa.Field) -> str:
        element = self._scalar(self._without_null_literal("__each"), column.type.value_type, column)
        empty = f"CAST(array() AS {type_text(column.type)})"
        return f"IF(trim({text}) = '', {empty}, transform({self._fields(text)}, __each -> {element}))"

    def _row(self, text: str, column: pa.Field) -> str:
        fields = ", ".join(
            f"{literal(each.name)}, "
            + self._scalar(self._without_null_literal(f"get({self._fields(text)}, {index})"), each.type, column)
            for index, each in enumerate(column.type)
        )
        size = f"size({self._fields(text)}) = {len(list(column.type))}"
        other = "NULL" if self.is_lenient else self._failure(f"trim({text}) = ''", text, column.type, column)
        return f"IF({size} AND trim({text}) <> '', named_struct({fields}), {other})"

    def _fields(self, text: str) -> str:
        return f"split({text}, {literal(re.escape(self.dialect.element_delimiter))}, -1)"

    def _failure(self, is_null: str, text: str, arrow: pa.DataType, column: pa.Field) -> str:
        kind = sql_name_of(type_text(column.type))
        reason = literal(f"table '{self.table}': column '{column.name}' is {kind}, and a file has '")
        error = f"raise_error(concat({reason}, {text}, {literal(_QUOTE)}))"
        return f"IF({is_null}, NULL, CAST({error} AS {type_text(arrow)}))"

    def _written(self, name: str, arrow: pa.DataType) -> str:
        null = self.dialect.null_literal
        if pa.types.is_list(arrow):
            element = f"coalesce({text_of('__each', arrow.value_type)}, {literal(null or '')})"
            text = f"array_join(transform({name}, __each -> {element}), {literal(self.dialect.element_delimiter)})"
        elif pa.types.is_struct(arrow):
            fields = (f"coalesce({text_of(f'{name}.{quoted(f.name)}', f.type)}, {literal(null or '')})" for f in arrow)
            joined = f"concat_ws({literal(self.dialect.element_delimiter)}, {', '.join(fields)})"
            text = f"IF({name} IS NULL, NULL, {joined})"
        else:
            text = text_of(name, arrow)
        # A line without anything is no row for Spark: the only field of a row is written as "".
        return f"coalesce({text}, '')" if self.is_single and null is None else text


def csv_layout(request: LayoutRequest) -> FileLayout:
    """Return the layout of CSV files.

    Raises:
        OptionError: an option is wrong, or Spark has no equivalent.
        SchemaError: a column cannot be in CSV.
    """
    schema = parse_schema(", ".join(f"{quoted(each.name)} {each.spark_type}" for each in request.columns))
    try:
        check_csv_types(schema)
    except SchemaError as error:
        raise SchemaError(f"table '{request.table}': {error.message}") from None
    group = parse_group(CsvFileOptions, request.options)
    options = _given(group)
    dialect = dialect_of(options, "csv")
    _refuse_escape(dialect)
    is_lenient = bool(options.get("ignore-parse-errors"))
    csv = _Csv(table=request.table, dialect=dialect, is_lenient=is_lenient, is_single=len(schema) == 1)
    return FileLayout(
        spark_format="csv",
        columns=tuple(map(csv.column, schema)),
        read_options=_read_options(dialect, is_lenient=is_lenient, has_lines=group.multi_line),
        write_options=_write_options(dialect),
        not_written="" if dialect.quote is not None else _NOT_WRITTEN,
        hidden=_SURPLUS if is_lenient else "",
        condition=f"{_SURPLUS} IS NULL" if is_lenient else "",
    )


def _given(group: OptionGroup) -> dict[str, Any]:
    """Return the format's options that were set, by their keys without prefix."""
    values = {each.key: getattr(group, re.sub(r"\W", "_", each.key)) for each in CSV_OPTIONS}
    return {key: value for key, value in values.items() if value is not None}


def _refuse_escape(dialect: Dialect) -> None:
    if dialect.escape is not None:
        raise OptionError(
            "option 'csv.escape-character': Flink lets the character stand before any other one, and Spark's CSV "
            "before quotes within quotes only. Leave it out: quotes are doubled."
        )


def _read_options(dialect: Dialect, *, is_lenient: bool, has_lines: bool) -> dict[str, str]:
    options = {
        **_characters(dialect),
        "nullValue": "",
        "multiLine": "true" if has_lines else "false",
        "mode": "PERMISSIVE" if is_lenient else "FAILFAST",
        "columnPruning": "false",  # otherwise the number of fields would be checked in some queries only
    }
    return options | ({"comment": "#"} if dialect.has_comments else {})


def _write_options(dialect: Dialect) -> dict[str, str]:
    return {
        **_characters(dialect),
        "nullValue": dialect.null_literal or "",
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    }


def _characters(dialect: Dialect) -> dict[str, str]:
    quote = dialect.quote or ""
    return {"sep": dialect.delimiter, "quote": quote, "escape": quote or '"', "header": "false"}
