"""Writes the dead letters of one range of a split. The package explains why each is there once."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from datasources.errors import OptionError, SourceUnavailable, TidemarkError
from datasources.kafka.client.client_errors import explain, is_refusal
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.dead_letters.dead_letter_options import DeadLetterSettings
from datasources.kafka.dead_letters.raw_records import RawRecords
from datasources.kafka.producer.producers import OutgoingRecord
from datasources.kafka.producer.transactions import CommittedNumber, TransactionalProducer, is_fenced
from datasources.source.api.dead_letters import ChunkRecords, DeadLetter, DeadLetterScope
from datasources.source.api.split import SplitId
from watermark import Clock, SystemClock

_MAX_RECORDS: Final = 10_000
_MAX_BYTES: Final = 4 << 20
"""What is kept before it is written."""
_ANSWER_S: Final = 30.0
_BOUND_NS: Final = 120 * 1_000_000_000
"""How long the brokers may fail before the task does."""
_FIRST_PAUSE_S: Final = 0.1
_MAX_PAUSE_S: Final = 2.0
_MAX_FENCED: Final = 10
_MAX_KEPT: Final = 8
_UNLIMITED_BYTES: Final = "1000000000"
_OWN_SETTINGS: Final = {
    "allow.auto.create.topics": "false",
    "message.max.bytes": _UNLIMITED_BYTES,  # what the topic takes is the brokers' decision
}
_ABSENT: Final = frozenset(
    {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}  # noqa: SLF001
)


@dataclass(slots=True)
class SplitProducer:
    """The producer of a split, and what is committed as long as no other producer of the split begins."""

    producer: TransactionalProducer
    committed: CommittedNumber | None


# A worker keeps the producers of the splits whose dead letters it wrote last: opening one takes some round trips.
_producers: ResourcePool[Hashable, SplitProducer] = ResourcePool(_MAX_KEPT, lambda kept: kept.producer.close())


class LetterWriter:
    """Writes the dead letters of one range; a range without any opens no connection.

    Args:
        settings: from the options.
        scope: the source and the batch.
        split: whose they are.
    """

    def __init__(
        self, settings: DeadLetterSettings, scope: DeadLetterScope, split: SplitId, clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._scope = scope
        self._split = split
        self._clock = clock or SystemClock()
        self._id = f"{settings.id_prefix}-{scope.source}-{split}"
        self._waiting: list[tuple[int, OutgoingRecord]] = []
        self._waiting_bytes = 0
        self._opened: SplitProducer | None = None
        self._is_one_by_one = False

    def add(self, records: ChunkRecords, letters: Sequence[DeadLetter]) -> None:
        """Take dead letters of a chunk, in split order.

        Raises:
            OptionError: the topic is gone.
            SourceUnavailable: they could not be written.
        """
        assert isinstance(records, RawRecords)
        for letter in letters:
            record = records.outgoing(letter)
            self._waiting.append((records.position(letter.record), record))
            self._waiting_bytes += _size(record)
            if len(self._waiting) >= _MAX_RECORDS or self._waiting_bytes >= _MAX_BYTES:
                self._write_waiting()

    def finish(self) -> None:
        """Return when all are written.

        Raises:
            OptionError, SourceUnavailable: as `add`.
        """
        if self._waiting:
            self._write_waiting()
        if self._opened is not None:
            _producers.give(self._key, self._opened)
            self._opened = None

    def _write_waiting(self) -> None:
        ends_ns, pause_s, fenced = self._clock.monotonic_ns() + _BOUND_NS, _FIRST_PAUSE_S, 0
        while True:
            try:
                self._attempt()
            except KafkaException as error:
                fenced += is_fenced(error)
                is_over = self._clock.monotonic_ns() >= ends_ns or fenced > _MAX_FENCED
                may_be_each_alone = _code(error) == KafkaError.MSG_SIZE_TOO_LARGE and not self._is_one_by_one
                if is_over or (_is_final(error) and not may_be_each_alone):
                    raise self._error(error) from error
                self._is_one_by_one |= may_be_each_alone
            else:
                self._waiting, self._waiting_bytes = [], 0
                return
            threading.Event().wait(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    def _attempt(self) -> None:
        """Write what is not there yet, in one transaction."""
        try:
            opened = self._opened = self._opened or _producers.take(self._key) or self._open()
            written = self._position(opened.committed)
            missing = [record for position, record in self._waiting if position >= written]
            if missing:
                committed = CommittedNumber(self._waiting[-1][0] + 1, str(self._note(opened.committed)))
                opened.producer.write(missing, committed.number, committed.note)
                opened.committed = committed
        except BaseException:
            self._drop()
            raise

    def _open(self) -> SplitProducer:
        """End the transactions of all other writers of the split, and find out what they wrote."""
        settings = self._settings
        producer = TransactionalProducer(
            settings.config, settings.topic, self._id, timeout_ms=settings.transaction_ms, answer_s=_ANSWER_S
        )
        opened = self._opened = SplitProducer(producer, None)
        own = {name: value for name, value in _OWN_SETTINGS.items() if name not in settings.config}
        if self._is_one_by_one:
            own["batch.num.messages"] = "1"
        opened.committed = producer.open(own)
        return opened

    def _drop(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.producer.close()

    def _position(self, committed: CommittedNumber | None) -> int:
        """Return the position before which this batch's dead letters are there.

        A position of an earlier batch means nothing here: either it is before this batch, or positions were given out
        again since.
        """
        if committed is None or self._sequence_of(committed) < self._scope.sequence:
            return 0
        return committed.number

    def _note(self, committed: CommittedNumber | None) -> int:
        return self._scope.sequence if committed is None else max(self._scope.sequence, self._sequence_of(committed))

    def _sequence_of(self, committed: CommittedNumber) -> int:
        if not committed.note.isdecimal():
            raise SourceUnavailable(
                f"the group '{self._id}' has the offset {committed.number} with the text '{committed.note}', which "
                f"Tidemark did not write. Reset no offsets of this group; delete the group, and the query goes on."
            )
        return int(committed.note)

    def _error(self, error: KafkaException) -> TidemarkError:
        topic, servers, code = self._settings.topic, self._settings.config.bootstrap_servers, _code(error)
        resumed = "The batch is not complete, so nothing is lost: a restarted query writes what is missing."
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            largest = max((record for _, record in self._waiting), key=_size)
            return SourceUnavailable(
                f"the dead letter topic '{topic}' does not take the record {_name(largest)}: with its headers it has "
                f"{_size(largest):,} bytes. Raise the topic's max.message.bytes, or set "
                f"'format.dead-letter.kafka.compression.type'. {resumed}"
            )
        if code in _ABSENT:
            return OptionError(
                f"the brokers at {servers} have no topic '{topic}' (format.dead-letter.topic) any more. Create it "
                f"again. {resumed}"
            )
        if is_fenced(error):
            return SourceUnavailable(
                f"other processes keep writing the dead letters of '{self._split}' into '{topic}' with the "
                f"transactional id '{self._id}'. Only one query may run with a checkpoint. {resumed}"
            )
        action = f"writing dead letters of '{self._split}' into '{topic}'"
        explained = explain(error, action=action, servers=servers, hint=self._settings.login_hint)
        return type(explained)(f"{explained.message} {resumed}")

    @property
    def _key(self) -> Hashable:
        return tuple(sorted(self._settings.config.items())), self._settings.topic, self._id


def _is_final(error: KafkaException) -> bool:
    """Return whether another attempt is of no use."""
    cause = error.args[0]
    is_refused = isinstance(cause, KafkaError) and is_refusal(cause)
    return is_refused or _code(error) in (*_ABSENT, KafkaError.MSG_SIZE_TOO_LARGE)


def _code(error: KafkaException) -> int | None:
    cause = error.args[0]
    return cause.code() if isinstance(cause, KafkaError) else None


def _name(record: OutgoingRecord) -> str:
    return "" if record.key is None else record.key.decode()


def _size(record: OutgoingRecord) -> int:
    headers = sum(len(name) + len(content or b"") for name, content in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
