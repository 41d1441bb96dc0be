"""What a connector is to the framework.

A connector builds a frozen `ScanSource` from options: a description of one scan that can be pickled, compared, copied
with a watermark strategy, and opened on the driver (enumerator) and on executors (reader factory). It holds no
connection. What else it can do for a planner (leave columns undecoded, read metadata, bring its own watermark) it
declares by implementing the protocols in `abilities`. docs/write-a-source.md walks through `datasources/scripted`, the
smallest one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Self

import pyarrow as pa

from datasources.errors import OptionError
from datasources.options import OptionGroup
from datasources.source.api.abilities import DelaySettings, DivisionSettings, LateRows, ScanStrategy
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.api.reader import SplitReaderFactory


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What expressions and decoders must know of the session: the zone and the ANSI flag. None = not known."""

    time_zone: str | None = None
    ansi: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ScanSource(ABC):
    """One scan of one connector. Subclasses add their validated options as fields.

    Attributes:
        strategy: the watermark strategy that was pushed down; None = a plain source without hidden columns.
        fail_on_data_loss: whether lost positions stop the query.
    """

    format_name: ClassVar[str]
    option_groups: ClassVar[tuple[type[OptionGroup], ...]] = ()
    option_prefixes: ClassVar[tuple[str, ...]] = ()
    refused_options: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Options that users bring from elsewhere -> what such a one is and what to do instead."""
    metadata_types: ClassVar[Mapping[str, pa.DataType]] = {}
    """Keys of metadata columns and their types; a source that has any implements `with_metadata`."""

    strategy: ScanStrategy | None = None
    fail_on_data_loss: bool = True

    @classmethod
    @abstractmethod
    def create(cls, options: Mapping[str, str], session: SessionInfo) -> Self:
        """Return the scan that `options` (lower-case keys, unknown ones already refused) describe.

        Raises:
            OptionError, SchemaError: naming the option and what to do.
        """

    @classmethod
    def code_options(cls, options: Mapping[str, str]) -> Iterable[tuple[str, str]]:  # noqa: ARG003 - for subclasses
        """Return (option, what it does) for options by which their writer could run code; administrators allow them."""
        return ()

    @classmethod
    def found_columns(cls, options: Mapping[str, str]) -> pa.Schema | None:  # noqa: ARG003 - for subclasses
        """Return the columns of a table that declares none, where the source can find them; None = it cannot.

        Args:
            options: those of the table, with keys in lower case; other ones are left alone.

        Raises:
            OptionError, SchemaError, SourceUnavailable: it can, and did not.
        """
        return None

    def apply_watermark(self, strategy: ScanStrategy) -> Self:
        """Return a copy whose readers generate watermarks by `strategy` (SupportsWatermarkPushDown).

        Raises:
            OptionError: late rows are to be written as dead letters, and the source has none.
        """
        if strategy.params.late_rows is LateRows.DEAD_LETTER and not self.writes_dead_letters:
            raise OptionError(
                f"option 'watermark.late-rows' = 'dead-letter' writes records of Kafka, and rows of "
                f"'{self.format_name}' have none. Use 'mark' and write the rows where _late to a sink, or 'drop'."
            )
        return replace(self, strategy=strategy)

    @property
    def writes_dead_letters(self) -> bool:
        """Whether the options ask for dead letters, which the readers then write (`WritesDeadLetters`)."""
        return False

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The data columns as the user declared them, then the metadata columns of `with_metadata`. Never pruned."""

    @property
    @abstractmethod
    def subscription(self) -> str:
        """What is read, as text for the checkpoint's identity."""

    @property
    def isolation(self) -> str:
        """Which records are visible, as text for the checkpoint's identity; empty where there is one way only."""
        return ""

    @property
    def batch_delay(self) -> DelaySettings | None:
        """For how many rows a batch of a stream waits, and how long; None = it does not."""
        return None

    @property
    def division(self) -> DivisionSettings | None:
        """How ranges are divided among more tasks than splits; None = one task reads a range."""
        return None

    @abstractmethod
    def enumerator(self, *, is_batch: bool) -> SplitEnumerator:
        """Open the driver's side. A batch read begins at the earliest and ends at the latest position by default."""

    @abstractmethod
    def reader_factory(self) -> SplitReaderFactory:
        """Return what travels to the executors."""
