"""The files of a schema in a registry, as descriptors.

Registries hold the .proto text of a file, or its descriptor in base64, which some of Confluent's serializers register.
Google's package has no reader of .proto texts: protoc, which grpcio-tools brings along, compiles them.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from datasources.errors import EnvironmentProblem, SchemaError

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

MAIN_FILE: Final = "schema-of-the-registry.proto"
"""The name of the schema's own file among its descriptors; it has none in a registry."""
_BASE64: Final = re.compile("[A-Za-z0-9+/]+={0,2}")
_OTHER_LINES: Final = ("WARNING:", "W0", "I0")
"""How lines of its log begin."""
_TIMEOUT_S: Final = 60.0
_MAX_SHOWN: Final = 300
_BUILT_IN: Final = (
    "confluent_kafka.schema_registry.confluent.meta_pb2",
    "confluent_kafka.schema_registry.confluent.type.decimal_pb2",
)
"""Files that Confluent's registry knows by itself, and that schemas import without a reference."""


def registered_files(text: str, references: Sequence[tuple[str, str]]) -> bytes:
    """Return the descriptors of a schema's file and of those that it imports, as a serialized FileDescriptorSet.

    Args:
        text: of the schema, or its descriptor in base64.
        references: name and text of each file that it imports, each behind those that it imports itself.

    Raises:
        EnvironmentProblem: a package is not installed.
        SchemaError: a text is no valid schema.
    """
    contents = dict(references) | {MAIN_FILE: text}
    for name in contents:
        _check_name(name)
    known, texts = _split(contents)
    with tempfile.TemporaryDirectory(prefix="tidemark-protobuf-") as folder:
        return _compiled(Path(folder), known, texts)


def _check_name(name: str) -> None:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        raise SchemaError(f"a reference of the schema has the name '{name}', which is no relative path of a file")


def _split(contents: Mapping[str, str]) -> tuple[FileDescriptorSet, dict[str, str]]:
    """Return the files that are descriptors already, and the texts of the others."""
    try:
        from google.protobuf.descriptor_pb2 import FileDescriptorSet
    except ImportError as error:
        raise _missing(error) from None
    known, texts = FileDescriptorSet(), {}
    for name, content in contents.items():
        raw = _decoded(content)
        if raw is None:
            texts[name] = content
        else:
            _add(known, name, raw)
    return known, texts


def _decoded(content: str) -> bytes | None:
    """Return what base64 stands for; None = it is a text, which always has other characters."""
    joined = "".join(content.split())
    if not _BASE64.fullmatch(joined):
        return None
    try:
        return base64.b64decode(joined)
    except binascii.Error:
        return None


def _add(known: FileDescriptorSet, name: str, raw: bytes) -> None:
    from google.protobuf.message import DecodeError

    try:
        known.file.add().MergeFromString(raw)
    except DecodeError:
        raise SchemaError("its file is neither a .proto text nor the descriptor of one") from None
    known.file[-1].name = name


def _compiled(folder: Path, known: FileDescriptorSet, texts: Mapping[str, str]) -> bytes:
    for name, text in texts.items():
        file = folder / "texts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "known").write_bytes(_with_built_in(known).SerializeToString())
    to = folder / "files"
    arguments = [
        f"-I{folder / 'texts'}",
        f"--descriptor_set_in={folder / 'known'}",
        f"--descriptor_set_out={to}",
        "--include_imports",
        MAIN_FILE,
    ]
    _run_protoc(arguments)
    return to.read_bytes()


def _run_protoc(arguments: list[str]) -> None:
    if find_spec("grpc_tools") is None:
        raise _missing("No module named 'grpc_tools'")
    command = [sys.executable, "-m", "grpc_tools.protoc", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments; texts are in files
            command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentProblem(f"protoc, which compiles the schemas of a registry, does not run: {error}.") from None
    if done.returncode:
        lines = (
            line for line in done.stderr.splitlines() if not line.startswith(_OTHER_LINES) and ": warning: " not in line
        )
        shown = (line.rpartition("/texts/")[2] for line in lines if line)
        raise SchemaError(f"protoc refuses it: {'; '.join(shown)[:_MAX_SHOWN]}")


def _with_built_in(known: FileDescriptorSet) -> FileDescriptorSet:
    """Return files with those that a registry adds by itself."""
    from importlib import import_module

    names = {each.name for each in known.file}
    for module in _BUILT_IN:
        if find_spec(module.partition(".")[0]) is not None:
            descriptor = import_module(module).DESCRIPTOR
            if descriptor.name not in names:
                descriptor.CopyToProto(known.file.add())
    return known


def _missing(error: object) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the format 'protobuf-confluent' needs more packages ({error}): pip install "
        f"'tidemark-spark[protobuf,schema-registry]', on the driver and on the executors."
    )
