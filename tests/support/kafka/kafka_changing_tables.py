"""Topics with the changes of tables, and the tables as a model keeps them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from tests.support.kafka.kafka_server import KafkaServer, Record

__all__ = ["ChangingTopics"]

Document = dict[str, Any]

_PARTITIONS = 3
_MS = 1_760_000_000_000


@dataclass(slots=True)
class ChangingTopics:
    """Users as upserts by key, and orders as events of Debezium, each key in one partition.

    Attributes:
        users: the rows, by id.
        orders: the rows, by id.
        declarations: CREATE TABLE for both.
    """

    server: KafkaServer
    rng: random.Random
    users: dict[int, Document] = field(default_factory=dict)
    orders: dict[int, Document] = field(default_factory=dict)
    _topics: dict[str, str] = field(default_factory=dict)
    _times: int = 0

    def create(self) -> None:
        """Create the topics."""
        self._topics = {
            name: self.server.create_topic(partitions=_PARTITIONS, prefix=name) for name in ("users", "orders")
        }

    @property
    def declarations(self) -> list[str]:
        """Return CREATE TABLE for both."""
        broker = f"'properties.bootstrap.servers' = '{self.server.bootstrap_servers}'"
        kafka = f"{broker}, 'scan.startup.mode' = 'earliest-offset'"
        users = (
            f"CREATE TABLE users (id BIGINT, name STRING, score INT, PRIMARY KEY (id) NOT ENFORCED) WITH ("
            f"'connector' = 'upsert-kafka', {broker}, 'topic' = '{self._topics['users']}', 'key.format' = 'json', "
            f"'value.format' = 'json')"
        )
        orders = (
            f"CREATE TABLE orders (id BIGINT, `user` BIGINT, price DECIMAL(10,2), tags ARRAY<STRING>, PRIMARY KEY (id) "
            f"NOT ENFORCED) WITH ('connector' = 'kafka', {kafka}, 'topic' = '{self._topics['orders']}', "
            f"'format' = 'debezium-json')"
        )
        return [users, orders]

    def change(self, times: int) -> None:
        """Write changes of both tables."""
        users: dict[int, list[Record]] = {at: [] for at in range(_PARTITIONS)}
        orders: dict[int, list[Record]] = {at: [] for at in range(_PARTITIONS)}
        for _ in range(times):
            key, record = self._user()
            users[key % _PARTITIONS].append((_text({"id": key}), record, _MS))
            key, record = self._order()
            orders[key % _PARTITIONS].append((_text({"id": key}), record, _MS))
        for name, records in (("users", users), ("orders", orders)):
            for partition, listed in records.items():
                self.server.produce(self._topics[name], partition, listed)

    def write(self, table: str, partition: int, *records: Record) -> None:
        """Write records as they are."""
        self.server.produce(self._topics[table], partition, records)

    def _user(self) -> tuple[int, bytes | None]:
        key = self.rng.randrange(12)
        if self.rng.random() < 0.3:  # perhaps of a user that is not there
            self.users.pop(key, None)
            return key, None
        self.users[key] = {
            "id": key,
            "name": self.rng.choice(["ann", "bo", "", None]),
            "score": self.rng.choice([None, *range(5)]),
        }
        return key, _text(self.users[key])

    def _order(self) -> tuple[int, bytes]:
        key = self.rng.randrange(30)
        before, action = self.orders.get(key), self.rng.random()
        if before is not None and action < 0.4:
            del self.orders[key]
            return key, _event("d", before, None)
        self._times += 1
        after = {
            "id": key,
            "user": self.rng.choice([None, *range(14)]),
            "price": self.rng.choice([None, -1.5, 2.25, 9.99]),
            "tags": self.rng.choice([None, [], ["a"], ["a", "b"]]),
        }
        self.orders[key] = after
        return key, _event("c" if before is None else "u", before, after)


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


def _event(op: str, before: Document | None, after: Document | None) -> bytes:
    return _text({"before": before, "after": after, "op": op, "ts_ms": _MS})
