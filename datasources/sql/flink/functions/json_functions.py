"""Functions of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import cast
from datasources.sql.flink.functions.binding import bound, constant_text
from datasources.sql.flink.functions.json_paths import JsonPath, parse_path, parse_query, scalar_text, value_at
from datasources.sql.flink.functions.signature import Function, NotThere, Signature, overloads
from datasources.sql.flink.logical_types import BOOLEAN, STRING, array_of, is_family, normalized
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.python_kernels import JSON_QUERY
from datasources.sql.flink.typed_value import Refused, Value, shown_type, spark_type, text_literal
from datasources.sql.parse.types import parse_type

_RETURNED: Final = frozenset({"BOOLEAN", "INT", "DOUBLE", "CHAR", "VARCHAR"})
_KEPT_NULLS: Final = "map('ignoreNullFields', 'false')"
_MAX_SCALE: Final = 6
"""A DECIMAL with more digits behind the point may be written with an exponent."""
_IS_TEXT: Final = text_literal(r"""^(?:[^"']|"(?:[^"\\]|\\.)*+")*+'""")
_RAW: Final = frozenset({"JSON_OBJECT", "JSON_ARRAY"})
_FIRST: Final = {"OBJECT": r"^\s*\{", "ARRAY": r"^\s*\[", "SCALAR": r"^\s*[^\s{\[]"}


# What a document is, and has.


def _is_json(test: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
        return bound(arguments[0], lambda v: f"coalesce({_tests(v, test)}, false)")

    return overloads(f"IS JSON{test and ' ' + test}", ("text", BOOLEAN, text))


def _tests(document: str, test: str) -> str:
    # Spark also takes strings in single quotes.
    found = f"get_json_object({document}, '$') IS NOT NULL AND NOT {document} RLIKE {_IS_TEXT}"
    return f"{found} AND {document} RLIKE {text_literal(_FIRST[test])}" if test in _FIRST else found


def _path(arguments: Sequence[Value], name: str) -> JsonPath:
    return parse_path(constant_text(arguments[1], f"the path of {name}"))


def _exists(arguments: Sequence[Value], call: Call) -> str:
    document, path = arguments[0], _path(arguments, "JSON_EXISTS")
    found = f"{value_at('{0}', path)} IS NOT NULL".replace("{0}", "\1")
    on_error = next((each.split()[0] for each in call.words if each.endswith("ON ERROR")), "FALSE")
    if not path.is_lax and on_error != "FALSE":
        otherwise = {"TRUE": "true", "UNKNOWN": "NULL"}.get(on_error, _failure("JSON_EXISTS"))
        found = f"if({found}, true, {otherwise})"
    return bound(document, lambda v: f"if({v} IS NULL, NULL, {found.replace(chr(1), v)})")


def _returned(call: Call) -> SqlType:
    text = next((each.removeprefix("RETURNING ") for each in call.words if each.startswith("RETURNING ")), "")
    kind = normalized(parse_type(SqlText(text))) if text else STRING
    if kind.root not in _RETURNED:
        raise Refused(f"JSON_VALUE does not return {shown_type(kind)}", "CAST the text that it returns.")
    return kind


def _value(arguments: Sequence[Value], call: Call) -> Value:
    kind = _returned(call)
    return Value(
        text=_value_text(arguments, call, kind),
        type=kind,
        depth=max(each.depth for each in arguments),
        is_aggregate=any(each.is_aggregate for each in arguments),
    )


def _value_text(arguments: Sequence[Value], call: Call, kind: SqlType) -> str:
    document, path = arguments[0], _path(arguments, "JSON_VALUE")
    marked = Value(text=value_at(document.text, path), type=STRING)
    found = bound(Value(text=f"({marked.text})", type=STRING), scalar_text)
    if not is_family(kind, "text"):  # a text stays as it is, however short it is said to be
        found = f"CAST({found} AS {spark_type(kind)})"
    otherwise = _otherwise(arguments[2:], call, "ON EMPTY" if path.is_lax else "ON ERROR", kind)
    if otherwise is None:
        return found
    return f"if({document.text} IS NULL, NULL, coalesce({found}, {otherwise}))"


def _otherwise(defaults: Sequence[Value], call: Call, case: str, kind: SqlType) -> str | None:
    """What is there in place of NULL."""
    left = list(defaults)
    found = None
    for words in call.words:
        default = left.pop(0) if words.startswith("DEFAULT") else None
        if words.endswith(case):
            found = None if default is None else _default(default, kind)
            found = _failure("JSON_VALUE") if words.startswith("ERROR") else found
    return found


def _default(value: Value, kind: SqlType) -> str:
    if is_family(kind, "text"):
        return f"CAST({value.text} AS STRING)"
    return cast(value, kind).text


def _query(arguments: Sequence[Value], call: Call) -> Value:
    """Return JSON_QUERY, which Spark cannot compute: objects have their names in order."""
    document = arguments[0]
    query = parse_query(constant_text(arguments[1], "the path of JSON_QUERY"))
    kind = _returned_by_query(call)
    is_array = kind.root == "ARRAY"
    clauses = {case: _clause(call, case, allows_object=not is_array) for case in ("EMPTY", "ERROR")}
    wrapper = next((each for each in call.words if each.startswith("WITH")), "WITHOUT WRAPPER").split()
    words = {"WITHOUT", "CONDITIONAL"} & set(wrapper)
    query = replace(
        query,
        wrapper=words.pop() if words else "UNCONDITIONAL",
        on_empty=clauses["EMPTY"],
        on_error=clauses["ERROR"],
        returns_array=is_array,
    )
    text = f"{JSON_QUERY}({document.text}, {text_literal(query.to_text())})"
    text = f"from_json({text}, 'ARRAY<STRING>')" if is_array else text
    return Value(text=text, type=kind, depth=document.depth, is_aggregate=document.is_aggregate)


def _returned_by_query(call: Call) -> SqlType:
    text = next((each.removeprefix("RETURNING ") for each in call.words if each.startswith("RETURNING ")), "")
    kind = normalized(parse_type(SqlText(text))) if text else STRING
    if kind not in (STRING, array_of(STRING)):
        raise Refused(f"JSON_QUERY does not return {shown_type(kind)}", "It returns STRING or ARRAY<STRING>.")
    return kind


def _clause(call: Call, case: str, *, allows_object: bool) -> str:
    """Return what there is `ON EMPTY` or `ON ERROR`."""
    found = next((each.removesuffix(f" ON {case}") for each in call.words if each.endswith(f"ON {case}")), "NULL")
    if found == "EMPTY OBJECT" and not allows_object:
        raise Refused(f"EMPTY OBJECT ON {case} is no array", "Write EMPTY ARRAY.")
    return found


def _failure(name: str) -> str:
    return f"raise_error('{name} finds no value')"


# Documents that are made.


def _json_of(value: Value) -> str:
    """The JSON of a value that is not NULL; `null` or NULL for one that is."""
    _require_exact(value.type)
    if is_family(value.type, "text") or is_family(value.type, "binary"):
        # Of an array of one element, what is between the brackets.
        return f"regexp_replace(to_json(array({value.text})), {text_literal('(?s)^.|.$')}, '')"
    if value.type.root in {"ARRAY", "MAP", "ROW"}:
        return f"to_json({value.text}, {_KEPT_NULLS})"
    return f"CAST({value.text} AS STRING)"


def _require_exact(kind: SqlType) -> None:
    inner = (*kind.arguments, *(each.type for each in kind.fields))
    for each in inner:
        _require_exact(each)
    is_exact = is_family(kind, "integer") or any(is_family(kind, each) for each in ("boolean", "text", "binary"))
    is_short = kind.root == "DECIMAL" and kind.parameters[1] <= _MAX_SCALE
    if not (inner or is_exact or is_short):
        raise Refused(f"{shown_type(kind)} has no exact JSON here", "CAST it to STRING, or to a DECIMAL(p, 6).")
    if kind.root == "MAP" and not is_family(kind.arguments[0], "text"):
        raise Refused("the keys of an object are text", "CAST them to STRING.")


def _string(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    (value,) = arguments
    if value.type.root == "NULL":
        return "CAST(NULL AS STRING)"
    if not is_family(value.type, "text") and not is_family(value.type, "binary"):
        return _json_of(value)
    return bound(value, lambda v: f"if({v} IS NULL, NULL, {_json_of(Value(text=v, type=value.type))})")


def _entry(value: Value, call: Call, at: int, *, keeps_nulls: bool) -> str:
    node = call.arguments[at]
    if isinstance(node, Call) and node.name in _RAW:
        return value.text
    if value.type.root == "NULL":
        return "'null'" if keeps_nulls else "CAST(NULL AS STRING)"
    return f"coalesce({_json_of(value)}, 'null')" if keeps_nulls else _string((value,), call)


def _object(arguments: Sequence[Value], call: Call) -> str:
    keeps_nulls = "ABSENT ON NULL" not in call.words
    entries: dict[str, str] = {}
    for at in range(0, len(arguments), 2):
        key = constant_text(arguments[at], "a key of JSON_OBJECT")
        name = _quoted_key(key)
        entries[key] = f"concat({name}, {_entry(arguments[at + 1], call, at + 1, keeps_nulls=keeps_nulls)})"
    listed = "".join(f", {entries[key]}" for key in sorted(entries))
    return f"concat('{{', concat_ws(','{listed}), '}}')"


def _quoted_key(key: str) -> str:
    if any(each in '"\\' or ord(each) < ord(" ") for each in key):
        raise Refused(f"the key '{key}' of JSON_OBJECT has a quote, a backslash or a control character")
    return text_literal(f'"{key}":')


def _array(arguments: Sequence[Value], call: Call) -> str:
    keeps_nulls = "NULL ON NULL" in call.words
    listed = "".join(f", {_entry(each, call, at, keeps_nulls=keeps_nulls)}" for at, each in enumerate(arguments))
    return f"concat('[', concat_ws(','{listed}), ']')"


JSON: Final[tuple[Function, ...]] = (
    *map(_is_json, ("", "VALUE", "OBJECT", "ARRAY", "SCALAR")),
    overloads("JSON_EXISTS", ("text text", BOOLEAN, _exists)),
    Function(name="JSON_VALUE", signatures=(Signature(parameters=("text", "text", "any*"), of_call=_value),)),
    Function(name="JSON_QUERY", signatures=(Signature(parameters=("text", "text"), of_call=_query),)),
    overloads("JSON_STRING", ("any", STRING, _string)),
    overloads("JSON_OBJECT", ("any*", STRING, _object)),
    overloads("JSON_ARRAY", ("any*", STRING, _array)),
)
REFUSED_JSON: Final[tuple[NotThere, ...]] = (
    NotThere("JSON_QUOTE", "Use JSON_STRING, which leaves characters beyond ASCII as they are."),
    NotThere("JSON_UNQUOTE", "Use JSON_VALUE(text, '$')."),
    NotThere("JSON", "Nest JSON_OBJECT and JSON_ARRAY."),
    NotThere("PARSE_JSON", "There is no VARIANT here. Use JSON_VALUE with a path."),
    NotThere("TRY_PARSE_JSON", "There is no VARIANT here. Use JSON_VALUE with a path."),
    NotThere("OBJECT_OF", "Use CAST(ROW(...) AS ROW<name type, ...>)."),
    NotThere("OBJECT_UPDATE", "Use CAST(ROW(...) AS ROW<name type, ...>)."),
    NotThere("JSON_ARRAYAGG", "Collect the values with ARRAY_AGG."),
    NotThere("JSON_OBJECTAGG", "Collect keys and values with ARRAY_AGG(ROW(key, value))."),
    NotThere("SINGLE_VALUE", "Write a sub-query of one row."),
    NotThere("TYPEOF", "DESCRIBE a view of the query."),
    NotThere("HASH_CODE", "Use MD5 or SHA256."),
    NotThere("CURRENT_DATABASE", "Write its name."),
)
"""What Flink has and is refused."""
