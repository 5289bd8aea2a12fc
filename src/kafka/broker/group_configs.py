"""Group configs, with Kafka's names, types and validation. `broker.share` and `broker.groups` use some of them.

A group may have configs before it has members.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.error_codes import ErrorCode
from kafka.broker.named_configs import NamedConfigs
from kafka.broker.topic_configs import ConfigType, TopicOption

_BY_DURATION: Final = "by_duration:"
_DURATION: Final = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


def duration_ms(text: str) -> int | None:
    """Parse an ISO 8601 duration such as PT1H30M; returns milliseconds, or None if the text is not a duration."""
    found = _DURATION.fullmatch(text)
    given = {name: float(value) for name, value in found.groupdict().items() if value} if found else {}
    return round(timedelta(**given) / timedelta(milliseconds=1)) if given and not text.upper().endswith("T") else None


def reset_duration_ms(value: str) -> int | None:
    """Return the duration in ``share.auto.offset.reset=by_duration:...``, in milliseconds; None for other values."""
    return duration_ms(value.removeprefix(_BY_DURATION)) if value.startswith(_BY_DURATION) else None


def _reset(value: str) -> str | None:
    if value in ("earliest", "latest") or reset_duration_ms(value) is not None:
        return None
    return "it is not one of earliest, latest, by_duration:PnDTnHnMn.nS"


def _within(low: int, high: int) -> Callable[[str], str | None]:
    def check(value: str) -> str | None:
        if not re.fullmatch(r"-?\d+", value):
            return "it is not a whole number"
        return None if low <= int(value) <= high else f"it is not between {low} and {high}"

    return check


def _one_of(*names: str) -> Callable[[str], str | None]:
    return lambda value: None if value in names else f"it is not one of {', '.join(names)}"


def group_options(settings: BrokerSettings) -> dict[str, TopicOption]:
    """Return the group configs by name. Defaults and bounds come from the broker's settings."""
    int_, text = ConfigType.INT, ConfigType.STRING
    lock, least, most = (
        settings.share_record_lock_duration_ms,
        settings.share_min_record_lock_duration_ms,
        settings.share_max_record_lock_duration_ms,
    )
    rows = (
        TopicOption(
            "consumer.heartbeat.interval.ms",
            int_,
            str(settings.consumer_heartbeat_interval_ms),
            "How often members of a group of the type consumer send heartbeats.",
            _within(1, settings.consumer_session_timeout_ms),
        ),
        TopicOption(
            "consumer.session.timeout.ms",
            int_,
            str(settings.consumer_session_timeout_ms),
            "After how long without a heartbeat a member of a group of the type consumer is gone.",
            _within(1, 2**31 - 1),
        ),
        TopicOption("share.auto.offset.reset", text, "latest", "Where a share group starts in a partition.", _reset),
        TopicOption(
            "share.delivery.count.limit",
            int_,
            str(settings.share_delivery_count_limit),
            "How often a record is delivered at most.",
            _within(2, 10),
        ),
        TopicOption(
            "share.heartbeat.interval.ms",
            int_,
            str(settings.share_heartbeat_interval_ms),
            "How often members of a share group send heartbeats.",
            _within(1, settings.share_session_timeout_ms),
        ),
        TopicOption(
            "share.isolation.level",
            text,
            "read_uncommitted",
            "Whether records of open and aborted transactions are delivered.",
            _one_of("read_committed", "read_uncommitted"),
        ),
        TopicOption(
            "share.partition.max.record.locks",
            int_,
            str(settings.share_partition_max_record_locks),
            "How many records of a partition may be in flight.",
            _within(100, 4_000),
        ),
        TopicOption(
            "share.record.lock.duration.ms",
            int_,
            str(lock),
            "How long a member has for a record.",
            _within(least, most),
        ),
        TopicOption(
            "share.renew.acknowledge.enable",
            ConfigType.BOOLEAN,
            "true",
            "Whether members may renew their locks.",
            _one_of("true", "false"),
        ),
        TopicOption(
            "share.session.timeout.ms",
            int_,
            str(settings.share_session_timeout_ms),
            "After how long without a heartbeat a member of a share group is gone.",
            _within(1, 2**31 - 1),
        ),
    )
    return {row.name: row for row in rows}


class GroupConfigs(NamedConfigs):
    """The configs of all groups, stored in the file `path`."""

    def __init__(self, path: Path, settings: BrokerSettings) -> None:
        super().__init__(path, settings.fsync, group_options(settings), "group", ErrorCode.INVALID_CONFIG)
