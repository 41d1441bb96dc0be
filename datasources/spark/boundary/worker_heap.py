"""What a Python worker of Spark has loaded need not be looked at after every task.

PySpark collects garbage behind each task of a worker that it keeps. Such a collection walks through everything that
lives, which is PyArrow, numpy and PySpark above all: 50 ms and more, as much as decoding 100,000 records. Frozen once,
these objects are skipped, and a collection frees the garbage of the last task.
"""

from __future__ import annotations

import gc

_frozen: list[bool] = []


def freeze_worker_heap() -> None:
    """Set aside what lives now; in a worker of Spark only, and once. To be called when a first task is over."""
    if _frozen:
        return
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        _frozen.append(True)
        gc.collect()
        gc.freeze()
