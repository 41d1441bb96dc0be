"""A pool for resources that are expensive to open, such as consumers and decoders. It belongs to one process.

A caller owns a resource from `take` to `give`, so resources are never shared. After a fork the child can neither use
nor close the pooled resources: a consumer's threads stay in the parent, and freeing it without them aborts or blocks
forever. So the child forgets them, and never frees them.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["ResourcePool"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ResourcePool(Generic[K, V]):
    """A bounded pool with least-recently-used eviction.

    It keeps at most ``max_size`` resources, > 0; ``close`` closes an evicted one.
    """

    def __init__(self, max_size: int, close: Callable[[V], None]) -> None:
        self._max_size = max_size
        self._close = close
        self._resources: OrderedDict[K, V] = OrderedDict()
        self._pid = 0
        _pools.add(self)

    def __iter__(self) -> Iterator[K]:
        """The keys, oldest first."""
        return iter(list(self._resources))

    def __len__(self) -> int:
        return len(self._resources)

    @property
    def is_full(self) -> bool:
        """Whether another resource would evict one."""
        return len(self._resources) >= self._max_size

    def take(self, key: K) -> V | None:
        """Remove and return the resource of a key, which the caller then owns; None if there is none."""
        self._forget_after_fork()
        return self._resources.pop(key, None)

    def give(self, key: K, resource: V) -> None:
        """Return a resource to the pool; of two with the same key the newer is kept."""
        self._forget_after_fork()
        evicted = [self._resources.pop(key)] if key in self._resources else []
        self._resources[key] = resource
        while len(self._resources) > self._max_size:
            evicted.append(self._resources.popitem(last=False)[1])
        for one in evicted:
            self._close(one)

    def leave_to_parent(self) -> None:
        """Forget the resources without ever freeing them: the parent owns them."""
        for resource in self._resources.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(resource))
        self._resources = OrderedDict()

    def _forget_after_fork(self) -> None:
        if self._pid != os.getpid():
            self.leave_to_parent()
            self._pid = os.getpid()
            atexit.register(self._close_all)

    def _close_all(self) -> None:
        while self._pid == os.getpid() and self._resources:
            self._close(self._resources.popitem()[1])


_pools: weakref.WeakSet[ResourcePool[Any, Any]] = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for pool in list(_pools):
        pool.leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)
