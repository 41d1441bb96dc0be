"""The columns of a table that declares none: those of the newest schema of its topic's subject."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.format import ColumnsRequest
from datasources.formats.registry.registry_options import registry_settings
from datasources.formats.registry.schema_registry import RegisteredText, SchemaRegistry

_WAY_ON = "declare the columns"


def registered_columns(
    request: ColumnsRequest, format_name: str, kind: str, columns_of: Callable[[RegisteredText], pa.Schema]
) -> pa.Schema:
    """Return the columns of the newest schema of a subject.

    Args:
        request: has the options of the registry, and the subject unless an option names another one.
        format_name: begins the options' names in errors.
        kind: that the schema must be of; see `RegisteredText`.
        columns_of: returns the columns of a schema, or raises SchemaError.

    Raises:
        OptionError: an option is missing or wrong, or the registry has no such subject.
        SchemaError: the schema does not become columns.
        SourceUnavailable: the registry did not answer, or refused.
    """
    subject = request.options.get("subject") or request.subject
    if subject is None:
        raise OptionError(f"there are several topics: name a subject by '{format_name}.subject', or {_WAY_ON}.")
    newest = SchemaRegistry(registry_settings(request.options, format_name)).newest(subject, kind)
    try:
        return columns_of(newest)
    except SchemaError as error:
        raise SchemaError(f"the newest schema of the subject '{subject}': {error.message}; {_WAY_ON}") from None
