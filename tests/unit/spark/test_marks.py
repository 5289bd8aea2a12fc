"""Numbers of partitions beside offsets."""

from hypothesis import given
from hypothesis import strategies as st

from kafka.spark.marks import found, marked
from kafka.spark.offsets import from_layout, to_layout
from kafka.structs import TopicPartition

NUMBERS = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["t", "a.b", "waits"]), st.integers(0, 9)), st.integers(0, 3)
)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_each_mark_has_its_numbers_and_none_is_an_offset(offsets, some, others):
    layout = {**to_layout(offsets), **marked("leader epochs", some), **marked("waits up to", others)}
    assert found("leader epochs", layout) == some
    assert found("waits up to", layout) == others
    assert from_layout(layout) == offsets


def test_neighbours_with_the_same_number_stand_together():
    numbers = {TopicPartition("t", partition): 7 if partition < 3 else 9 for partition in range(5)}
    assert marked("waits up to", numbers) == {"t waits up to 0-2:7,3-4:9": {}}
