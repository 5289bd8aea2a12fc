"""Incremental fetch sessions: requests name what has changed, and nothing else."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.fetch.fetch_session import FetchBody, FetchSession, FetchTarget
from kafka.structs import TopicPartition

ID = uuid.UUID(int=7)
OTHER_ID = uuid.UUID(int=8)


def tp(number: int) -> TopicPartition:
    return TopicPartition("t", number)


def want(session: FetchSession, number: int, offset: int = 0, topic_id: uuid.UUID | None = ID) -> None:
    session.add(
        FetchTarget(
            PartitionState(tp(number)) if tp(number) not in session.targets else session.targets[tp(number)].state,
            0,
            offset,
            5,
            topic_id,
        )
    )


def named(body: FetchBody) -> dict[int, int]:
    return {p.partition: p.fetch_offset for topic in body.topics for p in topic.partitions}


def forgotten(body: FetchBody) -> list[int]:
    return sorted(number for topic in body.forgotten for number in topic.partitions)


def established(*numbers: int) -> FetchSession:
    """A session that holds these partitions."""
    session = FetchSession(incremental=True, max_bytes=1_000)
    for number in numbers:
        want(session, number)
    session.next_request()
    session.answered(99)
    return session


def test_the_first_request_names_everything_and_asks_for_a_session() -> None:
    session = FetchSession(incremental=True, max_bytes=1_000)
    want(session, 0, 10)
    want(session, 1, 20)
    body = session.next_request()
    assert (body.session_id, body.session_epoch, named(body), body.forgotten) == (0, 0, {0: 10, 1: 20}, [])
    (topic,) = body.topics
    assert (topic.topic, topic.topic_id) == ("t", ID)
    assert (topic.partitions[0].partition_max_bytes, topic.partitions[0].current_leader_epoch) == (1_000, 5)


def test_later_requests_contain_only_changes() -> None:
    session = established(0, 1, 2)
    want(session, 1, 50)
    session.remove(tp(2))
    want(session, 3)
    body = session.next_request()
    assert (body.session_id, body.session_epoch) == (99, 1)
    assert named(body) == {1: 50, 3: 0}
    assert forgotten(body) == [2]
    session.answered(99)
    body = session.next_request()
    assert (body.session_epoch, body.topics, body.forgotten) == (2, [], [])


def test_a_partition_that_returns_before_the_request_is_not_forgotten() -> None:
    session = established(0, 1)
    session.remove(tp(1))
    want(session, 1, 7)
    body = session.next_request()
    assert (named(body), forgotten(body)) == ({1: 7}, [])
    session.remove(tp(1))
    assert forgotten(session.next_request()) == [1]


def test_a_partition_that_never_was_in_the_session_is_not_forgotten() -> None:
    session = established(0)
    want(session, 5)
    session.remove(tp(5))
    body = session.next_request()
    assert (body.topics, body.forgotten) == ([], [])


def test_a_recreated_topic_is_forgotten_under_its_old_id() -> None:
    session = established(0)
    want(session, 0, 0, OTHER_ID)
    body = session.next_request()
    assert [(t.topic_id, t.partitions) for t in body.forgotten] == [(ID, [0])]
    assert body.topics[0].topic_id == OTHER_ID


@pytest.mark.parametrize("keep_id", [False, True])
def test_after_a_reset_everything_is_named_again(keep_id: bool) -> None:
    session = established(0, 1)
    session.remove(tp(1))
    session.reset(keep_id)
    body = session.next_request()
    assert (body.session_id, body.session_epoch) == (99 if keep_id else 0, 0)
    assert (named(body), body.forgotten) == ({0: 0}, [])


def test_without_sessions_every_request_names_everything() -> None:
    session = FetchSession(incremental=False, max_bytes=1_000)
    want(session, 0)
    want(session, 1)
    for _ in range(2):
        body = session.next_request()
        assert (body.session_id, body.session_epoch, named(body)) == (0, -1, {0: 0, 1: 0})
        session.answered(0)
    session.remove(tp(0))
    body = session.next_request()
    assert (named(body), body.forgotten) == ({1: 0}, [])


def test_a_broker_that_gives_no_session_is_asked_for_one_again() -> None:
    session = FetchSession(incremental=True, max_bytes=1_000)
    want(session, 0)
    session.next_request()
    session.answered(0)
    body = session.next_request()
    assert (body.session_id, body.session_epoch, named(body)) == (0, 0, {0: 0})


def test_the_epoch_goes_round_past_zero() -> None:
    session = established(0)
    session._epoch = 2**31 - 2
    session.next_request()
    session.answered(99)
    assert session.next_request().session_epoch == 2**31 - 1
    session.answered(99)
    assert session.next_request().session_epoch == 1


def test_a_response_only_applies_to_its_request() -> None:
    session = established(0, 1)
    assert session.target_of_answer(*tp(0)) is not None
    want(session, 0, 33)  # a seek while the answer is on its way
    assert session.target_of_answer(*tp(0)) is None
    session.remove(tp(1))
    assert session.target_of_answer(*tp(1)) is None
    session.next_request()
    answered: Any = session.target_of_answer(*tp(0))
    assert answered.offset == 33


def test_a_topic_without_an_id_ends_a_session_that_speaks_of_ids() -> None:
    session = established(0)
    want(session, 1, 0, None)
    body = session.next_request()
    assert (body.by_id, body.session_epoch, named(body)) == (False, 0, {0: 0, 1: 0})
    session.answered(100)
    want(session, 2, 0, ID)
    body = session.next_request()
    assert (body.by_id, body.session_epoch, named(body)) == (False, 1, {2: 0})


def test_the_cost_of_a_request_depends_on_the_changes() -> None:
    session = established(*range(1_000))
    want(session, 500, 1)
    assert len(named(session.next_request())) == 1


def test_the_request_that_ends_a_session_names_it_and_nothing_else() -> None:
    session = established(0, 1)
    assert session.in_session
    body = session.last_request()
    assert (body.session_id, body.session_epoch, body.topics, body.forgotten) == (99, -1, [], [])
    session.reset()
    assert not session.in_session


def test_an_id_that_the_broker_changes_begins_another_session() -> None:
    session = established(0)
    session.next_request()
    session.answered(100)
    body = session.next_request()
    assert (body.session_id, body.session_epoch) == (100, 1)


def test_the_names_of_ids_are_kept_until_everything_is_named_again() -> None:
    session = established(0)
    want(session, 0, 5, OTHER_ID)
    session.next_request()
    assert session.topic_names == {ID.int: "t", OTHER_ID.int: "t"}
    session.reset()
    session.next_request()
    assert session.topic_names == {OTHER_ID.int: "t"}


def test_unchanged_partitions_are_not_sent_again() -> None:
    session = established(0)
    want(session, 0)
    assert session.next_request().topics == []


def test_a_topic_that_gets_its_old_id_back_before_the_request_is_not_forgotten() -> None:
    session = established(0)
    want(session, 0, 1, OTHER_ID)
    want(session, 0, 2, ID)
    body = session.next_request()
    assert (named(body), forgotten(body)) == ({0: 2}, [])


@pytest.mark.parametrize("incremental", [True, False])
def test_without_a_session_the_partitions_served_last_come_last_so_that_none_starves(incremental: bool) -> None:
    session = FetchSession(incremental=incremental, max_bytes=1_000)
    states = [PartitionState(TopicPartition(topic, number)) for topic, number in (("a", 0), ("a", 1), ("b", 0))]
    for state in states:
        session.add(FetchTarget(state, 0, 0, 5, ID))
    served: list[TopicPartition] = []
    for offset in range(1, 7):
        body = session.next_request()
        session.answered(0)  # the broker has no sessions, or none left
        first = body.topics[0]
        served.append(TopicPartition(first.topic, first.partitions[0].partition))  # all that fits into a response
        assert sum(len(topic.partitions) for topic in body.topics) == 3
        target = session.targets[served[-1]]
        session.advance(target._replace(offset=offset))
    assert served == [state.tp for state in states] * 2
