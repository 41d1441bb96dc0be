"""The fast path: whole batches in DuckDB, for the documents whose text a template matches.

Theory of operation: each text is matched against the cached templates, and one prepared query transforms those that
match. A sample of the unmatched documents extends the templates, repeatedly, because documents of several kinds may
alternate; the slow path decodes documents that remain unmatched. So templates only affect speed.

A decoder lives as long as its process, so no template may be kept forever: templates are tried from the shortest on,
each on the documents that the previous ones did not match; rarely used ones are evicted (`usage_cache`); and all of
them are rebuilt at intervals, sooner if most documents remain unmatched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.formats.json.fast_path.composite_patterns import UnsupportedTemplate
from datasources.formats.json.fast_path.duckdb_columns import LocalTimes, duckdb_structure, finished
from datasources.formats.json.fast_path.duckdb_query import DuckDbError, PreparedQuery
from datasources.formats.json.fast_path.templates import Template, TimestampKinds, merged, template_of
from datasources.formats.json.fast_path.value_patterns import can_use_fast_path, holds_map
from datasources.formats.json.partial_rows import PartialRows, filled_in, joined, nothing_done
from datasources.formats.json.text.json_scanner import Malformed
from datasources.formats.json.text.json_syntax import parse
from datasources.formats.values.usage_cache import UsageCache
from datasources.grammar.zones import FixedOffset, Zone

_SAMPLES = 8
_ROUNDS_PER_BATCH = 3
_MAX_TEMPLATES = 8
_MAX_SAMPLE_CHARACTERS = 100_000
_MIN_ROWS_TO_SPLIT = 16
_MIN_ROWS_TO_RESET = 100
_MAX_BATCHES_TO_RESET = 64
"""Batches after which templates are rebuilt, which means parsing some 20 documents."""


class TemplateDecoder:
    """Decodes the documents of a batch that match a template, and caches templates for the next batches.

    Not thread-safe.

    Args:
        schema: validates documents.
        wanted: names of the columns to decode; if empty, documents are only validated.
        zone: of timestamps without a zone; None = they are not decoded here.
        types: types of wanted columns that differ from the schema: a STRUCT without some of its fields.
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
        self._templates: UsageCache[Template] = UsageCache(_MAX_TEMPLATES)
        self._query = PreparedQuery()
        self._prepared = ""
        self._is_possible = all(can_use_fast_path(f.type) for f in schema)
        # A duplicate name in a MAP is an error in DuckDB's strict mode only; otherwise the column becomes null.
        self._is_strict = any(holds_map(f.type) for f in self._wanted)
        self._reset_schedule = _ResetSchedule()

    def decode(self, texts: pa.Array) -> PartialRows | None:
        """Decode the documents for which the result is known to equal the slow path's.

        Args:
            texts: a `pa.string()` array of valid UTF-8; null where there is nothing to decode.

        Returns:
            The partial rows; None if nothing was decoded.
        """
        if not self._is_possible:
            return None
        if self._reset_schedule.is_due():
            self._forget()
        partial = self._run(texts)
        remaining = np.flatnonzero(~partial.is_done & np.asarray(texts.is_valid()))
        for _ in range(_ROUNDS_PER_BATCH):
            if not len(remaining) or not self._add_templates(texts, remaining):
                break
            partial = filled_in(partial, remaining, self._run(texts.take(pa.array(remaining))))
            remaining = remaining[~partial.is_done[remaining]]
        self._templates.end_batch()
        self._reset_schedule.add(len(texts), len(remaining))
        return partial if partial.is_done.any() else None

    def _run(self, texts: pa.Array) -> PartialRows:
        is_known = self._known(texts)
        if not is_known.any():
            return nothing_done(len(texts), self._types)
        if not self._wanted:
            return PartialRows([], is_known)  # a document that matches is not bad
        return self._transformed(texts if is_known.all() else pc.if_else(pa.array(is_known), texts, None))

    def _known(self, texts: pa.Array) -> npt.NDArray[np.bool_]:
        """Return which texts a template matches."""
        is_known = np.zeros(len(texts), np.bool_)
        remaining = np.flatnonzero(np.asarray(texts.is_valid()))
        for template in sorted(self._templates, key=lambda template: len(template.pattern)):
            if not len(remaining):
                break
            # RE2 as Arrow calls it is twice as fast as RE2 as DuckDB calls it.
            tried = texts if len(remaining) == len(texts) else texts.take(pa.array(remaining))
            found = np.asarray(pc.match_substring_regex(tried, pattern=_whole(template)))
            self._templates.count(template, int(np.count_nonzero(found)))
            is_known[remaining[found]] = True
            remaining = remaining[~found]
        return is_known

    def _transformed(self, texts: pa.Array) -> PartialRows:
        try:
            result = self._query.run(texts)
        except DuckDbError:
            # One document is enough to fail a query, for instance by a duplicate name in a MAP.
            if len(texts) < _MIN_ROWS_TO_SPLIT:
                return nothing_done(len(texts), self._types)
            middle = len(texts) // 2
            return joined(self._transformed(texts[:middle]), self._transformed(texts[middle:]))
        columns = [
            finished(array, field.type, self._kinds.columns.get(field.name), self._local)
            for array, field in zip(result.flatten(), self._wanted, strict=True)
        ]
        return PartialRows(columns, np.asarray(result.is_valid()))

    def _add_templates(self, texts: pa.Array, remaining: npt.NDArray[np.intp]) -> bool:
        """Extend the templates by a sample of the rows; return whether they changed."""
        is_new = False
        for row in remaining[:: max(1, len(remaining) // _SAMPLES)][:_SAMPLES].tolist():
            text = texts[row].as_py()
            if len(text) > _MAX_SAMPLE_CHARACTERS:
                continue
            try:
                is_new |= self._add(template_of(parse(text), self._fields, self._kinds))
            except (Malformed, UnsupportedTemplate):
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
        structure = {f.name: duckdb_structure(f.type, self._kinds.columns.get(f.name)) for f in self._wanted}
        # If no document may lack a field, DuckDB must fail on one that does, or on a value it cannot convert.
        transform = "json_transform_strict" if all(t.is_total for t in self._templates) else "json_transform"
        expression = f"{transform}(v, {_literal(json.dumps(structure, ensure_ascii=False))})"
        if not structure or expression == self._prepared:
            return True
        try:
            self._query.prepare(expression)
        except DuckDbError:
            # DuckDB does not distinguish the names of two fields.
            self._is_possible = False
        self._prepared = expression
        return self._is_possible

    def _forget(self) -> None:
        self._templates.clear()
        self._kinds.columns.clear()


class _ResetSchedule:
    """Decides when to rebuild the templates, from the share of documents that they matched since the last time."""

    def __init__(self) -> None:
        self._batches = self._rows = self._remaining = 0
        self._wait = 1

    def add(self, rows: int, remaining: int) -> None:
        """Count a batch."""
        self._batches += 1
        self._rows += rows
        self._remaining += remaining

    def is_due(self) -> bool:
        """Return whether the templates must be rebuilt, and restart the count if so."""
        is_useless = self._remaining * 2 > self._rows >= _MIN_ROWS_TO_RESET
        if self._batches < (self._wait if is_useless else _MAX_BATCHES_TO_RESET):
            return False
        # Documents without a template must not be sampled again in each batch.
        self._wait = min(self._wait * 2, _MAX_BATCHES_TO_RESET) if is_useless else 1
        self._batches = self._rows = self._remaining = 0
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
