"""Settings stored with a state: another value is refused, a setting that earlier versions did not store is not."""

from __future__ import annotations

import pytest

from datasources.errors import OffsetError
from datasources.spark.operators.buckets.stored_settings import StoredSettings


def test_the_same_settings_are_accepted():
    StoredSettings.of({"a": 1, "b": 2}).require_same(StoredSettings.of({"b": 2, "a": 1}).text)


@pytest.mark.parametrize(
    ("stored", "now", "reason"),
    [
        ({"a": 1}, {"a": 2}, "a was 1 and is 2"),
        ({"a": 1}, {}, "a was 1 and is not set"),
        ({}, {"a": 1}, "a was not set and is 1"),
        ({"statement": "x"}, {"statement": "y"}, "statement was x and is y"),
        ({"statement": "x"}, {}, "statement was x and is not set"),
    ],
)
def test_other_settings_are_refused_by_name(stored, now, reason):
    with pytest.raises(OffsetError, match=reason):
        StoredSettings.of(now).require_same(StoredSettings.of(stored).text)


def test_a_state_of_an_earlier_version_has_no_statement():
    StoredSettings.of({"a": 1, "statement": "x"}).require_same(StoredSettings.of({"a": 1}).text)
    with pytest.raises(OffsetError, match=r"a was 1 and is 2\. The"):
        StoredSettings.of({"a": 2, "statement": "x"}).require_same(StoredSettings.of({"a": 1}).text)


def test_a_state_of_an_earlier_version_is_understood():
    StoredSettings.of({"a": 1}, version=2).require_same(StoredSettings.of({"a": 1}).text)
    with pytest.raises(OffsetError, match="a was 1 and is 2"):
        StoredSettings.of({"a": 2}, version=2).require_same(StoredSettings.of({"a": 1}).text)


def test_a_state_of_a_later_version_is_refused():
    stored = StoredSettings.of({"a": 1}, version=3).text
    with pytest.raises(
        OffsetError, match=r"by a later version of Tidemark \(state version 3; this one reads up to 2\)"
    ):
        StoredSettings.of({"a": 1}, operator="operators over changes", version=2).require_same(stored)
