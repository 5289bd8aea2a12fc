"""The layout of offsets in a checkpoint, and the first offsets that travel in batch 0's end."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.errors import KafkaConfigurationError
from kafka.spark.offsets import carry_initial, from_layout, is_initial, mark_initial, to_layout, true_start
from kafka.structs import TopicPartition

partitions = st.builds(
    TopicPartition, st.text("abcXYZ019._-", min_size=1, max_size=5), st.integers(min_value=0, max_value=200)
)
some_offsets = st.dictionaries(partitions, st.integers(min_value=0, max_value=2**62), max_size=20)


def test_the_layout_is_that_of_sparks_connector():
    offsets = {TopicPartition("t", 10): 7, TopicPartition("t", 2): 42, TopicPartition("a", 0): 0}
    assert json.dumps(to_layout(offsets), separators=(",", ":")) == '{"a":{"0":0},"t":{"2":42,"10":7}}'


@given(some_offsets)
def test_a_layout_reads_back(offsets):
    assert from_layout(json.loads(json.dumps(to_layout(offsets)))) == offsets


@given(some_offsets)
def test_equal_offsets_give_equal_text_in_whatever_order_they_came(offsets):
    backwards = dict(reversed(offsets.items()))
    assert json.dumps(to_layout(offsets)) == json.dumps(to_layout(backwards))


@given(some_offsets, some_offsets)
def test_first_offsets_travel_in_the_end_of_the_first_batch_only(first, later):
    start = mark_initial(first)
    end = carry_initial(start, later)
    assert is_initial(start)
    assert not is_initial(end)
    assert from_layout(start) == first
    assert from_layout(end) == later
    drifted = mark_initial({TopicPartition("elsewhere", 0): 5})
    assert true_start(drifted, end) == first
    following = carry_initial(end, later)
    assert following == to_layout(later)
    assert true_start(end, following) == later


@pytest.mark.parametrize("layout", [{"offset": 3}, {"t": {"x": 3}}, {"t": {"0": "3"}}, {"t": [1]}])
def test_a_checkpoint_of_another_source_is_refused(layout):
    with pytest.raises(KafkaConfigurationError, match="not those of a Kafka source"):
        from_layout(layout)
