"""A record format: one object that holds everything the other packages need to know about it.

`datasources.formats.format_table` lists the formats. Code outside a format asks its object and never compares names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasources.formats.api.decoder import Decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOption:
    """An option of a format, set as `<format>.<key>`, `value.<format>.<key>` or `key.<format>.<key>`.

    Attributes:
        key: its name behind the format's.
        type: of its value.
        description: for the reference of options.
    """

    key: str
    type: type
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSettings:
    """The configuration of a decoder.

    Attributes:
        schema: the columns, with their nullability.
        columns: the columns and metadata keys to decode, the others may be null; None = all. The type of a STRUCT may
            have fewer fields than in `schema`: the others may be null, too.
        metadata: keys of the format's metadata that become columns behind those of `schema`.
        time_zone: of timestamps without a zone; None rejects them.
        options: the format's own options that were set, key -> value of the option's type.
    """

    schema: pa.Schema
    columns: tuple[pa.Field, ...] | None = None
    metadata: tuple[str, ...] = ()
    time_zone: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of `columns`, for formats that decode a STRUCT as a whole."""
        return None if self.columns is None else tuple(each.name for each in self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsRequest:
    """What a format finds its columns by.

    Attributes:
        options: the format's own options that were set, key -> value of the option's type.
        subject: the name of these records in a registry, `orders-value`; None if there are several topics.
    """

    options: Mapping[str, Any]
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of record keys and values. It is compared by name, and pickled with its functions by reference.

    Attributes:
        name: the value of the option `format`.
        description: for the reference of options.
        check: raises SchemaError or OptionError if the format does not support a schema's columns or its own options.
        decoder: opens a decoder; imports what it needs when it is called, so that unused formats are not loaded.
        columns: returns the columns where the user declares none, or raises OptionError; None = they must be declared.
        options: the format's own options, as Flink names them.
        driver_options: called on the driver, returns the options with the contents of the files that they name, so that
            executors need no files; None = they name none.
        supports_keys: whether record keys may have the format.
        metadata: metadata keys that the format reads from a value, and their types.
        is_changelog: whether a record may update or delete earlier rows.
        is_raw: whether the payload is one value: there is one column, a record without a value is a row with a null,
            and without a schema there are the raw columns of the record.
    """

    name: str
    description: str = field(compare=False, repr=False)
    check: Callable[[DecoderSettings], object] = field(compare=False, repr=False)
    decoder: Callable[[DecoderSettings], Decoder] = field(compare=False, repr=False)
    columns: Callable[[ColumnsRequest], pa.Schema] | None = field(default=None, compare=False, repr=False)
    options: tuple[FormatOption, ...] = field(default=(), compare=False, repr=False)
    driver_options: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = field(
        default=None, compare=False, repr=False
    )
    supports_keys: bool = field(default=True, compare=False, repr=False)
    metadata: Mapping[str, pa.DataType] = field(default_factory=dict, compare=False, repr=False)
    is_changelog: bool = field(default=False, compare=False, repr=False)
    is_raw: bool = field(default=False, compare=False, repr=False)
