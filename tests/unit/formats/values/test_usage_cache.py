from __future__ import annotations

from datasources.formats.values.usage_cache import UsageCache


def test_what_is_needed_least_goes_first():
    ranked = UsageCache(2)
    for item, records in (("a", 1), ("b", 5), ("c", 3)):
        ranked.add(item)
        ranked.count(item, records)
    ranked.end_batch()
    assert list(ranked) == ["b", "c"]
    ranked.count("c", 100)
    assert list(ranked) == ["c", "b"]
    for _ in range(30):
        ranked.end_batch()
    assert not len(ranked)
