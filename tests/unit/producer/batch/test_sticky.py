"""Where records without a key go."""

from __future__ import annotations

import itertools
import random
from typing import Any

from kafka.producer.batch.queues import TopicQueues


def topic(
    partitions: int = 3, available: tuple[int, ...] = (0, 1, 2), sticky_bytes: int = 10, filling: bool = True
) -> TopicQueues:
    """A topic with a batch that is filling in each partition, or with none."""
    queues = TopicQueues("t", partitions, available, sticky_bytes, random.Random(1))
    for queue in queues.queues if filling else ():
        batch: Any = object()
        queue.open = batch
    return queues


def test_records_move_on_after_a_partition_received_its_bytes() -> None:
    queues = topic()
    picked = [queues.pick_sticky(5) for _ in range(60)]
    pairs = list(zip(picked[::2], picked[1::2], strict=True))
    assert all(first == second for first, second in pairs)
    assert all(before != after for (before, _), (after, _) in itertools.pairwise(pairs))
    assert set(picked) == {0, 1, 2}


def test_records_move_on_once_their_batch_is_closed() -> None:
    queues = topic(sticky_bytes=1_000_000, filling=False)
    picked = [queues.pick_sticky(1) for _ in range(20)]
    assert all(before != after for before, after in itertools.pairwise(picked))
    assert set(picked) == {0, 1, 2}


def test_without_sticky_bytes_each_record_moves_on() -> None:
    queues = topic(sticky_bytes=0)
    picked = [queues.pick_sticky(1) for _ in range(20)]
    assert all(before != after for before, after in itertools.pairwise(picked))


def test_a_partition_without_a_leader_is_left_immediately() -> None:
    queues = topic(sticky_bytes=1_000)
    first = queues.pick_sticky(1)
    queues.update(3, tuple({0, 1, 2} - {first}))
    assert queues.pick_sticky(1) != first


def test_a_partition_that_keeps_its_leader_is_kept() -> None:
    queues = topic(sticky_bytes=1_000)
    first = queues.pick_sticky(1)
    for _ in range(20):
        queues.update(3, (first, (first + 1) % 3))
        assert queues.pick_sticky(1) == first


def test_without_any_leader_the_partition_is_kept_for_its_bytes() -> None:
    queues = topic()
    first = queues.pick_sticky(5)
    queues.update(3, ())
    assert queues.pick_sticky(5) == first
    assert queues.pick_sticky(5) in {0, 1, 2} - {first}


def test_the_only_partition_with_a_leader_gets_everything() -> None:
    queues = topic(available=(1,))
    assert [queues.pick_sticky(7) for _ in range(9)] == [1] * 9


def test_partitions_are_added_and_never_removed() -> None:
    queues = topic(2, (0, 1))
    kept = list(queues.queues)
    queues.update(4, (3,))
    assert queues.count == 4
    assert queues.queues[:2] == kept
    assert [queue.topic_partition.partition for queue in queues.queues] == [0, 1, 2, 3]
    queues.update(1, (0,))
    assert (queues.count, len(queues.queues)) == (4, 4)


def test_a_new_partition_has_no_batches_in_flight() -> None:
    (queue,) = topic(1, (0,), filling=False).queues
    assert (queue.next_order, queue.next_sequence, queue.failures, queue.backoff_until) == (0, 0, 0, 0.0)
    assert (queue.producer_id, queue.producer_epoch) == (-1, -1)
    assert (queue.dirty, queue.proven, queue.renumber) == (False, True, False)
    assert queue.waiting() == []


def test_a_partition_is_kept_for_sticky_bytes() -> None:
    queues = topic(sticky_bytes=3)
    picked = [queues.pick_sticky(1) for _ in range(30)]
    runs = [len(list(run)) for _, run in itertools.groupby(picked)]
    assert runs == [3] * 10


def test_a_topic_without_leaders_still_has_a_current_partition() -> None:
    assert topic(available=()).pick_sticky(1) in {0, 1, 2}
