"""Records as the client hands them over, and what a scan makes of them, without a broker."""

from __future__ import annotations

import json

import pyarrow as pa
from confluent_kafka import Message

from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.reader.fetcher import Fetched
from datasources.kafka.reader.record_chunks import ChunkMaker
from datasources.kafka.source import KafkaSource
from datasources.options import reject_unknown
from datasources.source.api.connector import SessionInfo
from datasources.source.api.reader import Chunk

__all__ = ["SESSION", "chunk_of", "decoding", "record", "source_of"]

SESSION = SessionInfo(time_zone="UTC", ansi=True)


def source_of(metadata: dict[str, str] | None = None, **options: object) -> KafkaSource:
    """The source of some options; `__` in the names of arguments stands for a dot, `_` for a dash."""
    given = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "orders"}
    given |= {key.replace("__", ".").replace("_", "-"): str(value) for key, value in options.items()}
    given = {key.lower(): value for key, value in given.items()}
    reject_unknown(given, KafkaSource.option_groups, prefixes=KafkaSource.option_prefixes, what="tidemark-kafka")
    source = KafkaSource.create(given, SESSION)
    return source if metadata is None else source.with_metadata(metadata)


def decoding(source: KafkaSource, *names: str) -> KafkaSource:
    """The source whose readers decode only these columns."""
    return source.with_columns(pa.schema([field for field in source.schema if field.name in names]))


def record(offset: int, key: object = None, value: object = None, **more: object) -> Message:
    """A record of partition 3; a key or value that is neither bytes nor None becomes JSON."""
    more.setdefault("timestamp", (1, 1_000 + offset))
    return Message(topic="orders", partition=3, offset=offset, key=_bytes(key), value=_bytes(value), **more)


def chunk_of(source: KafkaSource, *messages: Message, only: frozenset[str] | None = None, lost: int = 0) -> Chunk:
    """The chunk that a reader of the source makes of consecutive records."""
    how = source.reader_factory().chunk_format(only)
    part = Fetched(topic="orders", partition=3, records=MessageRecords(list(messages)), lost=lost)
    return next(iter(ChunkMaker(how).chunks([part])))


def _bytes(part: object) -> bytes | None:
    return part if part is None or isinstance(part, bytes) else json.dumps(part).encode()
