"""The fields of a batch to a column: those of usual forms by Arrow's casts, the others one by one (`field_values`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.formats.columns.partial_rows import with_rows
from datasources.formats.csv.dialect import Dialect
from datasources.formats.csv.field_values import BadField, field_converter
from datasources.grammar.zones import MICROS_PER_SECOND, Zone

Cast = Callable[[pa.Array], pa.Array]
"""Makes values of texts that all have the usual form."""

_MONTHS: Final = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE: Final = rf"[1-9][0-9]{{3}}-{_MONTHS}"
_LOCAL: Final = rf"{_DATE}[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{{1,6}})?"
_WHOLE: Final = "-?(?:0|[1-9][0-9]{0,17})"
_DOUBLE: Final = r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE]-?[0-9]{1,2})?"
_FLOAT: Final = r"-?[0-9]{1,20}(?:\.[0-9]{1,10})?"
_INTEGERS: Final = frozenset((pa.int8(), pa.int16(), pa.int32(), pa.int64()))


class FieldColumn:
    """Makes one column of its fields.

    Args:
        arrow: its type.
        dialect: how records are written.
        zone: of times without one; None = such times are refused.
    """

    def __init__(self, arrow: pa.DataType, dialect: Dialect, zone: Zone | None) -> None:
        self._type = arrow
        self._convert = field_converter(arrow, dialect, zone)
        self._null = dialect.null_literal
        self._usual = _usual_form(arrow, zone)

    def values(self, texts: pa.Array) -> tuple[pa.Array, dict[int, str]]:
        """Return the values of texts, null where there is no text; and of a row why its text is none of a value."""
        column, is_done = self._usual_values(texts)
        reasons: dict[int, str] = {}
        remaining = np.flatnonzero(~is_done)
        if not len(remaining):
            return column, reasons
        values: list[object] = []
        for row, text in zip(remaining.tolist(), texts.take(pa.array(remaining)).to_pylist(), strict=True):
            try:
                values.append(self._convert(text))
            except BadField as reason:
                values.append(None)
                reasons[row] = str(reason)
        return with_rows(column, remaining, pa.array(values, self._type)), reasons

    def _usual_values(self, texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """Return the values of texts of the usual form, and which rows need nothing more."""
        if self._usual is None:
            return pa.nulls(len(texts), self._type), ~np.asarray(texts.is_valid())
        if self._null is not None:
            texts = pc.if_else(pc.equal(texts, self._null), None, texts)
        pattern, cast = self._usual
        if pattern is None:
            return cast(texts), np.ones(len(texts), np.bool_)
        is_usual = pc.match_substring_regex(texts, rf"\A(?:{pattern})\z")
        column = cast(texts if pc.all(is_usual).as_py() else pc.if_else(is_usual, texts, None))
        return column, np.asarray(pc.or_kleene(column.is_valid(), texts.is_null()))


def _usual_form(arrow: pa.DataType, zone: Zone | None) -> tuple[str | None, Cast] | None:
    """Return the pattern of usual texts, of which None is all, and their cast; None = no text is usual."""
    if arrow in _INTEGERS:
        return _WHOLE, _integers(arrow)
    if arrow == TIMESTAMP:
        return None if zone is None else (rf"{_LOCAL}Z?", _instants(zone))
    if pa.types.is_decimal128(arrow):
        return _decimal_pattern(arrow), lambda texts: texts.cast(arrow)
    return _BY_TYPE.get(arrow)


def _decimal_pattern(arrow: pa.Decimal128Type) -> str:
    whole = f"-?[0-9]{{1,{max(arrow.precision - arrow.scale, 1)}}}" if arrow.precision > arrow.scale else "-?0"
    return rf"{whole}(?:\.[0-9]{{1,{arrow.scale}}})?" if arrow.scale > 0 else whole


def _integers(arrow: pa.DataType) -> Cast:
    def cast(texts: pa.Array) -> pa.Array:
        found = texts.cast(pa.int64())
        if arrow == pa.int64():
            return found
        limit = 2 ** (arrow.bit_width - 1)
        fits = pc.and_(pc.greater_equal(found, -limit), pc.less(found, limit))
        return pc.if_else(fits, found, None).cast(arrow)

    return cast


def _instants(zone: Zone) -> Cast:
    def cast(texts: pa.Array) -> pa.Array:
        local = pc.utf8_rtrim(texts, "Z").cast(NTZ).cast(pa.int64())
        return _with_offsets(local, pc.ends_with(texts, "Z"), zone)

    return cast


def _with_offsets(local: pa.Array, has_zone: pa.Array, zone: Zone) -> pa.Array:
    """Return instants of local times, of which some are in UTC already."""
    is_valid = np.asarray(local.is_valid())
    micros = local.fill_null(0).to_numpy(zero_copy_only=False)
    needs = is_valid & ~np.asarray(has_zone.fill_null(True))
    seconds, of_row = np.unique(micros[needs] // MICROS_PER_SECOND, return_inverse=True)
    offsets = np.array([zone.offset_s(each * MICROS_PER_SECOND) for each in seconds.tolist()], np.int64)
    found = micros.copy()
    found[needs] -= offsets[of_row] * MICROS_PER_SECOND
    return pa.array(found, pa.int64(), mask=~is_valid).cast(TIMESTAMP)


_BY_TYPE: Final[dict[pa.DataType, tuple[str | None, Cast]]] = {
    pa.string(): (None, lambda texts: texts),
    pa.bool_(): ("true|false", lambda texts: pc.equal(texts, "true")),
    pa.float64(): (_DOUBLE, lambda texts: texts.cast(pa.float64())),
    pa.float32(): (_FLOAT, lambda texts: texts.cast(pa.float32())),
    pa.date32(): (_DATE, lambda texts: texts.cast(pa.date32())),
    NTZ: (_LOCAL, lambda texts: texts.cast(NTZ)),
}
