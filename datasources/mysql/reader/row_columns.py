"""Rows of the scan: the declared columns in their types, then the metadata columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.errors import RecordError
from datasources.formats.api.decoder import ROW_KINDS
from datasources.mysql.binlog import BinlogPosition, BinlogRows, RowKind
from datasources.mysql.config.metadata_columns import METADATA_TYPES, SEQUENCE_TYPE, TRUNCATE
from datasources.mysql.tables.chunk_key import TableName

_US_PER_MS: Final = 1_000
_AFTER: Final = 1
_INT32: Final = np.int32


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantColumns:
    """The metadata that all rows of a chunk share.

    Units: ``op_ts_us`` is the commit time, µs since the epoch.
    """

    table: TableName
    position: BinlogPosition
    op_ts_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumns:
    """Builds the columns of a scan.

    Attributes:
        data: the declared columns and their types.
        metadata: the metadata columns, name -> key.
        needed: the columns to build; None = all.
        epoch: of the batch.
    """

    data: pa.Schema
    metadata: Mapping[str, str]
    needed: frozenset[str] | None
    epoch: int

    @property
    def data_names(self) -> tuple[str, ...]:
        """The declared columns that are built."""
        return tuple(name for name in self.data.names if self.needed is None or name in self.needed)

    def of_changes(self, batch: BinlogRows, included: NDArray[np.bool_] | None = None) -> pa.RecordBatch:
        """Return changes as rows.

        ``included`` are the images to return; None = all.
        """
        rows = len(batch)
        of_key: dict[str, Callable[[], pa.Array]] = {
            "row_kind": batch.row_kinds,
            "op_ts": lambda: _instants(batch.op_ts_us),
            "source_ts": lambda: _instants(batch.source_ts_us),
            "database_name": lambda: pa.repeat(pa.scalar(batch.table.database), rows),
            "table_name": lambda: pa.repeat(pa.scalar(batch.table.table), rows),
            "file": lambda: pa.repeat(pa.scalar(batch.file), rows),
            "pos": lambda: pa.array(batch.pos, pa.int64()),
            "gtid": batch.transactions.texts,
            "snapshot": lambda: pa.repeat(pa.scalar(False), rows),
            "_seq": lambda: self._sequence(batch),
        }
        whole = self._rows(batch.images, rows, of_key, f"{batch.table}")
        return whole if included is None or included.all() else whole.filter(pa.array(included))

    def of_snapshot(self, rows: pa.RecordBatch, constants: ConstantColumns) -> pa.RecordBatch:
        """Return rows of a table as rows of the scan."""
        return self._constant(rows, rows.num_rows, constants, ROW_KINDS[RowKind.INSERT], is_snapshot=True)

    def of_truncation(
        self, table: TableName, position: BinlogPosition, op_ts_us: int, *, is_snapshot: bool
    ) -> pa.RecordBatch:
        """Return the row that voids all earlier rows of a table."""
        constants = ConstantColumns(table=table, position=position, op_ts_us=op_ts_us)
        nothing = pa.RecordBatch.from_arrays([], names=[])
        return self._constant(nothing, 1, constants, TRUNCATE, is_snapshot=is_snapshot)

    def _constant(
        self, rows: pa.RecordBatch, count: int, constants: ConstantColumns, kind: str, *, is_snapshot: bool
    ) -> pa.RecordBatch:
        database, table = constants.table
        ts = constants.op_ts_us - constants.op_ts_us % _US_PER_MS
        side = 0 if kind == TRUNCATE else _AFTER
        values = {
            "row_kind": kind,
            "op_ts": ts,
            "source_ts": ts,
            "database_name": database,
            "table_name": table,
            "file": constants.position.file,
            "pos": constants.position.pos,
            "gtid": None,
            "snapshot": is_snapshot,
            "_seq": {
                "epoch": self.epoch,
                "file_no": constants.position.file_number,
                "pos": constants.position.pos,
                "row": 0,
                "side": side,
            },
        }
        of_key: dict[str, Callable[[], pa.Array]] = {
            key: partial(pa.repeat, pa.scalar(value, METADATA_TYPES[key]), count) for key, value in values.items()
        }
        return self._rows(rows, count, of_key, f"{database}.{table}")

    def _rows(
        self, images: pa.RecordBatch, count: int, of_key: Mapping[str, Callable[[], pa.Array]], table: str
    ) -> pa.RecordBatch:
        names, arrays = [], []
        known = set(images.schema.names)
        for name in self.data_names:
            wanted = self.data.field(name).type
            found = images.column(name) if name in known else None
            arrays.append(pa.nulls(count, wanted) if found is None else _cast(found, wanted, f"{table}.{name}"))
            names.append(name)
        for name, key in self.metadata.items():
            if self.needed is None or name in self.needed:
                arrays.append(of_key[key]())
                names.append(name)
        if not arrays:
            return without_columns(count)
        return pa.RecordBatch.from_arrays(arrays, names=names)

    def _sequence(self, batch: BinlogRows) -> pa.Array:
        rows = len(batch)
        number = BinlogPosition(batch.file, 0).file_number
        side = (batch.row_kind == RowKind.INSERT) | (batch.row_kind == RowKind.UPDATE_AFTER)
        fields = [
            np.full(rows, self.epoch, _INT32),
            np.full(rows, number, _INT32),
            batch.pos,
            batch.row,
            side.astype(_INT32),
        ]
        arrays = [pa.array(values, field.type) for values, field in zip(fields, SEQUENCE_TYPE, strict=True)]
        return pa.StructArray.from_arrays(arrays, fields=list(SEQUENCE_TYPE))


def without_columns(count: int) -> pa.RecordBatch:
    """Return rows without columns, of which only the number matters."""
    batch = pa.RecordBatch.from_arrays([pa.nulls(count)], names=["_"])
    return batch.select([])


def _instants(us: NDArray[np.int64]) -> pa.Array:
    return pa.array(us - us % _US_PER_MS).cast(METADATA_TYPES["op_ts"])


def _cast(values: pa.Array, wanted: pa.DataType, column: str) -> pa.Array:
    if values.type.equals(wanted):
        return values
    try:
        return pc.cast(values, wanted, safe=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise RecordError(
            f"column {column} holds {values.type} and was declared as {wanted}, which cannot hold every value "
            f"({error}). Declare the column in its own type, or leave it out."
        ) from error
