"""A message type, by the descriptors of its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from datasources.errors import EnvironmentProblem, SchemaError
from datasources.near_matches import near_matches

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FileDescriptor
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

_MAX_SHOWN: Final = 10
_MAX_CACHED: Final = 100
_WRITE_ONE: Final = "write them with protoc --descriptor_set_out --include_imports"


@dataclass(frozen=True, slots=True)
class MessageType:
    """A message type; it is pickled as the descriptors of its files.

    Attributes:
        files: a serialized FileDescriptorSet.
        name: the message's, with its package.
        descriptor: the message's.
    """

    files: bytes = field(repr=False)
    name: str
    descriptor: Descriptor = field(compare=False, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return message_type, (self.files, self.name)


@lru_cache(maxsize=_MAX_CACHED)
def message_type(files: bytes, name: str) -> MessageType:
    """Return a message type of a descriptor set, which is read once in a process.

    Args:
        files: a serialized FileDescriptorSet, with all files that one of them imports.
        name: the message's, with its package; or of its Java class, whose last component no other message has.

    Raises:
        EnvironmentProblem: Google's package is not installed.
        SchemaError: there is no such message, or the descriptors are malformed or incomplete.
    """
    messages = {each.full_name: each for file in _files(files) for each in _messages(file.message_types_by_name)}
    descriptor = messages.get(name) or _by_class_name(messages, name)
    return MessageType(files, descriptor.full_name, descriptor)


def file_of(files: bytes, name: str) -> FileDescriptor:
    """Return one of the files of a descriptor set.

    Raises:
        EnvironmentProblem: Google's package is not installed.
        SchemaError: the descriptors are malformed or incomplete.
    """
    return next(each for each in _files(files) if each.name == name)


def _by_class_name(messages: dict[str, Descriptor], name: str) -> Descriptor:
    last = name.replace("$", ".").rpartition(".")[2]
    found = [full for full, each in messages.items() if each.name == last]
    if len(found) == 1:
        return messages[found[0]]
    if found:
        raise SchemaError(f"'{name}' may be any of the messages {_listed(found)}: give the full name of one")
    hint = near_matches(name, messages)
    raise SchemaError(f"there is no message '{name}'.{hint} The messages are {_listed(list(messages))}")


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"'{each}'" for each in sorted(names)[:_MAX_SHOWN])
    return f"{shown} and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else shown or "none"


def _messages(by_name: Any) -> Iterator[Descriptor]:
    for each in by_name.values():
        if not each.GetOptions().map_entry:
            yield each
            yield from _messages(each.nested_types_by_name)


def _files(files: bytes) -> list[FileDescriptor]:
    """Return the descriptors of the files, in a pool of their own."""
    try:
        from google.protobuf.descriptor_pb2 import FileDescriptorSet
        from google.protobuf.descriptor_pool import DescriptorPool
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise EnvironmentProblem(
            f"the formats of Protobuf need more packages ({error}): pip install 'tidemark-spark[protobuf]', on the "
            f"driver and on the executors."
        ) from None
    try:
        protos = FileDescriptorSet.FromString(files).file
    except DecodeError:
        raise SchemaError(f"it is no descriptor set: {_WRITE_ONE}") from None
    pool = DescriptorPool()
    try:
        return [pool.AddSerializedFile(each.SerializeToString()) for each in _in_order(list(protos))]
    except TypeError as error:
        raise SchemaError(f"the descriptors are wrong: {error}") from None


def _in_order(protos: list[FileDescriptorProto]) -> list[FileDescriptorProto]:
    """Return files so that each comes behind those that it imports.

    Raises:
        SchemaError: one that is imported is not there.
    """
    remaining = {each.name: each for each in protos}
    ordered: list[FileDescriptorProto] = []
    while remaining:
        ready = [each for each in remaining.values() if not remaining.keys() & set(each.dependency)]
        if not ready:
            raise SchemaError(f"the files {_listed(list(remaining))} import each other")
        ordered += ready
        for each in ready:
            del remaining[each.name]
    names = {each.name for each in protos}
    for each in ordered:
        missing = [name for name in each.dependency if name not in names]
        if missing:
            raise SchemaError(
                f"the file {_listed(missing)}, which '{each.name}' imports, is not among the descriptors: {_WRITE_ONE}"
            )
    return ordered
