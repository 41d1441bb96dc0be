"""The blocks of code of a page, and the servers that its names stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.sql.shell.stream_rows import start_stream, stream_rows
from tests.support.project import ROOT

__all__ = ["PASSWORD", "Block", "Hosts", "blocks_of", "read_to_the_end", "streams_in"]

PASSWORD: Final = "secret"
_BLOCK: Final = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page.

    Attributes:
        language: behind the fence; empty for output.
        text: without the fences.
    """

    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(found[2], found[3]) for found in _BLOCK.finditer(text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """What the names of servers and directories in the documentation stand for.

    Attributes:
        brokers: for `broker:9092`.
        mysql_port: of the server `db`, on this machine.
        registry: for `http://registry:8081`.
        directory: for `/lake`, `/tmp`.
        connect: for `sc://spark.example:15002`.
    """

    brokers: str = ""
    mysql_port: int = 0
    registry: str = ""
    directory: str = ""
    connect: str = ""

    def put_into(self, text: str) -> str:
        """Return a text with the addresses of these servers, and otherwise as written."""
        for pattern, written in (
            (r"broker:9092", self.brokers),
            (r"http://registry:8081", self.registry),
            (r"sc://spark\.example:15002", self.connect),
            (r"'hostname' = 'db'", f"'hostname' = '127.0.0.1', 'port' = '{self.mysql_port}'"),
            (r'"hostname": "db"', f'"hostname": "127.0.0.1", "port": "{self.mysql_port}"'),
            (r"-o hostname=db", f"-o hostname=127.0.0.1 -o port={self.mysql_port}"),
            (r"jdbc:mysql://db/", f"jdbc:mysql://127.0.0.1:{self.mysql_port}/"),
            (r"'password' = '(?:\.\.\.|\$\{env:PW\})'", f"'password' = '{PASSWORD}'"),
            (r'"password": "\.\.\."', f'"password": "{PASSWORD}"'),
            (r"-o password=\.\.\.", f"-o password={PASSWORD}"),
            (r"(?<=['\"])/(?:tmp|lake)(?=/)", self.directory),
            (r'"shop\.desc"', f'"{self.directory}/shop.desc"'),
        ):
            text = re.sub(pattern, lambda _, put=written: put, text)
        return text


def read_to_the_end(frame: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a stream, as texts, of all that is there now."""
    rows: list[tuple[Any, ...]] = []

    def add(_batch: int | None, _columns: Sequence[str], found: Sequence[Sequence[Any]]) -> None:
        rows.extend(map(tuple, found))

    stream = stream_rows(frame, add)
    query, _ = start_stream(stream, "available-now")
    query.awaitTermination()
    stream.take_new()
    return rows


def streams_in(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the streaming DataFrames among variables."""
    return {name: each for name, each in names.items() if getattr(each, "isStreaming", False) is True}
