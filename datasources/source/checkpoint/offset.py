"""The offset: the source's whole memory, written into Spark's checkpoint with every batch.

Rules of this file
* A batch is described by its *end* offset alone: each split's range, the watermarks that hold at its start, and
  every decision that depended on a clock or on another process. Reading it again gives equal rows and row watermarks.
* Spark compares offsets as JSON text, so equal offsets give equal text: sorted keys, integers, no floats.
* The layout is versioned. A golden file of every released version is loaded by a test.

Layout, version 2. Per-split values are columns in the order of `splits`. A column is its smallest value followed by
deltas; one that would be long is its smallest value, a width and bytes in base64 (`offset_codec`):

    v           2
    seq, run    number of the batch; how many planner processes this query had
    splits      [[group, [[first, last], ...]], ...]: names "group-number" as ranges; names without number: [name, null]
    from, rows  columns of `start` and of `end - start`
    wm          column of `watermark_ms`, null where none
    lag         null if it is 0 everywhere, else the column of `start - known_at`
    moved       column of `moved_ms`
    status      {"idle": [[first, last], ...], ...} index ranges of all that is not active
    limit       null, or the column of `limit` (bounded sources)
    combined    watermark of the whole source before the batch, ms, null = none; the minimum of its row watermarks
    stamped     largest row watermark known to have been emitted before the batch
    ceiling     largest candidate that may move a watermark (`watermark.max-ahead`), null = any
    allowed     a split stops before its first record with a larger candidate (alignment), null = no bound. The
                planned end is then an upper bound: where a split stopped follows from its report or a second read
    processing  whether the source is in processing time; `combined` is then a reading of a clock
    turn        null, or the column of `processing_start`: where each split's processing time begins
    parts       only where the scan has several time attributes: for each the column of its watermark. A split that is
                not known to have several has the same in all
    logs        only where the connector reports which log positions refer to (`LogIdentity`): their `ids`, the index
                `of` each split's id, and the columns `epoch` and, where an election lies between, `start` of the two
                epochs
    hold        only of a probe (`load_gate_state`): since when it waits, and the sequence
                of the batch from which on it is read, null = the gate is closed
    load        only of a build: since when it is loaded, the ends that its splits had then, and the
                sequence of the batch before which they were read, null = not yet
    state       only where the connector keeps more than positions (`connector_state`): a JSON object of its own
    strategy, schema, subscription   what the checkpoint was written with, as text or fingerprint
    isolation   only where the connector has several: which records are visible, as text
    dead_letters   only where tasks write dead letters, or did: a random id of the source, made when it first needed
                one. Under it the target knows which dead letters are there (`api/dead_letters`)

Version 1 had neither `allowed` nor `processing` nor `turn`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from datasources.errors import OffsetError
from datasources.source.api.connector_state import State
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.load_gate_state import GateState, LoadState
from datasources.source.checkpoint.log_identities_codec import decode_logs, encode_logs
from datasources.source.checkpoint.offset_codec import (
    decode_column,
    decode_names,
    decode_statuses,
    encode_column,
    encode_names,
    encode_statuses,
    require_int,
    require_text,
    split_sort_key,
)

__all__ = ["OFFSET_VERSION", "Identity", "Offset", "split_sort_key", "with_dead_letter_id"]

OFFSET_VERSION = 2
_READABLE_VERSIONS = (1, 2)
_KEYS: Final = frozenset(
    "v seq run splits from rows wm lag moved status limit combined stamped ceiling allowed processing turn strategy "  # noqa: SIM905 - legible
    "schema subscription parts logs isolation statement state hold load dead_letters".split()
)
"""What offsets have. A key of a newer version changes what an offset means, so it is not passed over."""
_MAX_SPLITS = 1_000_000
_ID_BYTES = 8
_NEGATIVE = (
    "stands in the checkpoint: an earlier version wrote it while a server did not answer, and to read on from it would "
    "read the split twice. Stop the query, remove its newest batches from 'offsets' and 'commits' of the checkpoint, "
    "back to one without such a position, and start it again; or start with a new checkpoint location"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a checkpoint belongs to: a change of any part on restart is an error unless the user allows it."""

    strategy: str = ""
    schema: str = ""
    subscription: str = ""
    isolation: str = ""
    statement: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """Everything that a batch needs to be read, now or again. See the module for the meaning of each part."""

    sequence: int
    run: int
    splits: tuple[SplitProgress, ...]
    combined_ms: int | None = None
    emitted_watermark_ms: int | None = None
    ceiling_ms: int | None = None
    allowed_ms: int | None = None
    is_processing: bool = False
    identity: Identity
    state: State | None = None
    gate: GateState | None = None
    load: LoadState | None = None
    dead_letters: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the offset as JSON primitives with sorted keys; equal offsets give equal results.

        Raises:
            OffsetError: it holds a position below 0, which no server has.
        """
        columns = self.splits
        _require_positions(columns, "was about to be written: this is a bug of the connector. Nothing was written")
        lags = [s.start - s.known_at for s in columns]
        limits = [s.limit for s in columns]
        processing_starts = [s.processing_start for s in columns]
        raw: dict[str, Any] = {
            "v": OFFSET_VERSION,
            "seq": self.sequence,
            "run": self.run,
            "splits": encode_names([s.split for s in columns]),
            "from": encode_column([s.start for s in columns]),
            "rows": encode_column([s.end - s.start for s in columns]),
            "wm": encode_column([s.watermark_ms for s in columns]),
            "lag": encode_column(lags) if any(lags) else None,
            "moved": encode_column([s.moved_ms for s in columns]),
            "status": encode_statuses([s.status for s in columns]),
            "limit": None if all(limit is None for limit in limits) else encode_column(limits),
            "combined": self.combined_ms,
            "stamped": self.emitted_watermark_ms,
            "ceiling": self.ceiling_ms,
            "allowed": self.allowed_ms,
            "processing": self.is_processing,
            "turn": None
            if all(processing_start is None for processing_start in processing_starts)
            else encode_column(processing_starts),
            "strategy": self.identity.strategy,
            "schema": self.identity.schema,
            "subscription": self.identity.subscription,
        }
        attributes = max((len(s.attribute_watermarks_ms) for s in columns), default=0)
        if attributes:
            raw["parts"] = [
                encode_column(
                    [s.attribute_watermarks_ms[n] if s.attribute_watermarks_ms else s.watermark_ms for s in columns]
                )
                for n in range(attributes)
            ]
        optional = {
            "logs": encode_logs([s.log for s in columns]),
            "isolation": self.identity.isolation or None,
            "statement": self.identity.statement or None,
            "state": None if self.state is None else dict(self.state),
            "hold": None if self.gate is None else self.gate.to_json(),
            "load": None if self.load is None else self.load.to_json(),
            "dead_letters": self.dead_letters,
        }
        raw |= {key: value for key, value in optional.items() if value is not None}
        return dict(sorted(raw.items()))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Offset:
        """Return the offset that `raw` describes.

        Raises:
            OffsetError: it was written by a newer version, or is no offset of Tidemark.
        """
        version = raw.get("v") if isinstance(raw, Mapping) else None
        if type(version) is not int or version not in _READABLE_VERSIONS:
            raise OffsetError(
                f"the checkpoint holds an offset of version {version!r}; this version of Tidemark reads versions up "
                f"to {OFFSET_VERSION}. Use the version that wrote it, or a new checkpoint location."
            )
        if unknown := sorted(raw.keys() - _KEYS):
            raise OffsetError(
                f"the checkpoint's offset has what only a newer version of Tidemark understands "
                f"({', '.join(unknown)}). Use the version that wrote it, or a new checkpoint location."
            )
        try:
            offset = _decode(raw)
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise OffsetError(
                f"the checkpoint's offset is damaged ({type(error).__name__}: {error}). Restore the checkpoint "
                f"from a copy, or start with a new checkpoint location."
            ) from error
        _require_positions(offset.splits, _NEGATIVE)
        return offset


def with_dead_letter_id(offset: Offset) -> Offset:
    """Return the offset with its id for dead letters, a new one if it has none.

    An id is made at the beginning of a batch, so no dead letter of the batch was written under another one.
    """
    return offset if offset.dead_letters is not None else replace(offset, dead_letters=secrets.token_hex(_ID_BYTES))


def _decode(raw: Mapping[str, Any]) -> Offset:
    later = raw["v"] > 1
    return Offset(
        sequence=require_int(raw["seq"]),
        run=require_int(raw["run"]),
        splits=_decode_splits(raw),
        combined_ms=_optional(raw["combined"]),
        emitted_watermark_ms=_optional(raw["stamped"]),
        ceiling_ms=_optional(raw["ceiling"]),
        allowed_ms=_optional(raw["allowed"]) if later else None,
        is_processing=_require_bool(raw["processing"]) if later else False,
        identity=Identity(
            strategy=require_text(raw["strategy"]),
            schema=require_text(raw["schema"]),
            subscription=require_text(raw["subscription"]),
            isolation=require_text(raw.get("isolation", "")),
            statement=require_text(raw.get("statement", "")),
        ),
        state=_optional_object(raw.get("state")),
        gate=None if raw.get("hold") is None else GateState.from_json(raw["hold"]),
        load=None if raw.get("load") is None else LoadState.from_json(raw["load"]),
        dead_letters=None if raw.get("dead_letters") is None else require_text(raw["dead_letters"]),
    )


def _decode_splits(raw: Mapping[str, Any]) -> tuple[SplitProgress, ...]:
    names = decode_names(raw["splits"], _MAX_SPLITS)
    count = len(names)
    nothing: list[int | None] = [None] * count
    processing_starts = raw["turn"] if raw["v"] > 1 else None
    parts = [decode_column(column, count) for column in raw.get("parts", [])]
    columns = zip(
        names,
        map(require_int, decode_column(raw["from"], count)),
        map(_not_negative, decode_column(raw["rows"], count)),
        [0] * count if raw["lag"] is None else map(_not_negative, decode_column(raw["lag"], count)),
        decode_column(raw["wm"], count),
        map(require_int, decode_column(raw["moved"], count)),
        decode_statuses(raw["status"], count),
        nothing if raw["limit"] is None else decode_column(raw["limit"], count),
        nothing if processing_starts is None else decode_column(processing_starts, count),
        zip(*parts, strict=True) if parts else [()] * count,
        decode_logs(raw.get("logs"), count),
        strict=True,
    )
    return tuple(
        SplitProgress(
            split=SplitId(name),
            start=start,
            end=start + rows,
            watermark_ms=watermark,
            known_at=start - lag,
            status=status,
            moved_ms=moved,
            limit=limit,
            processing_start=processing_start,
            attribute_watermarks_ms=tuple(of_split),
            log=log,
        )
        for name, start, rows, lag, watermark, moved, status, limit, processing_start, of_split, log in columns
    )


def _require_positions(splits: tuple[SplitProgress, ...], what: str) -> None:
    wrong = next((split for split in splits if split.start < 0 or split.end < 0 or split.known_at < 0), None)
    if wrong is not None:
        position = min(wrong.start, wrong.end, wrong.known_at)
        raise OffsetError(f"position {position} of split '{wrong.split}' {what}.")


def _optional(value: object) -> int | None:
    return None if value is None else require_int(value)


def _optional_object(value: object) -> State | None:
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{value!r} stands where an object belongs")
    return value


def _require_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} stands where true or false belongs")
    return value


def _not_negative(value: object) -> int:
    number = require_int(value)
    if number < 0:
        raise ValueError(f"{number} stands where no negative number belongs")
    return number
