"""The options of Protobuf's formats, and the messages that they name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.format import FormatOption

if TYPE_CHECKING:
    from datasources.formats.protobuf.linking.link import LinkRules
    from datasources.formats.protobuf.schema.message_type import MessageType

MESSAGE: Final = FormatOption(
    key="message-class-name",
    type=str,
    description="The message that each record is, with its package: `shop.Order`. The name of a Java class works if no "
    "other message has its last component.",
)
REGISTERED_MESSAGE: Final = FormatOption(
    key="message-class-name",
    type=str,
    description="The message that each record is, with its package: `shop.Order`. Needed where a schema has several.",
)
DESCRIPTOR_FILE: Final = FormatOption(
    key="descriptor-file",
    type=str,
    description="A file of the driver with the descriptors of the message, as `protoc --descriptor_set_out "
    "--include_imports` writes it.",
)
READ_DEFAULTS: Final = FormatOption(
    key="read-default-values",
    type=bool,
    description="`true`: a field that is absent has its default, also where the message knows that it is absent "
    "(proto2, `optional`, oneof). Default: NULL; a field of proto3 without `optional` always has its default.",
)
NULL_LITERAL: Final = FormatOption(
    key="write-null-string-literal",
    type=str,
    description="Flink's, for writing; has no effect where records are read.",
)
_REQUIRED: Final = {
    MESSAGE: "the message that each record is",
    DESCRIPTOR_FILE: "which protoc --descriptor_set_out --include_imports writes: there is no Java class to ask here",
}
_DESCRIPTORS: Final = "descriptors"
"""What stands for the file where executors read."""


def with_descriptors(options: Mapping[str, Any], format_name: str) -> dict[str, Any]:
    """Return the options with the contents of the descriptor file, which only the driver has.

    Raises:
        OptionError: it cannot be read.
    """
    name = options.get(DESCRIPTOR_FILE.key)
    if name is None:
        return dict(options)
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise OptionError(
            f"option '{format_name}.{DESCRIPTOR_FILE.key}': '{name}' cannot be read: {error.strerror or error}."
        ) from None
    return {**options, _DESCRIPTORS: content}


def message_of(options: Mapping[str, Any], format_name: str) -> MessageType:
    """Return the message that records are.

    Raises:
        EnvironmentProblem: Google's package is not installed.
        OptionError: an option is missing, or the descriptors have no such message.
    """
    from datasources.formats.protobuf.schema.message_type import message_type

    for option, hint in _REQUIRED.items():
        if options.get(option.key) is None:
            raise OptionError(f"the format '{format_name}' needs '{format_name}.{option.key}', {hint}.")
    content = with_descriptors(options, format_name) if _DESCRIPTORS not in options else options
    try:
        return message_type(content[_DESCRIPTORS], options[MESSAGE.key])
    except SchemaError as error:
        raise OptionError(
            f"option '{format_name}.{DESCRIPTOR_FILE.key}' = '{options[DESCRIPTOR_FILE.key]}': {error.message}."
        ) from None


def rules_of(options: Mapping[str, Any]) -> LinkRules:
    """Return how columns find their values."""
    from datasources.formats.protobuf.linking.link import LinkRules

    return LinkRules(reads_defaults=options.get(READ_DEFAULTS.key, False))
