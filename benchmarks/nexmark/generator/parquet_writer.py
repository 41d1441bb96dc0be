"""Writes a share of the events into Parquet files of persons, auctions and bids.

python -m benchmarks.nexmark.generator.parquet_writer DIRECTORY FIRST EVENTS CONFIG      CONFIG in JSON
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.parquet as pq

from benchmarks.nexmark.generator.event_tables import event_tables
from benchmarks.nexmark.generator.events import EventMaker
from benchmarks.nexmark.generator.generator_config import GeneratorConfig

__all__ = ["write_parquet"]

_CHUNK: Final = 262_144
_PLAIN: Final = ["channel", "url", "city", "state"]


def write_parquet(directory: Path, first: int, events: int, config: GeneratorConfig) -> None:
    """Write the events from a number on as DIRECTORY/{person,auction,bid}-FIRST.parquet."""
    maker = EventMaker(config)
    writers: dict[str, pq.ParquetWriter] = {}
    for begin in range(first, first + events, _CHUNK):
        tables = event_tables(maker, np.arange(begin, min(begin + _CHUNK, first + events)))
        for name, table in tables.items():
            if name not in writers:
                path = directory / f"{name}-{first:012}.parquet"
                dictionary = [column for column in _PLAIN if column in table.column_names]
                writers[name] = pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=dictionary)
            writers[name].write_table(table)
    for writer in writers.values():
        writer.close()


if __name__ == "__main__":
    write_parquet(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), GeneratorConfig(**json.loads(sys.argv[4])))
