"""Things that are expensive to open and outlive what used them: consumers, decoders. Each belongs to one process.

Who takes a thing owns it until it gives it back, so no two users ever share one. What was kept before a fork does not
work after it, and closing it there would not either: the threads of a consumer stay in the parent, and freeing it
without them aborts or waits for ever. So a child forgets what it was born with, and never frees it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["Kept"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """A bounded pool; what was not used for longest goes first.

    Args:
        most: how many things it keeps, > 0.
        close: ends a thing that is not kept any longer.
    """

    def __init__(self, most: int, close: Callable[[V], None]) -> None:
        self._most = most
        self._close = close
        self._things: OrderedDict[K, V] = OrderedDict()
        self._pid = 0
        _pools.add(self)

    def __iter__(self) -> Iterator[K]:
        """The keys, oldest first."""
        return iter(list(self._things))

    def __len__(self) -> int:
        return len(self._things)

    @property
    def is_full(self) -> bool:
        """Whether another thing would push one out."""
        return len(self._things) >= self._most

    def take(self, key: K) -> V | None:
        """Return what is kept under `key`, which is the caller's now; None if there is nothing."""
        self._forget_after_fork()
        return self._things.pop(key, None)

    def give(self, key: K, thing: V) -> None:
        """Keep a thing for the next user; of two under one key the newer stays."""
        self._forget_after_fork()
        surplus = [self._things.pop(key)] if key in self._things else []
        self._things[key] = thing
        while len(self._things) > self._most:
            surplus.append(self._things.popitem(last=False)[1])
        for one in surplus:
            self._close(one)

    def leave_to_parent(self) -> None:
        """Forget what is kept, and never free it: it is the parent's."""
        for thing in self._things.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
        self._things = OrderedDict()

    def _forget_after_fork(self) -> None:
        if self._pid != os.getpid():
            self.leave_to_parent()
            self._pid = os.getpid()
            atexit.register(self._close_all)

    def _close_all(self) -> None:
        while self._pid == os.getpid() and self._things:
            self._close(self._things.popitem()[1])


_pools: weakref.WeakSet[Kept[Any, Any]] = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for pool in list(_pools):
        pool.leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)
