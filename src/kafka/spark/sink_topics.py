"""Whether the topic of a write is there, told in a second where brokers do not make topics by themselves."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka.errors import KafkaError, UnknownTopicOrPartitionError
from kafka.spark.cache import Configs, admin_configs
from kafka.spark.lookup import MissingTopicError

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

log = logging.getLogger(__name__)

_TRIES = 4
_PAUSE_S = 0.2
"""A new topic is not known to every broker at once: one that is missing is asked for again, so soon after."""
_AUTO_CREATE = "auto.create.topics.enable"
_there: set[tuple[Configs, str]] = set()
"""Topics that this process has found."""


def check_topic(configs: Configs, topic: str, sleep: Callable[[float], object] = time.sleep) -> None:
    """Raise `MissingTopicError` for a topic that is not there, and that no broker will make.

    Where it is not known whether brokers make topics, or the topic may not be seen, nothing is raised: the producer
    waits for it as `max_block_ms` says.

    Arguments:
        configs: keyword arguments of the producer.
        sleep: lets so many seconds go by.
    """
    from kafka import KafkaAdminClient

    if (configs, topic) in _there:
        return
    asks = dict(configs).get("allow_auto_create_topics", True)
    try:
        with KafkaAdminClient(**admin_configs(configs)) as admin:
            for attempt in range(_TRIES):
                if attempt:
                    sleep(_PAUSE_S)
                (found,) = admin.describe_topics([topic])
                if found["error_code"] != UnknownTopicOrPartitionError.errno:
                    _there.add((configs, topic))
                    return
                if asks and _is_made_by_brokers(admin):
                    return
    except KafkaError as error:
        log.debug("cannot tell whether topic %r exists: %s", topic, error)
        return
    raise MissingTopicError(
        f"Kafka has no topic {topic!r}, which the query writes to, and topics are not created automatically "
        f"({_AUTO_CREATE if asks else 'kafka.allow.auto.create.topics'}=false): create it first"
    )


def _is_made_by_brokers(admin: "KafkaAdminClient") -> bool:
    """Whether brokers make topics that are written to; True where they do not tell."""
    from kafka.admin import ConfigResource, ConfigResourceType

    broker = admin.describe_cluster()["brokers"][0]["node_id"]
    resource = ConfigResource(ConfigResourceType.BROKER, str(broker), {_AUTO_CREATE: ""})
    (told,) = admin.describe_configs([resource])
    values = {each["name"]: each["value"] for each in told.results[0]["configs"]}
    return str(values.get(_AUTO_CREATE, "true")).lower() != "false"
