"""The demo's MySQL part: a table under constant change is read and followed, and at the end the copy equals the table.

Theory of operation. The writer continues while the query reads the table and for a while afterwards. Then it writes one
last row. Changes come in the order of their commits, so when the copy has that row it has everything before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from datasources.demo.queries.waiting import wait_until
from datasources.demo.results.mysql_outcome import TableOutcome, TableProgress
from datasources.demo.story.mysql_shop import LAST_ID, ShopWriter, read_table
from datasources.embedded import EmbeddedMySql, start_any_mysql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from datasources.demo.queries.mysql_copy import TableCopy

_BATCHES_AFTERWARDS: Final = 3


class TableDisplay(Protocol):
    """Shows the progress of this part."""

    def copying(self, progress: TableProgress) -> None:
        """Show how far the copy is. Called a few times a second."""
        ...


@contextmanager
def open_mysql(report: Callable[[str], None]) -> Iterator[Callable[[], EmbeddedMySql]]:
    """Give a function that returns a running server, and waits for its start if need be.

    Raises:
        EnvironmentProblem: (from the function) none can run here; the message gives the reason.
    """
    with ThreadPoolExecutor(max_workers=1) as background:
        starting = background.submit(start_any_mysql, report=report)
        try:
            yield starting.result
        finally:
            if not starting.cancel() and starting.exception() is None:
                starting.result().close()


def copy_table(
    spark: SparkSession, server: EmbeddedMySql, seed: int, directory: Path, display: TableDisplay
) -> TableOutcome:
    """Copy a table that changes all the time, which exists, and hold the copy against it.

    Nobody else uses the server; rows and statements are made from ``seed``.

    Raises:
        QueryError: The query failed, or did not get to the end in time.
        SourceUnavailable: The table could not be written.
    """
    from datasources.demo.queries.mysql_copy import TableCopy  # imports PySpark, which was found by now

    with ExitStack() as stack:
        writer = ShopWriter(server.administrator, seed)
        stack.callback(writer.close)
        writer.start()
        copy = TableCopy(spark, server.reader, directory)
        stack.callback(copy.stop)
        watch = _Watch(writer, copy, display)
        watch.until_followed()
        writer.close()
        watch.until_complete()
        return TableOutcome.compare(
            read_table(server.administrator),
            copy.rows,
            server=server.title,
            is_mariadb=server.version.is_mariadb,
            progress=watch.progress,
        )


class _Watch:
    """Looks at writer and copy until something holds."""

    def __init__(self, writer: ShopWriter, copy: TableCopy, display: TableDisplay) -> None:
        self._writer = writer
        self._copy = copy
        self._display = display

    @property
    def progress(self) -> TableProgress:
        return TableProgress(written=self._writer.so_far, copied=self._copy.copied)

    def until_followed(self) -> None:
        """Return when the table was read, followed by some batches of changes only."""

        def is_followed(progress: TableProgress) -> bool:
            copied = progress.copied
            return copied.snapshot_rows > 0 and copied.batches - copied.snapshot_batches >= _BATCHES_AFTERWARDS

        self._until(is_followed, "read the table")

    def until_complete(self) -> None:
        """Return when the last row was read."""
        self._until(lambda _: LAST_ID in self._copy.rows, "followed its changes to the end")

    def _until(self, condition: Callable[[TableProgress], bool], what: str) -> None:
        def is_so() -> bool:
            progress = self.progress
            self._display.copying(progress)
            return condition(progress)

        def failure() -> str:
            copied = self.progress.copied
            read = f"{copied.snapshot_rows:,} rows, {copied.changes:,} changes"
            return f"the demo's query of a MySQL table had not {what} ({read})"

        wait_until(is_so, lambda: self._copy.copied, failure)
