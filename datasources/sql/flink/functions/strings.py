"""Functions of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.functions.binding import bound, constant_text, strict, whole_number
from datasources.sql.flink.functions.signature import Function, function, overloads
from datasources.sql.flink.logical_types import BOOLEAN, INT, STRING, array_of, common_type, is_family, map_of
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Refused, Value, shown_type, text_literal

_LONGEST: Final = STRING.parameters[0]
_NO_TEXT: Final = "CAST(NULL AS STRING)"
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_WHITE: Final = "\\p{javaWhitespace}"
_INITIALS: Final = (
    "array_join(transform(regexp_extract_all({0}, '[A-Za-z0-9]+|[^A-Za-z0-9]+', 0), "
    "v -> if(v RLIKE '^[A-Za-z0-9]', concat(upper(left(v, 1)), lower(substring(v, 2))), v)), '')"
)


# Types of results.


def _same_text(arguments: Sequence[Value]) -> SqlType:
    kind = arguments[0].type
    return STRING if kind.root == "NULL" else kind


def _varying(arguments: Sequence[Value]) -> SqlType:
    return SqlType("VARCHAR", _same_text(arguments).parameters)


def _joined_lengths(arguments: Sequence[Value]) -> SqlType:
    length = sum(_same_text((each,)).parameters[0] for each in arguments[:2])
    return SqlType("VARCHAR", (min(length, _LONGEST),))


def _longest(arguments: Sequence[Value]) -> SqlType:
    kind = common_type(each.type for each in arguments[1:])
    return STRING if kind is None or kind.root == "NULL" else SqlType("VARCHAR", kind.parameters)


# Texts.


def _trim(arguments: Sequence[Value], call: Call) -> str:
    side = call.words[0] if call.words else "BOTH"
    return _trimmed(arguments, side)


def _trimmed(arguments: Sequence[Value], side: str) -> str:
    text = arguments[0].text
    if len(arguments) > 1:
        return f"trim({side} {arguments[1].text} FROM {text})"
    return {"BOTH": f"trim({text})", "LEADING": f"ltrim({text})", "TRAILING": f"rtrim({text})"}[side]


def _one_sided(name: str, side: str) -> Function:
    return overloads(
        name,
        ("text text?", _varying, lambda arguments, _: _trimmed(arguments, side)),
        differs="Spark's takes the characters to remove as its first argument, Flink's as its second",
    )


def _substring(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    text, start, *rest = arguments
    length = rest[0] if rest else None
    size = None if length is None else whole_number(length)
    if size is not None and size < 0:
        return _NO_TEXT
    more = "" if length is None else f", {length.text}"
    first = whole_number(start)
    if first is not None and first >= 0:
        cut = f"substring({text.text}, {start.text}{more})"
    else:
        # One that begins before the text is empty; Spark cuts what is before.
        cut = bound(text, lambda v: f"if({_before(start, v)}, '', substring({v}, {start.text}{more}))")
    return cut if length is None or size is not None else f"CASE WHEN {length.text} >= 0 THEN {cut} END"


def _before(start: Value, text: str) -> str:
    first = whole_number(start)
    return f"char_length({text}) < {-first}" if first is not None else f"{start.text} < -char_length({text})"


def _padded(name: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
        _, length, pad = arguments
        size = whole_number(length)
        if (size is not None and size < 0) or pad.constant == "":
            return _NO_TEXT
        tests = [f"{length.text} >= 0"] if size is None else []
        tests += [f"{pad.text} <> ''"] if pad.constant is None else []
        found = f"{name.lower()}({', '.join(each.text for each in arguments)})"
        return f"CASE WHEN {' AND '.join(tests)} THEN {found} END" if tests else found

    return overloads(
        name,
        ("text INT text", STRING, strict(STRING, text)),
        differs="Spark's gives text for an empty third argument, Flink's NULL",
    )


def _overlay(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, new, start, *rest = arguments
    length = rest[0] if rest else None
    found = bound(text, lambda v: _replaced(v, new, start, length))
    tests = [f"{each.text} IS NOT NULL" for each in (new, *rest) if _may_be_null(each)]
    return f"CASE WHEN {' AND '.join(tests)} THEN {found} END" if tests else found


def _may_be_null(value: Value) -> bool:
    return value.constant is None and whole_number(value) is None


def _replaced(text: str, new: Value, start: Value, length: Value | None) -> str:
    """Outside of the text nothing is replaced; without a length the rest of the text goes."""
    first = whole_number(start)
    if first is not None and first < 1:
        return text
    outside = f"char_length({text}) < {start.text}"
    if first is None:
        outside = f"{start.text} NOT BETWEEN 1 AND char_length({text})"
    size = _size_of(new, length)
    head = f"concat(left({text}, {start.text} - 1), {new.text})"
    more = "" if length is None else f" FOR {length.text}"
    overlaid = f"overlay({text} PLACING {new.text} FROM {start.text}{more})"
    if size is None:
        counted = f"char_length({new.text})" if length is None else length.text
        return f"CASE WHEN {outside} THEN {text} WHEN {counted} < 1 THEN {head} ELSE {overlaid} END"
    return f"if({outside}, {text}, {head if size < 1 else overlaid})"


def _size_of(new: Value, length: Value | None) -> int | None:
    if length is not None:
        return whole_number(length)
    return None if new.constant is None else len(new.constant)


def _locate(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    wanted, text, *rest = arguments
    if not rest or (wanted.constant == "" and not _may_be_null(rest[0])):
        return f"locate({wanted.text}, {text.text})"
    return _located(wanted, text, rest[0])


def _located(wanted: Value, text: Value, start: Value) -> str:
    first = whole_number(start)
    position = f"greatest({start.text}, 1)" if first is None else str(max(first, 1))
    found = f"locate({wanted.text}, {text.text}, {position})"
    if wanted.constant is None:
        found = f"if({wanted.text} = '', locate('', {text.text}), {found})"
    return f"CASE WHEN {start.text} IS NOT NULL THEN {found} END" if first is None else found


def _replace(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, wanted, new = arguments
    plain = f"replace({text.text}, {wanted.text}, {new.text})"
    if wanted.constant:
        return plain
    everywhere = f"regexp_replace({text.text}, '', {quoted_replacement(new)})"
    return everywhere if wanted.constant == "" else f"if({wanted.text} = '', {everywhere}, {plain})"


def quoted_replacement(value: Value) -> str:
    """Return a text as the replacement of Spark's regexp_replace, where $ and backslash have a meaning."""
    if value.constant is not None:
        return text_literal(value.constant.replace("\\", "\\\\").replace("$", "\\$").replace("${", "$\\{"))
    return (
        f"regexp_replace({value.text}, {text_literal('([' + chr(92) * 2 + '$])')}, {text_literal(chr(92) * 2 + '$1')})"
    )


