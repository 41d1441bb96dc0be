"""Local times of one zone as instants, many at a time. Units: microseconds since 1970-01-01 00:00:00."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from datasources.grammar.zones import MICROS_PER_SECOND, Zone

_BUCKET_US = 900 * MICROS_PER_SECOND
_MAX_BUCKETS = 50_000


class LocalTimes:
    """Instants of local times in one zone, many at a time.

    A zone's offset is looked up once for each quarter of an hour that occurs; where it changes within one, each time is
    looked up by itself.
    """

    def __init__(self, zone: Zone) -> None:
        self._zone = zone
        self._offset_us: dict[int, int | None] = {}

    def instants(self, local_us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the instants, by the rules of `Region.offset_s`."""
        buckets, inverse = np.unique(local_us // _BUCKET_US, return_inverse=True)
        if len(self._offset_us) > _MAX_BUCKETS:
            self._offset_us.clear()
        known = [self._of_bucket(bucket) for bucket in buckets.tolist()]
        offsets = np.array([0 if offset is None else offset for offset in known], dtype=np.int64)[inverse]
        changes = np.array([offset is None for offset in known], dtype=np.bool_)[inverse]
        for row in np.flatnonzero(changes).tolist():
            offsets[row] = self._zone.offset_s(int(local_us[row])) * MICROS_PER_SECOND
        return local_us - offsets

    def _of_bucket(self, bucket: int) -> int | None:
        if bucket not in self._offset_us:
            first = bucket * _BUCKET_US
            start_s, end_s = self._zone.offset_s(first), self._zone.offset_s(first + _BUCKET_US - 1)
            self._offset_us[bucket] = start_s * MICROS_PER_SECOND if start_s == end_s else None
        return self._offset_us[bucket]
