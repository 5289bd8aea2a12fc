"""The layout of offsets in a checkpoint, and the data next to them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.errors import KafkaConfigurationError
from kafka.spark.planning.checkpoint_layout import found, from_layout, marked, to_layout
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

partitions = st.builds(
    TopicPartition, st.text("abcXYZ019._-", min_size=1, max_size=5), st.integers(min_value=0, max_value=200)
)
some_offsets = st.dictionaries(partitions, st.integers(min_value=0, max_value=2**62), max_size=20)


def test_the_layout_is_that_of_sparks_connector():
    offsets = {TopicPartition("t", 10): 7, TopicPartition("t", 2): 42, TopicPartition("a", 0): 0}
    assert json.dumps(to_layout(offsets), separators=(",", ":")) == '{"a":{"0":0},"t":{"2":42,"10":7}}'


@pytest.mark.slow
@given(some_offsets)
def test_a_layout_round_trips(offsets):
    assert from_layout(json.loads(json.dumps(to_layout(offsets)))) == offsets


@pytest.mark.slow
@given(some_offsets)
def test_equal_offsets_give_equal_text_in_whatever_order_they_came(offsets):
    backwards = dict(reversed(offsets.items()))
    assert json.dumps(to_layout(offsets)) == json.dumps(to_layout(backwards))


@pytest.mark.parametrize("layout", [{"offset": 3}, {"t": {"x": 3}}, {"t": {"0": "3"}}, {"t": [1]}])
def test_a_checkpoint_of_another_source_is_rejected(layout):
    with pytest.raises(KafkaConfigurationError, match="not those of a Kafka source"):
        from_layout(layout)


NUMBERS = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["t", "a.b", "waits"]), st.integers(0, 9)), st.integers(0, 3)
)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_marks_have_their_own_numbers_which_are_not_offsets(offsets, some, others):
    layout = {**to_layout(offsets), **marked("leader epochs", some), **marked("waits up to", others)}
    assert found("leader epochs", layout) == some
    assert found("waits up to", layout) == others
    assert from_layout(layout) == offsets


def test_neighbors_with_the_same_number_are_combined():
    numbers = {TopicPartition("t", partition): 7 if partition < 3 else 9 for partition in range(5)}
    assert marked("waits up to", numbers) == {"t waits up to 0-2:7,3-4:9": {}}
