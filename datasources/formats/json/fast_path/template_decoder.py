"""The quick way of decoding: whole batches in DuckDB, for the documents whose text a template matches.

Theory of operation: each text is matched against the templates learned so far, and one prepared query transforms those
that match. A few of the documents left over are looked at to extend the templates, and again a few of those that are
still left over, for documents of several kinds may alternate; what no template matches then is the exact way's. So
what is learned decides only about speed.

A decoder lives as long as its process, so nothing that it learns may stay for good: templates are tried from the
shortest on, each on what the ones before it left; one that matches little makes room for others (`ranked`); and all of
them are learned anew at intervals, earlier where most documents are left over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.formats.json.fast_path.composite_patterns import Unlearnable
from datasources.formats.json.fast_path.duckdb_columns import LocalTimes, duck_structure, finished
from datasources.formats.json.fast_path.duckdb_query import DuckError, PreparedQuery
from datasources.formats.json.fast_path.templates import Template, TimestampKinds, merged, template_of
from datasources.formats.json.fast_path.value_patterns import can_be_quick, holds_map
from datasources.formats.json.partial_rows import Part, filled_in, joined, nothing_done
from datasources.formats.json.text.json_scanner import Malformed
from datasources.formats.json.text.json_syntax import parse
from datasources.formats.values.ranked import Ranked
from datasources.formats.values.zones import FixedOffset, Zone

__all__ = ["QuickDecoder"]

_SAMPLES = 8
_ROUNDS_PER_BATCH = 3
_MAX_TEMPLATES = 8
_MAX_SAMPLE_CHARACTERS = 100_000
_FEWEST_ROWS_TO_HALVE = 16
_FEWEST_ROWS_TO_FORGET = 100
_MOST_BATCHES_TO_WAIT = 64
"""Batches after which templates are learned anew; to learn is to parse some 20 documents."""


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
        self._templates: Ranked[Template] = Ranked(_MAX_TEMPLATES)
        self._query = PreparedQuery()
        self._prepared = ""
        self._is_possible = all(can_be_quick(f.type) for f in schema)
        # A name twice in a MAP is an error in DuckDB's strict mode only; otherwise it makes a null of the column.
        self._is_strict = any(holds_map(f.type) for f in self._wanted)
        self._seen = _Seen()

    def decode(self, texts: pa.Array) -> Part | None:
        """Decode the documents that it knows to decode as the exact way would.

        Args:
            texts: a `pa.string()` array of valid UTF-8; null where there is nothing to decode.

        Returns:
            What is decoded, or None if nothing is.
        """
        if not self._is_possible:
            return None
        if self._seen.is_over():
            self._forget()
        part = self._run(texts)
        left = np.flatnonzero(~part.is_done & np.asarray(texts.is_valid()))
        for _ in range(_ROUNDS_PER_BATCH):
            if not len(left) or not self._learn(texts, left):
                break
            part = filled_in(part, left, self._run(texts.take(pa.array(left))))
            left = left[~part.is_done[left]]
        self._templates.end_batch()
        self._seen.add(len(texts), len(left))
        return part if part.is_done.any() else None

    def _run(self, texts: pa.Array) -> Part:
        is_known = self._known(texts)
        if not is_known.any():
            return nothing_done(len(texts), self._types)
        if not self._wanted:
            return Part([], is_known)  # whoever matches is no bad record
        return self._transformed(texts if is_known.all() else pc.if_else(pa.array(is_known), texts, None))

    def _known(self, texts: pa.Array) -> npt.NDArray[np.bool_]:
        """Return which texts a template matches."""
        is_known = np.zeros(len(texts), np.bool_)
        left = np.flatnonzero(np.asarray(texts.is_valid()))
        for template in sorted(self._templates, key=lambda template: len(template.pattern)):
            if not len(left):
                break
            # RE2 as Arrow calls it is twice as fast as RE2 as DuckDB calls it.
            tried = texts if len(left) == len(texts) else texts.take(pa.array(left))
            found = np.asarray(pc.match_substring_regex(tried, pattern=_whole(template)))
            self._templates.count(template, int(np.count_nonzero(found)))
            is_known[left[found]] = True
            left = left[~found]
        return is_known

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
        if (self._is_strict and not template.is_total) or not _can_be_matched(template):
            return False
        for known in self._templates:
            joined = merged(known, template, self._fields)
            if joined is not None and (joined.is_total or not self._is_strict) and _can_be_matched(joined):
                self._templates.replace(known, joined)
                return joined != known
        self._templates.add(template)
        return True

    def _prepare(self) -> bool:
        structure = {f.name: duck_structure(f.type, self._kinds.columns.get(f.name)) for f in self._wanted}
        # Where no document lacks a field, DuckDB shall stop at one that does, or at a value that it cannot convert.
        transform = "json_transform_strict" if all(t.is_total for t in self._templates) else "json_transform"
        expression = f"{transform}(v, {_literal(json.dumps(structure, ensure_ascii=False))})"
        if not structure or expression == self._prepared:
            return True
        try:
            self._query.prepare(expression)
        except DuckError:
            # Two fields differ only in a way that DuckDB does not see.
            self._is_possible = False
        self._prepared = expression
        return self._is_possible

    def _forget(self) -> None:
        self._templates.clear()
        self._kinds.columns.clear()


class _Seen:
    """How the templates did since they were last forgotten."""

    def __init__(self) -> None:
        self._batches = self._rows = self._left = 0
        self._wait = 1

    def add(self, rows: int, left: int) -> None:
        """Count a batch."""
        self._batches += 1
        self._rows += rows
        self._left += left

    def is_over(self) -> bool:
        """Return whether the templates have to be learned anew, and begin again if so."""
        is_useless = self._left * 2 > self._rows >= _FEWEST_ROWS_TO_FORGET
        if self._batches < (self._wait if is_useless else _MOST_BATCHES_TO_WAIT):
            return False
        # Documents that cannot be learned must not be looked at anew in each batch.
        self._wait = min(self._wait * 2, _MOST_BATCHES_TO_WAIT) if is_useless else 1
        self._batches = self._rows = self._left = 0
        return True


def _whole(template: Template) -> str:
    return rf"\A(?:{template.pattern})\z"


def _can_be_matched(template: Template) -> bool:
    """Return whether the pattern is small enough for RE2."""
    try:
        pc.match_substring_regex(pa.array([""]), pattern=_whole(template))
    except pa.ArrowInvalid:
        return False
    return True


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
