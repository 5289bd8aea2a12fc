"""Writing to a topic that does not exist."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.errors import ClusterAuthorizationFailedError
from kafka.spark.client_cache import Configs
from kafka.spark.planning.lookup import MissingTopicError
from kafka.spark.tasks import write_task
from kafka.spark.tasks.write_task import check_topic

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_task, "_there", set())


def configs_of(broker: EmbeddedBroker) -> Configs:
    return (("bootstrap_servers", broker.bootstrap_servers),)


def test_a_missing_topic_is_reported_unless_it_is_created_meanwhile() -> None:
    pauses: list[float] = []
    with EmbeddedBroker(auto_create_topics=False) as broker:
        with pytest.raises(MissingTopicError, match=r"no topic 't', which the query writes to, .*: create it first"):
            check_topic(configs_of(broker), "t", pauses.append)
        assert sum(pauses) < 1.0

        def make(_: float) -> None:
            with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
                admin.create_topics([NewTopic("t", 1, 1)])

        configs = configs_of(broker)
        check_topic(configs, "t", make)
    check_topic(configs, "t")  # the result is cached: the broker no longer exists


def test_a_topic_that_brokers_create_is_left_to_the_producer() -> None:
    with EmbeddedBroker() as broker:
        check_topic(configs_of(broker), "t")
        with pytest.raises(MissingTopicError, match="no topic 't'"):
            check_topic((("allow_auto_create_topics", False), *configs_of(broker)), "t", lambda _: None)


def test_a_topic_is_left_to_the_producer_if_brokers_do_not_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ClusterAuthorizationFailedError("no")

    with EmbeddedBroker(auto_create_topics=False) as broker:
        monkeypatch.setattr(KafkaAdminClient, "describe_configs", refuse)
        check_topic(configs_of(broker), "t")
