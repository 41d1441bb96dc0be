"""Converts stored text to Unicode, exactly as the server does."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from datasources.errors import RecordError, SchemaError
from datasources.mysql.types.charset_tables import BIG5_OWN, EUCJPMS_OWN, SINGLE_BYTE

BINARY: Final = "binary"

_UTF8: Final = frozenset({"utf8mb4", "utf8mb3", "utf8"})
# ASCII bytes mean ASCII characters in all others.
_NOT_ASCII: Final = frozenset({"ucs2", "utf16", "utf16le", "utf32", "swe7"})
_CODECS: Final = {
    "cp932": "cp932",
    "euckr": "cp949",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "ucs2": "utf-16-be",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
    "utf8mb4": "utf-8",
    "utf8mb3": "utf-8",
    "utf8": "utf-8",
    "ascii": "ascii",
}
# Numbers of collations, of MySQL up to 9.7 and MariaDB up to 11.4; no number means two things.
_COLLATIONS: Final = {
    "armscii8": "32,64,1056,1088",
    "ascii": "11,65,1035,1089",
    "big5": "1,84,1025,1108",
    "binary": "63",
    "cp1250": "26,34,44,66,99,1050,1090",
    "cp1251": "14,23,50-52,1074-1075",
    "cp1256": "57,67,1081,1091",
    "cp1257": "29,58-59,1082-1083",
    "cp850": "4,80,1028,1104",
    "cp852": "40,81,1064,1105",
    "cp866": "36,68,1060,1092",
    "cp932": "95-96,1119-1120",
    "dec8": "3,69,1027,1093",
    "eucjpms": "97-98,1121-1122",
    "euckr": "19,85,1043,1109",
    "gb18030": "248-250",
    "gb2312": "24,86,1048,1110",
    "gbk": "28,87,1052,1111",
    "geostd8": "92-93,1116-1117",
    "greek": "25,70,1049,1094",
    "hebrew": "16,71,1040,1095",
    "hp8": "6,72,1030,1096",
    "keybcs2": "37,73,1061,1097",
    "koi8r": "7,74,1031,1098",
    "koi8u": "22,75,1046,1099",
    "latin1": "5,8,15,31,47-49,94,1032,1071",
    "latin2": "2,9,21,27,77,1033,1101",
    "latin5": "30,78,1054,1102",
    "latin7": "20,41-42,79,1065,1103",
    "macce": "38,43,1062,1067",
    "macroman": "39,53,1063,1077",
    "sjis": "13,88,1037,1112",
    "swe7": "10,82,1034,1106",
    "tis620": "18,89,1042,1113",
    "ucs2": "35,90,128-151,159,640-642,1059,1114,1152,1174,2560-2815",
    "ujis": "12,91,1036,1115",
    "utf16": "54-55,101-124,672-674,1078-1079,1125,1147,2816-3071",
    "utf16le": "56,62,1080,1086",
    "utf32": "60-61,160-183,736-738,1084-1085,1184,1206,3072-3327",
    "utf8mb3": "33,76,83,192-215,223,576-578,1057,1107,1216,1238,2048-2303",
    "utf8mb4": "45-46,224-247,255-323,608-610,1069-1070,1248,1270,2304-2559",
}
_TWO_BYTES: Final = frozenset({"cp932", "euckr", "gb2312", "gbk"})
_FOUR_DIGITS: Final = range(0x30, 0x3A)  # the second byte of gb18030's codes of four
_USER_ROW: Final = 85
_ROW_CELLS: Final = 94
_SINGLE_SHIFT_3: Final = 0x8F
_SINGLE_SHIFT_2: Final = 0x8E


def _collation_numbers() -> dict[int, str]:
    numbers = {}
    for charset, ranges in _COLLATIONS.items():
        for each in ranges.split(","):
            first, _, last = each.partition("-")
            numbers.update(dict.fromkeys(range(int(first), int(last or first) + 1), charset))
    return numbers


_CHARSET_OF: Final = _collation_numbers()


def charset_of_collation(number: int) -> str:
    """Return the character set of a collation, by the number that the server gives it.

    Raises:
        SchemaError: the collation is unknown.
    """
    charset = _CHARSET_OF.get(number)
    if charset is None:
        raise SchemaError(
            f"collation number {number} is unknown here; convert the column to a collation of utf8mb4, or report the "
            f"server's version and the row of information_schema.COLLATIONS with ID {number}."
        )
    return charset


def decode_text(values: pa.Array, charset: str, *, column: str) -> pa.Array:
    """Return stored text as Unicode.

    The values are binary, as stored, with nulls where the column is NULL.

    Raises:
        RecordError: a value is no text of that character set.
        SchemaError: the character set is unknown.
    """
    if charset in _UTF8 or (charset not in _NOT_ASCII and _is_ascii(values)):
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid as error:
            raise RecordError(f"column '{column}' ({charset}) holds bytes that are no text: {error}.") from error
    decode = _decoder(charset)
    try:
        return pa.array([None if v is None else decode(v) for v in values.to_pylist()], pa.string())
    except UnicodeDecodeError as error:
        raise RecordError(f"column '{column}' ({charset}) holds bytes that are no text: {error}.") from error


def decode_bytes(value: bytes, charset: str) -> str:
    """Return one stored text as Unicode; an undefined byte raises UnicodeDecodeError."""
    return _decoder(charset)(value)


def _is_ascii(values: pa.Array) -> bool:
    text = pa.Array.from_buffers(pa.string(), len(values), values.buffers(), values.null_count, values.offset)
    return bool(pc.all(pc.string_is_ascii(text), min_count=0).as_py())


@lru_cache(maxsize=64)
def _decoder(charset: str) -> Callable[[bytes], str]:
    single = SINGLE_BYTE.get(charset)
    if single is not None:
        return _single_byte(*single)
    if charset in _OWN:
        return _OWN[charset]
    codec = _CODECS.get(charset)
    if codec is None:
        raise SchemaError(f"character set {charset} is unknown here; convert the column to utf8mb4.")
    if charset == "ascii":
        return lambda value: value.decode("latin-1").translate(_BEYOND_ASCII)
    errors = _QUESTION_MARKS if charset in _TWO_BYTES else "strict"
    return lambda value: value.decode(codec, errors)


_BEYOND_ASCII: Final = dict.fromkeys(range(0x80, 0x100), "?")
_QUESTION_MARKS: Final = "tidemark-mysql-question-marks"


def _question_mark(error: UnicodeError) -> tuple[str, int]:
    """Replace an undefined code by one question mark, as the server does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, at = error.object, error.start
    length = 4 if data[at + 1 : at + 2] and data[at + 1] in _FOUR_DIGITS else 2
    if at + length > len(data):
        raise error
    return "?", at + length


