"""Small Arrow batches put together, and large ones left alone."""

import pyarrow as pa
import pytest

from kafka.spark.coalesce import coalesced


@pytest.mark.parametrize(
    ("sizes", "lists"),
    [
        ([], []),
        ([10], [[10]]),
        ([40, 40, 40, 40], [[40, 40, 40], [40]]),
        ([100, 100], [[100], [100]]),
        ([10, 20, 300], [[10, 20], [300]]),
        ([300, 10, 300, 10, 20, 80], [[300], [10], [300], [10, 20, 80]]),
    ],
)
def test_small_batches_are_coalesced_and_large_ones_stand_alone(sizes, lists):
    batches = [pa.record_batch({"value": pa.array([0] * size, pa.int8())}) for size in sizes]
    assert [[batch.nbytes for batch in each] for each in coalesced(iter(batches), 100)] == lists
