"""Which topic partitions a source reads."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.kafka.client.topic_partition import parse_split, split_id
from datasources.kafka.metadata.subscriber import AssignedPartitions, SubscribedPattern, SubscribedTopics, subscriber
from datasources.kafka.startup.kafka_options import KafkaOptions
from datasources.options import lower_keys, parse_group


def of(**options: str):
    named = {key.replace("__", "-"): value for key, value in options.items()}
    return subscriber(parse_group(KafkaOptions, lower_keys(named)))


def error(**options: str):
    with pytest.raises(OptionError) as caught:
        of(**options)
    return caught.value.message


@pytest.mark.parametrize(
    ("options", "topics"),
    [
        ({"subscribe": "orders"}, ("orders",)),
        ({"subscribe": "returns, orders ,orders"}, ("orders", "returns")),
        ({"subscribe": "a;b"}, ("a;b",)),
        ({"topic": "orders;returns"}, ("orders", "returns")),
        ({"topic": " orders ; "}, ("orders",)),
        ({"topic": "a,b"}, ("a,b",)),
    ],
)
def test_topics_by_name(options, topics):
    assert of(**options) == SubscribedTopics(topics)


def test_the_order_of_names_does_not_change_what_a_checkpoint_belongs_to():
    assert str(of(subscribe="b,a")) == str(of(topic="a;b")) == "topics a, b"


@pytest.mark.parametrize(("key", "value"), [("subscribe", ""), ("subscribe", " , "), ("topic", ";")])
def test_no_name_is_an_error(key, value):
    assert error(**{key: value}) == f"option '{key}' = '{value}' names no topic."


@pytest.mark.parametrize("key", ["subscribePattern", "topic__pattern"])
def test_topics_by_pattern(key):
    found = of(**{key: "orders-.*"})
    assert found == SubscribedPattern("orders-.*")
    assert str(found) == "topics like orders-.*"


@pytest.mark.parametrize("key", ["subscribePattern", "topic__pattern"])
@pytest.mark.parametrize("pattern", ["(", "*", "[a", "a{99999999999999}"])
def test_a_pattern_that_does_not_compile_is_an_error(key, pattern):
    name = key.replace("__", "-")
    assert error(**{key: pattern}).startswith(f"option '{name}' = '{pattern}' is no regular expression: ")


@pytest.mark.parametrize("key", ["subscribePattern", "topic__pattern"])
def test_an_empty_pattern_is_an_error_under_its_own_name(key):
    name = key.replace("__", "-")
    assert error(**{key: ""}) == f"option '{name}' is empty: write a regular expression such as 'orders-.*'."


def test_partitions_by_number():
    found = of(assign='{"orders": [1, 0, 1], "a-b": [2]}')
    assert found == AssignedPartitions((("a-b", 2), ("orders", 0), ("orders", 1)))
    assert str(found) == "partitions a-b-2, orders-0, orders-1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "orders",
        "{}",
        "[]",
        "null",
        "5",
        '{"orders": []}',
        '{"orders": 0}',
        '{"orders": null}',
        '{"orders": "01"}',
        '{"orders": {"0": 5}}',
        '{"orders": ["0"]}',
        '{"orders": [0.5]}',
        '{"orders": [true]}',
        '{"orders": [-1]}',
        '{"orders": [[0]]}',
        '{"orders": [0], "returns": "1"}',
        '{"": [0]}',
        "[" * 100_000,
    ],
)
def test_a_malformed_assignment_is_an_error_that_shows_the_form(text):
    assert error(assign=text) == f"option 'assign' = '{text}': write JSON such as {{\"orders\": [0, 1]}}."


def test_one_subscription_option_is_needed():
    message = error()
    assert message.startswith("set exactly one of 'subscribe', 'subscribePattern', 'assign' (or Flink's 'topic'")
    assert message.endswith("found none.")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"subscribe": "a", "topic": "a"}, "'subscribe' and 'topic'"),
        ({"subscribe": "a", "subscribePattern": "a"}, "'subscribe' and 'subscribePattern'"),
        ({"assign": "{}", "topic__pattern": "a"}, "'assign' and 'topic-pattern'"),
        ({"subscribe": "", "topic": ""}, "'subscribe' and 'topic'"),
    ],
)
def test_two_subscription_options_are_an_error_that_names_both(options, found):
    assert error(**options).endswith(f"found {found}.")


@pytest.mark.parametrize(("topic", "partition"), [("orders", 0), ("a-b", 12), ("a.b_c", 3), ("a-1", 1), ("-", 0)])
def test_a_topic_partition_is_found_again_in_the_name_of_its_split(topic, partition):
    assert parse_split(split_id(topic, partition)) == (topic, partition)