def _split_index(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, separator, index = arguments
    number = whole_number(index)
    if number is not None and number < 0:
        return _NO_TEXT
    pattern = _pattern_of(separator, text_literal(_WHITE))
    # An empty text has no pieces.
    whole = f"nullif({text.text}, '')" if not number else text.text
    return f"get(split({whole}, {pattern}), {index.text})"


def _split(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, separator = arguments
    pattern = _pattern_of(separator, "''")
    return bound(text, lambda v: f"if({v} = '', array(), split({v}, {pattern}))")


def _pattern_of(separator: Value, empty: str) -> str:
    """Return the regular expression that finds a text; `empty` is that for an empty one."""
    if is_family(separator.type, "integer") and separator.type.root != "NULL":
        code = whole_number(separator)
        if code is None:
            raise Refused("the code of the separator has to be a literal here", "Write the separator as text.")
        return text_literal(_escaped(chr(code)))
    if separator.constant is not None:
        return text_literal(_escaped(separator.constant)) if separator.constant else empty
    quote, end = (text_literal(chr(92) + each) for each in "QE")
    broken = text_literal("\\E\\\\E\\Q")
    return f"if({separator.text} = '', {empty}, concat({quote}, replace({separator.text}, {end}, {broken}), {end}))"


def _escaped(text: str) -> str:
    return "".join("\\" + each if each in _SPECIAL else each for each in text)


def _str_to_map(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, *rest = arguments
    pairs, keys = (*(_delimiter(each) for each in rest), ",", "=")[:2] if len(rest) != 1 else (_delimiter(rest[0]), "=")
    pieces = (
        f"split(nullif(regexp_replace({text.text}, {text_literal(f'(?:{pairs})+$')}, ''), ''), {text_literal(pairs)})"
    )
    cut = f"split(e, {text_literal(keys)}, 2)"
    step = f"map_concat(map_filter(m, (k, v) -> k <> {cut}[0]), map({cut}[0], get({cut}, 1)))"
    empty = "CAST(map() AS MAP<STRING, STRING>)"
    filled = f"coalesce(aggregate({pieces}, {empty}, (m, e) -> {step}), {empty})"
    return f"if({text.text} IS NULL, NULL, {filled})"


def _delimiter(value: Value) -> str:
    if not value.constant:
        raise Refused("the delimiters of STR_TO_MAP have to be literals here, and not empty")
    return value.constant


def _elt(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    index, *texts = arguments
    cases = " ".join(f"WHEN {at} THEN {each.text}" for at, each in enumerate(texts, 1))
    return f"CASE {index.text} {cases} END"


def _ascii(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    """The first byte of UTF-8, with its sign."""
    (text,) = arguments
    if text.constant is not None and text.constant.isascii():
        return f"ascii({text.text})"
    code = Value(text=f"ascii({text.text})", type=INT)
    return bound(
        code,
        lambda v: (
            f"CASE WHEN {v} < 128 THEN {v} WHEN {v} < 2048 THEN CAST({v} div 64 AS INT) - 64 "
            f"WHEN {v} < 65536 THEN CAST({v} div 4096 AS INT) - 32 ELSE CAST({v} div 262144 AS INT) - 16 END"
        ),
    )


def _printf(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    form, *values = arguments
    constant_text(form, "the format of PRINTF")
    for each in values:
        if not any(is_family(each.type, family) for family in ("integer", "approximate", "text", "boolean")):
            raise Refused(f"PRINTF takes numbers, text and BOOLEAN, and this is {shown_type(each.type)}", "CAST it.")
    return f"format_string({', '.join(each.text for each in arguments)})"


def _initcap(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    return _INITIALS.format(arguments[0].text)


def _translate(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, *lists = arguments
    listed = (each.text if each.constant is not None else f"coalesce({each.text}, '')" for each in lists)
    return f"translate({', '.join((text.text, *listed))})"


STRINGS: Final[tuple[Function, ...]] = (
    function("UPPER", "text", _same_text, "upper({0})"),
    function("LOWER", "text", _same_text, "lower({0})"),
    overloads("INITCAP", ("text", _same_text, _initcap), differs="words end at blanks only in Spark's"),
    *(function(name, "text", INT, "char_length({0})") for name in ("CHAR_LENGTH", "CHARACTER_LENGTH")),
    overloads("TRIM", ("text text?", _varying, _trim)),
    _one_sided("LTRIM", "LEADING"),
    _one_sided("RTRIM", "TRAILING"),
    overloads("BTRIM", ("text text?", STRING, lambda arguments, _: _trimmed(arguments, "BOTH"))),
    function("REVERSE", "text", STRING, "reverse({0})"),
    overloads(
        "ASCII",
        ("text", INT, _ascii),
        differs="Spark's is the number of the first character, Flink's its first byte with a sign",
    ),
    function("CHR", "integer", STRING, "chr({0})"),
    function("CONCAT", "text text*", STRING, "concat({all})"),
    function("CONCAT_WS", "text text*", STRING, "concat_ws({all})"),
    *(
        overloads(
            name,
            ("text INT INT?", _varying, strict(STRING, _substring)),
            differs="a start before the text gives the text's first characters in Spark's, '' in Flink's",
        )
        for name in ("SUBSTRING", "SUBSTR")
    ),
    function("LEFT", "text INT", _varying, "left({0}, {1})"),
    function("RIGHT", "text INT", _varying, "right({0}, {1})"),
    function("REPEAT", "text INT", STRING, "repeat({0}, {1})"),
    _padded("LPAD"),
    _padded("RPAD"),
    overloads(
        "OVERLAY",
        ("text text INT INT?", _joined_lengths, strict(STRING, _overlay)),
        differs="a position outside of the text adds the new text in Spark's; Flink's leaves the text as it is",
    ),
    *(overloads(name, ("text text INT?", INT, strict(INT, _locate))) for name in ("POSITION", "LOCATE")),
    function("INSTR", "text text", INT, "instr({0}, {1})"),
    overloads("REPLACE", ("text text text", STRING, strict(STRING, _replace))),
    overloads("TRANSLATE", ("text text text", STRING, _translate)),
    *(
        overloads(
            name,
            ("text text", BOOLEAN, f"{name.lower()}({{0}}, {{1}})"),
            ("binary binary", BOOLEAN, f"{name.lower()}({{0}}, {{1}})"),
        )
        for name in ("STARTSWITH", "ENDSWITH")
    ),
    overloads(
        "SPLIT_INDEX",
        ("text text INT", STRING, strict(STRING, _split_index)),
        ("text integer INT", STRING, strict(STRING, _split_index)),
    ),
    overloads(
        "SPLIT",
        ("text text", array_of(STRING), strict(array_of(STRING), _split)),
        differs="the second argument is a regular expression in Spark's, text in Flink's",
    ),
    overloads(
        "STR_TO_MAP",
        ("text text? text?", map_of(STRING, STRING), strict(map_of(STRING, STRING), _str_to_map)),
        differs="Spark's separates a key from its value at ':' if no third argument says otherwise, Flink's at '='",
    ),
    overloads("ELT", ("integer text text*", _longest, _elt)),
    overloads("PRINTF", ("text any*", STRING, _printf)),
)
