"""The quick way of decoding: whole batches in DuckDB, for the documents whose text a template matches.

Theory of operation: each text is matched against the templates learned so far, and one prepared query transforms those
that match. A few of the documents left over are looked at to extend the templates, and again a few of those that are
still left over, for documents of several kinds may alternate; what no template matches then is the exact way's. So
what is learned decides only about speed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.formats.duck import DuckError, PreparedQuery
from datasources.formats.json_columns import LocalTimes, duck_structure, finished
from datasources.formats.json_composites import Unlearnable
from datasources.formats.json_part import Part, filled_in, joined, nothing_done
from datasources.formats.json_patterns import can_be_quick, holds_map
from datasources.formats.json_scanner import Malformed
from datasources.formats.json_syntax import parse
from datasources.formats.json_template import Template, TimestampKinds, merged, template_of
from datasources.formats.zones import FixedOffset, Zone

__all__ = ["QuickDecoder"]

_SAMPLES = 8
_ROUNDS_PER_BATCH = 3
_MAX_TEMPLATES = 8
_MAX_SAMPLE_CHARACTERS = 100_000
_FEWEST_ROWS_TO_HALVE = 16
_FEWEST_ROWS_TO_FORGET = 100


class QuickDecoder:
    """Decodes what it can of a batch, and remembers templates for the next ones.

    Not for use by several threads at once.

    Args:
        schema: what documents are judged by.
        wanted: names of the columns to decode; without any, documents are only judged.
        zone: where timestamps without a zone were written; None = they have none.
        types: types of wanted columns, where they are not the schema's: a STRUCT of which some fields are left out.
    """

    def __init__(
        self,
        schema: pa.Schema,
        wanted: Sequence[str],
        zone: Zone | None,
        *,
        types: Mapping[str, pa.DataType] | None = None,
    ) -> None:
        self._fields = {f.name: f for f in schema}
        self._wanted = [pa.field(name, (types or {}).get(name, self._fields[name].type)) for name in wanted]
        self._types = [field.type for field in self._wanted]
        self._local = None if zone is None else LocalTimes(zone)
        self._kinds = TimestampKinds({}, is_utc=zone == FixedOffset(0), has_zone=zone is not None)
        self._templates: list[Template] = []
        self._pattern = ""
        self._query = PreparedQuery()
        self._is_possible = all(can_be_quick(f.type) for f in schema)
        # A name twice in a MAP is an error in DuckDB's strict mode only; otherwise it makes a null of the column.
        self._is_strict = any(holds_map(f.type) for f in self._wanted)
        self._batches = 0
        self._forget_from_batch = 0

    def decode(self, texts: pa.Array) -> Part | None:
        """Decode the documents that it knows to decode as the exact way would.

        Args:
            texts: a `pa.string()` array of valid UTF-8; null where there is nothing to decode.

        Returns:
            What is decoded, or None if nothing is.
        """
        if not self._is_possible:
            return None
        self._batches += 1
        part = self._run(texts) if self._templates else nothing_done(len(texts), self._types)
        left = np.flatnonzero(~part.is_done & np.asarray(texts.is_valid()))
        for _ in range(_ROUNDS_PER_BATCH):
            if not len(left) or not self._learn(texts, left):
                break
            part = filled_in(part, left, self._run(texts.take(pa.array(left))))
            left = left[~part.is_done[left]]
        self._forget_if_useless(len(left), len(texts))
        return part if part.is_done.any() else None

    def _run(self, texts: pa.Array) -> Part:
        # RE2 as Arrow calls it is twice as fast as RE2 as DuckDB calls it.
        is_known = pc.match_substring_regex(texts, pattern=self._pattern).fill_null(False)
        if not is_known.true_count:
            return nothing_done(len(texts), self._types)
        if not self._wanted:
            return Part([], np.asarray(is_known))  # whoever matches is no bad record
        is_every = is_known.true_count == len(texts)
        return self._transformed(texts if is_every else pc.if_else(is_known, texts, None))

    def _transformed(self, texts: pa.Array) -> Part:
        try:
            result = self._query.run(texts)
        except DuckError:
            # One document is enough to fail a query: a name twice in a MAP, for instance.
            if len(texts) < _FEWEST_ROWS_TO_HALVE:
                return nothing_done(len(texts), self._types)
            middle = len(texts) // 2
            return joined(self._transformed(texts[:middle]), self._transformed(texts[middle:]))
        columns = [
            finished(array, field.type, self._kinds.columns.get(field.name), self._local)
            for array, field in zip(result.flatten(), self._wanted, strict=True)
        ]
        return Part(columns, np.asarray(result.is_valid()))

    def _learn(self, texts: pa.Array, left: npt.NDArray[np.intp]) -> bool:
        """Extend the templates by a sample of the rows; return whether there is anything new."""
        is_new = False
        for row in left[:: max(1, len(left) // _SAMPLES)][:_SAMPLES].tolist():
            text = texts[row].as_py()
            if len(text) > _MAX_SAMPLE_CHARACTERS:
                continue
            try:
                is_new |= self._add(template_of(parse(text), self._fields, self._kinds))
            except (Malformed, Unlearnable):
                continue
        return is_new and self._prepare()

    def _add(self, template: Template) -> bool:
        if self._is_strict and not template.is_total:
            return False
        for at, known in enumerate(self._templates):
            joined = merged(known, template, self._fields)
            if joined is not None and (joined.is_total or not self._is_strict):
                self._templates[at] = joined
                return joined != known
        if len(self._templates) == _MAX_TEMPLATES:
            return False
        self._templates.append(template)
        return True

    def _prepare(self) -> bool:
        structure = {f.name: duck_structure(f.type, self._kinds.columns.get(f.name)) for f in self._wanted}
        # Where no document lacks a field, DuckDB shall stop at one that does, or at a value that it cannot convert.
        transform = "json_transform_strict" if all(t.is_total for t in self._templates) else "json_transform"
        self._pattern = rf"\A(?:{'|'.join(t.pattern() for t in self._templates)})\z"
        try:
            pc.match_substring_regex(pa.array([""]), pattern=self._pattern)
            if structure:
                self._query.prepare(f"{transform}(v, {_literal(json.dumps(structure, ensure_ascii=False))})")
        except (DuckError, pa.ArrowInvalid):
            # The pattern is too large for RE2, or two fields differ only in a way that DuckDB does not see.
            self._is_possible = False
        return self._is_possible

    def _forget_if_useless(self, left_rows: int, rows: int) -> None:
        """Start anew when the templates no longer fit, at longer and longer intervals."""
        if left_rows * 2 > rows >= _FEWEST_ROWS_TO_FORGET and self._batches >= self._forget_from_batch:
            self._templates.clear()
            self._kinds.columns.clear()
            self._forget_from_batch = 2 * self._batches + 1


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
