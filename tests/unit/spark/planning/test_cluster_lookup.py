"""The planner's requests to the cluster, with scripted clients."""

from typing import Any

import pytest

from kafka.consumer.position.special_timestamps import LATEST
from kafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NoBrokersAvailable,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from kafka.spark.options.parsing import parse_read
from kafka.spark.planning import cluster_lookup as cluster_module
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.structs import OffsetAndTimestamp, TopicPartition

T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)


class ScriptedTopics:
    """Topics with their error codes and ends of logs, and the time spent waiting."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.codes: dict[str, int] = {"t": 0, "u": 0}
        self.ends: dict[TopicPartition, int] = {T0: 5, U0: 7}
        self.ids: dict[str, str | None] = {"t": "1", "u": "2"}
        self.epochs: dict[TopicPartition, int] = {}
        self.ends_of_epochs: dict[tuple[TopicPartition, int], int] = {}
        self.log_dirs: list[dict[str, Any]] = []
        self.asked_sizes: dict[str, list[int]] = {}
        self.waited_ms = 0.0
        self.made = self.closed = 0
        self.failures: list[Exception] = []
        monkeypatch.setattr(cluster_module, "make_consumer", lambda configs: self.make())
        monkeypatch.setattr("kafka.KafkaAdminClient", lambda **configs: self.make(), raising=False)
        monkeypatch.setattr(ClusterLookup, "_pause", staticmethod(self.wait))

    def wait(self, pause_ms: float) -> None:
        self.waited_ms += pause_ms

    def make(self) -> "ScriptedTopics":
        self.made += 1
        return self

    def close(self) -> None:
        self.closed += 1

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)

    def describe_topics(self, names: list[str] | None = None) -> list[dict[str, Any]]:
        self._fail()
        found = []
        for name in names or self.codes:
            code = self.codes.get(name, 3)
            partitions = [] if code else [{"partition": each.partition} for each in self.ends if each.topic == name]
            internal = name.startswith("__")
            told = {"topic": name, "error_code": code, "is_internal": internal, "partitions": partitions}
            found.append({**told, "topic_id": self.ids.get(name)})
        return found

    def describe_log_dirs(self, topics: dict[str, list[int]], raise_errors: bool) -> list[dict[str, Any]]:
        self._fail()
        assert not raise_errors
        self.asked_sizes = topics
        return self.log_dirs

    def __enter__(self) -> "ScriptedTopics":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look_up(self, wanted: dict[TopicPartition, int], timeout_ms: int) -> dict[TopicPartition, OffsetAndTimestamp]:
        self._fail()
        if any(each not in self.ends for each in wanted):
            self.waited_ms += timeout_ms
            raise KafkaTimeoutError("no leader")
        assert set(wanted.values()) <= {LATEST}
        return {each: OffsetAndTimestamp(self.ends[each], -1, self.epochs.get(each)) for each in wanted}

    def _epoch_ends(self, epochs: dict[TopicPartition, int], timeout_ms: int) -> dict[TopicPartition, Any]:
        self._fail()
        return {each: OffsetAndTimestamp(self.ends_of_epochs[each, epochs[each]], -1, None) for each in epochs}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> ScriptedTopics:
    return ScriptedTopics(monkeypatch)


def lookup(**options: str) -> ClusterLookup:
    given = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"} | {
        name.lower(): each for name, each in options.items()
    }
    return ClusterLookup(parse_read(given, streaming=True))


def test_a_missing_topic_is_known_within_a_second(cluster):
    asked = lookup()
    assert set(asked.partitions(["t", "nope"])) == {"t"}
    assert 0 < cluster.waited_ms < 1_000
    waited = cluster.waited_ms
    assert set(asked.partitions(["t", "nope"])) == {"t"}
    assert cluster.waited_ms == waited, "it is not waited for again"


def test_only_error_3_means_that_a_topic_does_not_exist(cluster):
    cluster.codes |= {"t": 29, "u": 3}
    with pytest.raises(TopicAuthorizationFailedError, match="topic 't'"):
        lookup().partitions(["t"])
    assert lookup().partitions(["u"]) == {}
    cluster.codes["t"] = 5
    with pytest.raises(LeaderNotAvailableError, match="topic 't'"):
        lookup().partitions(["t"])


def test_internal_topics_are_not_listed(cluster):
    cluster.codes["__consumer_offsets"] = 0
    assert lookup().topics() == {"t", "u"}


def test_missing_brokers_at_the_start_are_an_error_at_once(cluster):
    cluster.failures = [NoBrokersAvailable("h:1: refused")] * 9
    with pytest.raises(NoBrokersAvailable):
        lookup().partitions(["t"])
    assert len(cluster.failures) == 8


def test_a_cluster_that_has_answered_before_is_retried(cluster):
    asked = lookup()
    asked.topics()
    cluster.failures = [KafkaConnectionError("lost"), NoBrokersAvailable("h:1: refused"), NoBrokersAvailable("again")]
    assert asked.partitions(["t"]) == {"t": {T0}}
    assert cluster.waited_ms == 3_000


@pytest.mark.parametrize("given", [{}, {"fetchOffset.numRetries": "0"}])
def test_a_deleted_topic_delays_the_others_by_seconds_not_minutes(cluster, given):
    asked = lookup(**given)
    assert asked.latest([T0, U0], {}) == {T0: 5, U0: 7}
    del cluster.ends[U0]
    cluster.codes["u"] = 3
    assert asked.latest([T0, U0], {}) == {T0: 5}
    assert cluster.waited_ms < 4_000
    assert asked.latest([U0], {}) == {}


def test_leaders_get_more_time_with_each_request(cluster, monkeypatch):
    given_ms = []

    def silent(wanted: dict[TopicPartition, int], timeout_ms: int) -> dict[TopicPartition, OffsetAndTimestamp]:
        given_ms.append(timeout_ms)
        raise KafkaTimeoutError("no leader")

    monkeypatch.setattr(cluster, "_look_up", silent)
    with pytest.raises(KafkaTimeoutError):
        lookup().latest([T0], {})
    assert given_ms == [2_000, 4_000, 8_000, 16_000, 30_000]


def test_an_error_contains_the_request_and_the_number_of_attempts(cluster):
    cluster.failures = [KafkaConnectionError("lost")] * 9
    with pytest.raises(KafkaConnectionError) as caught:
        lookup(**{"fetchOffset.numRetries": "2"}).topics()
    assert caught.value.__notes__ == ["while trying to list the topics for Spark, 3 times"]
    assert cluster.waited_ms == 2_000


def test_an_empty_log_is_not_waited_for(cluster):
    cluster.ends[T0] = 0
    assert lookup().latest([T0], {}) == {T0: 0}
    assert cluster.waited_ms == 0


def test_a_known_end_is_requested_until_it_is_reported_again(cluster):
    assert lookup().latest([T0], {T0: 5}) == {T0: 5}
    assert cluster.waited_ms == 0
    assert lookup().latest([T0], {T0: 6}) == {T0: 5}
    assert cluster.waited_ms == 3_000


def test_a_partition_without_a_leader_is_an_error_after_a_minute(cluster, monkeypatch):
    describe = cluster.describe_topics
    del cluster.ends[U0]

    def describe_both(names: list[str]) -> list[dict[str, Any]]:
        return [topic | {"partitions": [{"partition": 0}]} for topic in describe(names)]

    monkeypatch.setattr(cluster, "describe_topics", describe_both)
    with pytest.raises(KafkaTimeoutError, match="no leader"):
        lookup().latest([T0, U0], {})
    assert 50_000 <= cluster.waited_ms <= 70_000


def test_a_closed_lookup_reconnects_for_the_next_query(cluster):
    with lookup() as asked:
        assert (cluster.made, cluster.closed) == (0, 0)
        for number in (1, 2):
            asked.topics()
            asked.partitions(["t"])
            assert cluster.made == number
            asked.close()
            assert cluster.closed == number
        asked.close()
    assert cluster.closed == 2


def test_a_topic_that_disappears_again_is_waited_for_again(cluster):
    asked = lookup()
    assert asked.partitions(["t", "v"]).keys() == {"t"}
    cluster.codes["v"] = 0
    cluster.ends[TopicPartition("v", 0)] = 1
    assert asked.partitions(["t", "v"]).keys() == {"t", "v"}
    waited = cluster.waited_ms
    cluster.codes["v"] = 3
    assert asked.partitions(["t", "v"]).keys() == {"t"}
    assert cluster.waited_ms > waited


def test_no_topics_need_no_request(cluster):
    assert lookup().partitions([]) == {}
    assert cluster.made == 0


def test_topic_ids_come_from_the_last_response(cluster):
    asked = lookup()
    asked.partitions(["t", "u"])
    assert asked.topic_ids(["t", "u", "v"]) == {"t": "1", "u": "2"}
    cluster.ids = {"t": "3", "u": None}
    asked.partitions(["t", "u"])
    assert asked.topic_ids(["t", "u"]) == {"t": "3"}
    cluster.codes["t"] = 3
    asked.partitions(["t"])
    assert asked.topic_ids(["t"]) == {"t": "3"}


def test_leader_epochs_come_from_the_last_response(cluster):
    asked = lookup()
    cluster.epochs = {T0: 0, U0: 5}
    asked.latest([T0, U0], {})
    assert asked.leader_epochs([T0, U0]) == {T0: 0, U0: 5}
    cluster.epochs = {T0: 1, U0: -1}
    asked.latest([T0, U0], {})
    assert asked.leader_epochs([T0, U0]) == {T0: 1}


def test_unknown_ends_of_epochs_are_omitted(cluster):
    cluster.ends_of_epochs = {(T0, 3): 17, (U0, 4): -1}
    asked = lookup()
    assert asked.epoch_ends({T0: 3, U0: 4}) == {T0: 17}
    cluster.failures = [UnsupportedVersionError("brokers before 2.3")]
    assert asked.epoch_ends({T0: 3, U0: 4}) == {}


def test_the_log_size_is_that_of_the_largest_replica(cluster):
    small, large = ({"partition_index": 0, "partition_size": size} for size in (5, 7))
    cluster.log_dirs = [
        {"log_dirs": [{"topics": [{"name": "t", "partitions": [small]}]}]},
        {"log_dirs": [{"topics": [{"name": "t", "partitions": [large]}]}]},
        {"log_dirs": []},
    ]
    assert lookup().log_bytes([T0]) == {T0: 7}
    assert cluster.asked_sizes == {"t": [0]}


def test_unknown_sizes_are_omitted(cluster):
    cluster.failures = [NoBrokersAvailable("gone")]
    assert lookup().log_bytes([T0]) == {}
