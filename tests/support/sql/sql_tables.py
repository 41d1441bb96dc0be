"""Tables over scripts, for tests of SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["scripted_table", "write_records"]


def write_records(directory: Path, split: str, records: Iterable[Mapping[str, Any]]) -> None:
    """Append records to a split; what a producer does."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{split}.jsonl").open("a", encoding="utf-8") as script:
        script.writelines(json.dumps(dict(record)) + "\n" for record in records)


def scripted_table(name: str, columns: str, directory: Path, **options: str) -> str:
    """Return CREATE TABLE over a directory of scripts; `a__b` in an option's name stands for `a.b`."""
    given = {"connector": "scripted", "path": str(directory)}
    given |= {key.replace("__", "."): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({listed})"