codecs.register_error(_QUESTION_MARKS, _question_mark)


def _single_byte(codec: str, runs: dict[int, str]) -> Callable[[bytes], str]:
    letters = [bytes([code]).decode(codec, "replace").replace("\ufffd", "?") for code in range(256)]
    for first, run in runs.items():
        letters[first : first + len(run)] = run
    table = "".join(letters)
    return lambda value: value.decode("latin-1").translate(table)


def _big5(value: bytes) -> str:
    return "".join(
        BIG5_OWN.get(code) or code.decode("big5", _QUESTION_MARKS)
        for code in _codes(value, lambda lead: 2 if lead > 0x80 else 1)  # noqa: PLR2004
    )


def _sjis(value: bytes) -> str:
    if _SJIS_BACKSLASH not in value:
        return value.decode("shift_jis", _QUESTION_MARKS)
    codes = _codes(value, lambda lead: 1 if lead < 0x81 or 0xA0 <= lead <= 0xDF else 2)  # noqa: PLR2004
    return "".join("\\" if code == _SJIS_BACKSLASH else code.decode("shift_jis", _QUESTION_MARKS) for code in codes)


_SJIS_BACKSLASH: Final = b"\x81\x5f"


def _gb18030(value: bytes) -> str:
    if _GB18030_PRIVATE not in value:
        return value.decode("gb18030", _QUESTION_MARKS).replace("\ue7c7", "\u1e3f")
    at, texts = 0, []
    while at < len(value):
        length = 1 if value[at] < 0x81 else 4 if value[at + 1] in _FOUR_DIGITS else 2  # noqa: PLR2004
        code = value[at : at + length]
        texts.append("\ue7c7" if code == _GB18030_PRIVATE else _gb18030(code))
        at += length
    return "".join(texts)


_GB18030_PRIVATE: Final = b"\x81\x35\xf4\x37"


def _euc(value: bytes, of_pair: Callable[[bytes], str], own: dict[bytes, str]) -> str:
    return "".join(own.get(code) or _euc_or_question_mark(code, of_pair) for code in _codes(value, _euc_length))


def _euc_or_question_mark(code: bytes, of_pair: Callable[[bytes], str]) -> str:
    try:
        return _euc_code(code, of_pair)
    except UnicodeDecodeError:
        if len(code) == 1 or len(code) < _euc_length(code[0]):
            raise
        # Half-width katakana have no letter at A0; MySQL stores it, and reads two undefined bytes.
        return "??" if code[0] == _SINGLE_SHIFT_2 else "?"


def _euc_length(lead: int) -> int:
    if lead == _SINGLE_SHIFT_3:
        return 3
    return 2 if lead >= 0xA1 or lead == _SINGLE_SHIFT_2 else 1  # noqa: PLR2004


def _euc_code(code: bytes, of_pair: Callable[[bytes], str]) -> str:
    if len(code) == 1 or code[0] == _SINGLE_SHIFT_2:
        return code.decode("euc_jp")
    row, cell = code[-2] - 0xA0, code[-1] - 0xA0
    if row >= _USER_ROW:
        first = 0xE3AC if code[0] == _SINGLE_SHIFT_3 else 0xE000
        return chr(first + (row - _USER_ROW) * _ROW_CELLS + cell - 1)
    return of_pair(code)


def _ujis_pair(code: bytes) -> str:
    return "\\" if code == b"\xa1\xc0" else code.decode("euc_jp")


def _eucjpms_pair(code: bytes) -> str:
    """The two-byte codes are those of cp932, in another arithmetic."""
    if len(code) == 3:  # noqa: PLR2004
        return code.decode("euc_jp")
    row, cell = code[0] - 0xA0, code[1] - 0xA0
    lead = (row - 1) // 2 + (0x81 if row < 63 else 0xC1)  # noqa: PLR2004
    trail = (cell + 0x3F + (cell > 63)) if row % 2 else cell + 0x9E  # noqa: PLR2004
    return bytes([lead, trail]).decode("cp932")


def _codes(value: bytes, length_of: Callable[[int], int]) -> list[bytes]:
    codes, at = [], 0
    while at < len(value):
        end = at + length_of(value[at])
        codes.append(value[at:end])
        at = end
    return codes


_OWN: Final[dict[str, Callable[[bytes], str]]] = {
    "big5": _big5,
    "gb18030": _gb18030,
    "sjis": _sjis,
    "ujis": lambda value: _euc(value, _ujis_pair, {}),
    "eucjpms": lambda value: _euc(value, _eucjpms_pair, EUCJPMS_OWN),
}
