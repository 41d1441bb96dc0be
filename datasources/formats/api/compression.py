"""Values that the producer's application compressed, before they are decoded: the option `format.compression`.

Kafka decompresses the batches of its own `compression.type` itself; this is another layer, inside each value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

import pyarrow as pa

from datasources.errors import RecordError
from datasources.formats.api.decoder import Decoded, Decoder, RecordStatus
from datasources.formats.values.decompression import MAX_BATCH_BYTES, Incompressible, gunzipped, unzstd

DEFAULT_MAX_BYTES: Final = 64 * 2**20


class Compression(Enum):
    """The values of `format.compression`."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


_DECOMPRESS: Final[dict[Compression, Callable[[bytes, int], bytes]]] = {
    Compression.GZIP: gunzipped,
    Compression.ZSTD: unzstd,
}


@dataclass(frozen=True, slots=True)
class DecompressingDecoder:
    """Decodes values that are compressed. A value that cannot be decompressed makes its record bad.

    Attributes:
        inner: decodes what was compressed.
        compression: how; not `NONE`.
        max_bytes: of a value, decompressed.
    """

    inner: Decoder
    compression: Compression
    max_bytes: int = DEFAULT_MAX_BYTES

    @property
    def schema(self) -> pa.Schema:
        """The columns; see `Decoder.schema`."""
        return self.inner.schema

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`.

        Raises:
            RecordError: all values have more than 1 GiB.
        """
        contents, reasons = self._decompressed(values)
        found = self.inner.decode(pa.array(contents, pa.binary()))
        if not reasons:
            return found
        assert found.statuses is not None
        statuses = found.statuses.copy()
        statuses[list(reasons)] = RecordStatus.BAD
        return Decoded(
            columns=found.columns,
            statuses=statuses,
            reasons={**found.reasons, **reasons},
            records=found.records,
            kinds=found.kinds,
        )

    def _decompressed(self, values: pa.Array) -> tuple[list[bytes | None], dict[int, str]]:
        """Return the contents of values, None where there is none, and why a value has none."""
        decompress = _DECOMPRESS[self.compression]
        contents: list[bytes | None] = []
        reasons: dict[int, str] = {}
        room = MAX_BATCH_BYTES
        for index, value in enumerate(values.cast(pa.binary()).to_pylist()):
            try:
                content = None if value is None else decompress(value, self.max_bytes)
            except Incompressible as reason:
                content, reasons[index] = None, str(reason)
            contents.append(content)
            room -= 0 if content is None else len(content)
            if room < 0:
                raise RecordError(
                    f"the values of one batch have more than {MAX_BATCH_BYTES} bytes decompressed; lower "
                    "'format.max-decompressed-bytes', or the number of records in a batch"
                )
        return contents, reasons
