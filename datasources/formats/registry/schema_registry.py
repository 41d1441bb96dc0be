"""The client of a schema registry: Confluent's, with limits and errors of its own.

An answer is kept for the life of the process, as the schema of an id never changes. Confluent's client waits for ever
for a registry that hangs, and shows errors of its HTTP library; both end here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from datasources.errors import EnvironmentProblem, OptionError, SourceUnavailable
from datasources.formats.registry.registry_options import RegistrySettings

_TIMEOUT_S: Final = 10.0
_RETRIES: Final = 3
_RETRY_MS: Final = 200
_MAX_RETRY_MS: Final = 2_000
_NOT_FOUND: Final = 404
_REFUSED: Final = (401, 403)
_MAX_REFERENCES: Final = 1_000
_MAX_SHOWN: Final = 10

_Answer = TypeVar("_Answer")


class UnknownSchemaError(LookupError):
    """The registry has no schema of this id, or one of another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredText:
    """A schema as it was registered.

    Attributes:
        kind: `AVRO`, `PROTOBUF` or `JSON`.
        text: of the schema.
        references: name and text of each schema that it refers to, in an order in which each comes behind those that
            it refers to itself.
    """

    kind: str
    text: str
    references: tuple[tuple[str, str], ...] = ()


class SchemaRegistry:
    """A registry; opens its connection with the first question. Not thread-safe.

    Args:
        settings: how it is reached.

    Raises:
        EnvironmentProblem: Confluent's client is not installed.
        OptionError: it does not take the settings.
    """

    def __init__(self, settings: RegistrySettings) -> None:
        self._at = re.sub(r"//[^/@]*@", "//", settings.url)
        self._schemas: dict[int, RegisteredText | UnknownSchemaError] = {}
        try:
            from confluent_kafka.schema_registry import SchemaRegistryClient
        except ImportError as error:
            raise EnvironmentProblem(
                f"a format with a schema registry needs more packages ({error}): pip install "
                f"'tidemark-spark[schema-registry]', on the driver and on the executors."
            ) from None
        limits = {
            "timeout": _TIMEOUT_S,
            "max.retries": _RETRIES,
            "retries.wait.ms": _RETRY_MS,
            "retries.max.wait.ms": _MAX_RETRY_MS,
        }
        try:
            self._client = SchemaRegistryClient({"url": settings.url, **dict(settings.client), **limits})
        except (ValueError, TypeError, OSError) as error:
            raise OptionError(f"the options of the schema registry cannot be used: {error}.") from None

    def schema(self, schema_id: int, kind: str) -> RegisteredText:
        """Return the schema of an id.

        Raises:
            UnknownSchemaError: there is none of this kind; the text says so in one clause.
            SourceUnavailable: the registry did not answer, or refused.
        """
        if schema_id not in self._schemas:
            self._schemas[schema_id] = self._found(schema_id)
        found = self._schemas[schema_id]
        if isinstance(found, UnknownSchemaError):
            raise found
        if found.kind != kind:
            raise UnknownSchemaError(f"the schema of the id {schema_id} is of the kind {found.kind}, not {kind}")
        return found

    def newest(self, subject: str, kind: str) -> RegisteredText:
        """Return the newest schema of a subject.

        Raises:
            OptionError: there is no such subject, or its schema is of another kind.
            SourceUnavailable: the registry did not answer, or refused.
        """
        registered = self._asked(lambda: self._client.get_latest_version(subject), f"the subject '{subject}'")
        if registered is None:
            raise OptionError(
                f"the schema registry has no subject '{subject}': name one by the option 'subject', or declare the "
                f"columns. It has {self._subjects()}."
            )
        found = self._with_references(registered.schema)
        if found.kind != kind:
            raise OptionError(f"the schema of the subject '{subject}' is of the kind {found.kind}, not {kind}.")
        return found

    def _found(self, schema_id: int) -> RegisteredText | UnknownSchemaError:
        schema = self._asked(lambda: self._client.get_schema(schema_id), f"the id {schema_id}")
        if schema is None:
            return UnknownSchemaError(f"the schema registry has no schema of the id {schema_id}")
        return self._with_references(schema)

    def _with_references(self, schema: Any) -> RegisteredText:
        texts: dict[str, str] = {}
        self._add_references(schema.references or (), texts, ())
        if not isinstance(schema.schema_str, str) or not schema.schema_str:
            raise SourceUnavailable(f"the schema registry at {self._at} answered without a schema.")
        return RegisteredText(
            kind=schema.schema_type or "AVRO", text=schema.schema_str, references=tuple(texts.items())
        )

    def _add_references(self, references: Sequence[Any], texts: dict[str, str], above: tuple[str, ...]) -> None:
        for each in references:
            if each.name in texts:
                continue
            if each.name in above or len(texts) >= _MAX_REFERENCES:
                chain = " -> ".join((*above, each.name))
                raise SourceUnavailable(f"the references of a schema at {self._at} do not end: {chain}.")
            what = f"version {each.version} of '{each.subject}'"
            found = self._asked(lambda of=each: self._client.get_version(of.subject, of.version, True), what)  # type: ignore[misc]
            if found is None:
                raise SourceUnavailable(f"the schema registry at {self._at} has no {what}, which is referred to.")
            self._add_references(found.schema.references or (), texts, (*above, each.name))
            texts[each.name] = found.schema.schema_str

    def _subjects(self) -> str:
        subjects = self._asked(self._client.get_subjects, "its subjects") or []
        shown = ", ".join(f"'{each}'" for each in subjects[:_MAX_SHOWN])
        return f"{shown}{' and more' if len(subjects) > _MAX_SHOWN else ''}" if subjects else "none"

    def _asked(self, ask: Callable[[], _Answer], what: str) -> _Answer | None:
        """Return the registry's answer; None = it has nothing of the kind.

        Raises:
            SourceUnavailable: there is no answer, or it is an error.
        """
        from confluent_kafka.schema_registry import SchemaRegistryError

        at = f"the schema registry at {self._at}, asked for {what},"
        try:
            return ask()
        except SchemaRegistryError as error:
            if error.http_status_code == _NOT_FOUND:
                return None
            if error.http_status_code in _REFUSED:
                raise SourceUnavailable(
                    f"{at} refused ({error.http_status_code}): check the options 'basic-auth.*' or 'bearer-auth.*'."
                ) from None
            raise SourceUnavailable(f"{at} answered {error.http_status_code}: {error.error_message}.") from None
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise SourceUnavailable(f"{at} gave an answer that is none of a registry's: {error!r}.") from None
        except Exception as error:  # noqa: BLE001 - those of its HTTP library, which is one of two, have no common base
            raise SourceUnavailable(f"{at} did not answer: {type(error).__name__}: {error}.") from None
