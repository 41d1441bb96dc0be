"""The connector: options in, scan out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import pyarrow as pa
from pydantic import Field

from datasources.errors import OptionError
from datasources.formats.api.error_policy import OnError
from datasources.formats.api.format_options import FormatOptions
from datasources.formats.schema_text.ddl import parse_schema
from datasources.options import OptionGroup, parse_group
from datasources.scripted.enumerator import ScriptedEnumerator
from datasources.scripted.reader import METADATA_TYPES, ScriptedReaderFactory
from datasources.source.api.connector import ScanSource, SessionInfo


class ScriptedOptions(OptionGroup):
    """Where the scripts are, and whether they end."""

    path: str = Field(
        ...,
        alias="path",
        description="A directory with one file `<split>.jsonl` per split. Appending a line is a new record, adding a "
        "file a new split.",
    )
    is_bounded: bool = Field(
        False,
        alias="scripted.bounded",
        description="Whether the lines that exist at the start are all that will ever be.",
    )


@dataclass(frozen=True, kw_only=True)
class ScriptedSource(ScanSource):
    """One scan of a directory of scripts."""

    format_name: ClassVar[str] = "tidemark-scripted"
    option_groups: ClassVar[tuple[type[OptionGroup], ...]] = (ScriptedOptions, FormatOptions)
    metadata_types: ClassVar[Mapping[str, pa.DataType]] = METADATA_TYPES

    options: ScriptedOptions
    factory: ScriptedReaderFactory

    @classmethod
    def create(cls, options: Mapping[str, str], session: SessionInfo) -> Self:
        """Return the scan."""
        own = parse_group(ScriptedOptions, options)
        formats = parse_group(FormatOptions, options)
        if formats.ddl is None:
            raise OptionError("option 'schema' is required: the columns of the records as Spark DDL.")
        if not Path(own.path).is_dir():
            raise OptionError(f"option 'path' = '{own.path}' is no directory.")
        if formats.on_error is OnError.DEAD_LETTER:
            raise OptionError(
                "option 'format.on-error' = 'dead-letter' writes records of Kafka: a script's line stays in its file. "
                "Use 'null', 'skip' or 'fail'."
            )
        factory = ScriptedReaderFactory(
            directory=own.path,
            records=parse_schema(formats.ddl),
            on_error=formats.on_error,
            time_zone=session.time_zone,
        )
        return cls(options=own, factory=factory)

    @property
    def schema(self) -> pa.Schema:
        """The data columns, then those of the metadata."""
        return self.factory.schema

    @property
    def subscription(self) -> str:
        """The directory."""
        return f"scripts in {self.options.path}"

    def with_columns(self, decode: pa.Schema) -> Self:
        """Return a copy that decodes only these columns (SupportsColumnPruning)."""
        return replace(self, factory=replace(self.factory, columns=decode))

    def with_metadata(self, columns: Mapping[str, str]) -> Self:
        """Return a copy with metadata columns (SupportsReadingMetadata): `split` and `position`."""
        return replace(self, factory=replace(self.factory, metadata=dict(columns)))

    def enumerator(self, *, is_batch: bool) -> ScriptedEnumerator:
        """Open the driver's side; a batch read is bounded."""
        return ScriptedEnumerator(Path(self.options.path), is_bounded=is_batch or self.options.is_bounded)

    def reader_factory(self) -> ScriptedReaderFactory:
        """Return the executors' part."""
        return self.factory
