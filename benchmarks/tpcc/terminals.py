"""Terminals: connections that run transactions in the specification's mix until they are stopped."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final, Self

import pymysql

from benchmarks.tpcc.random_values import RandomValues
from benchmarks.tpcc.schema import Scale
from benchmarks.tpcc.session import Changes, Session
from benchmarks.tpcc.transactions import DECK, RolledBack, Transaction

__all__ = ["Terminals"]

_DEADLOCK: Final = 1213
_LOCK_WAIT: Final = 1205
_AWAY_S: Final = 0.5


class Terminals:
    """Several terminals, in a thread each, from `with` to its end; or until each has run `limit` transactions.

    A transaction that loses a deadlock runs again. Where the server goes away, a terminal opens another connection
    and goes on with the next transaction; whether the last one was committed is then not known.

    Attributes:
        run: committed transactions, by name.
        changes: the rows that these changed; complete only if no connection was lost.
        rolled_back: new orders that were rolled back on purpose.
        repeated: transactions that lost a deadlock.
        lost: connections that broke.

    Args:
        connect: opens a connection to the database, without autocommit.
        scale: of the tables.
        count: how many terminals.
        seed: determines the transactions of each.
        limit: transactions of each terminal; None = no end.
        pause_s: between two transactions of a terminal.
    """

    def __init__(  # noqa: PLR0913 - each is an option of a run
        self,
        connect: Callable[[], Any],
        scale: Scale,
        *,
        count: int = 4,
        seed: int = 1,
        limit: int | None = None,
        pause_s: float = 0.0,
    ) -> None:
        self.run: Counter[str] = Counter()
        self.changes: Changes = Counter()
        self.rolled_back = self.repeated = self.lost = 0
        self._connect = connect
        self._scale = scale
        self._limit = limit
        self._pause_s = pause_s
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._work, args=(n, seed), daemon=True) for n in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def total(self) -> int:
        """How many transactions were committed by now."""
        with self._lock:
            return self.run.total()

    def stop(self) -> None:
        """Let each terminal end its transaction.

        Raises:
            RuntimeError: one failed.
        """
        self._stopped.set()
        self.wait()

    def wait(self) -> None:
        """Wait until each has reached the limit.

        Raises:
            RuntimeError: one failed.
        """
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise RuntimeError("a terminal failed") from self._errors[0]

    def _work(self, number: int, seed: int) -> None:
        try:
            values = RandomValues(f"{seed} terminal {number}", self._scale)
            transactions = self._transactions(values, number % self._scale.warehouses + 1)
            while not self._stopped.is_set() and not self._is_connected_to_the_end(transactions):
                self._stopped.wait(_AWAY_S)
        except BaseException as error:
            self._errors.append(error)
            raise

    def _transactions(self, values: RandomValues, home: int) -> Iterator[Transaction]:
        """Draw transactions until there is an end."""
        count = 0
        while True:
            for kind in values.random.sample(DECK, len(DECK)):
                if self._stopped.wait(self._pause_s) or count == self._limit:
                    return
                count += 1
                yield kind.draw(values, self._scale, home)

    def _is_connected_to_the_end(self, transactions: Iterator[Transaction]) -> bool:
        """Run transactions over one connection; return False if it breaks."""
        try:
            with closing(self._connect()) as connection:
                session = Session(connection)
                try:
                    for transaction in transactions:
                        self._run(session, transaction)
                finally:
                    with self._lock:
                        self.changes += session.changes
        except (pymysql.OperationalError, pymysql.InterfaceError, OSError):
            with self._lock:
                self.lost += 1
            return False
        return True

    def _run(self, session: Session, transaction: Transaction) -> None:
        while True:
            try:
                transaction.run(session)
                session.commit()
            except RolledBack:
                session.rollback()
                self._count(rolled_back=1)
            except pymysql.OperationalError as error:
                if error.args[0] not in {_DEADLOCK, _LOCK_WAIT}:
                    raise
                session.rollback()
                self._count(repeated=1)
                continue
            else:
                self._count(type(transaction).__name__)
            return

    def _count(self, *names: str, rolled_back: int = 0, repeated: int = 0) -> None:
        with self._lock:
            self.run.update(names)
            self.rolled_back += rolled_back
            self.repeated += repeated
