"""The configs of groups: names, types and checks are Kafka's; `broker.share` and `broker.groups` obey some.

A group may have configs before it has members. They are kept in one small file.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.log.files import keep_damaged, replace_file
from kafka.broker.settings import BrokerSettings
from kafka.broker.topic_configs import ConfigType, TopicOption

log = logging.getLogger(__name__)

_BY_DURATION: Final = "by_duration:"
_DURATION: Final = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


def duration_ms(text: str) -> int | None:
    """The milliseconds of an ISO 8601 duration such as PT1H30M; None for what is none."""
    found = _DURATION.fullmatch(text)
    given = {name: float(value) for name, value in found.groupdict().items() if value} if found else {}
    return round(timedelta(**given) / timedelta(milliseconds=1)) if given and not text.upper().endswith("T") else None


def reset_duration_ms(value: str) -> int | None:
    """How far back ``share.auto.offset.reset=by_duration:...`` begins; None for another value."""
    return duration_ms(value.removeprefix(_BY_DURATION)) if value.startswith(_BY_DURATION) else None


def _reset(value: str) -> str | None:
    if value in ("earliest", "latest") or reset_duration_ms(value) is not None:
        return None
    return "it is none of earliest, latest, by_duration:PnDTnHnMn.nS"


def _within(low: int, high: int) -> Callable[[str], str | None]:
    def check(value: str) -> str | None:
        if not re.fullmatch(r"-?\d+", value):
            return "it is not a whole number"
        return None if low <= int(value) <= high else f"it is not between {low} and {high}"

    return check


def _one_of(*names: str) -> Callable[[str], str | None]:
    return lambda value: None if value in names else f"it is none of {', '.join(names)}"


def group_options(settings: BrokerSettings) -> dict[str, TopicOption]:
    """The configs that a group may have, by name; defaults and bounds are the broker's settings."""
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


class GroupConfigs:
    """What was set for groups, in the file `path`."""

    def __init__(self, path: Path, settings: BrokerSettings) -> None:
        self._path = path
        self._sync = settings.fsync
        self.options = group_options(settings)
        self._set: dict[str, dict[str, str]] = self._load()

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            read = json.loads(self._path.read_bytes())
            return {str(group): {str(name): str(value) for name, value in row.items()} for group, row in read.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError) as error:
            kept = keep_damaged(self._path).name
            log.error("%s is damaged (%s); it is kept as %s, the groups' configs are lost", self._path, error, kept)
            return {}

    def groups(self) -> list[str]:
        """The groups for which something was set."""
        return list(self._set)

    def of(self, group_id: str) -> Mapping[str, str]:
        """What was set for a group."""
        return self._set.get(group_id, {})

    def value(self, group_id: str, name: str) -> str:
        """The config that holds for a group."""
        return self.of(group_id).get(name) or self.options[name].default

    def number(self, group_id: str, name: str) -> int:
        """As `value`, a number."""
        return int(self.value(group_id, name))

    def check(self, name: str, value: str | None) -> str:
        """The value if it is valid for the config `name`; else `RequestFailed` with INVALID_CONFIG."""
        option = self.options.get(name)
        if option is None:
            raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Unknown group config name: {name}")
        if value is None:
            raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Null value not supported for group configs: {name}")
        wrong = option.check(value)
        if wrong is not None:
            raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Invalid value {value!r} for configuration {name}: {wrong}")
        return value

    def replace(self, group_id: str, configs: Mapping[str, str]) -> None:
        """Set a group's configs; raises `RequestFailed` where they cannot be written, and nothing has changed."""
        changed = {**self._set, group_id: dict(configs)}
        if not configs:
            del changed[group_id]
        try:
            replace_file(self._path, json.dumps(changed).encode(), sync_name=self._sync)
        except OSError as error:
            raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._path}: {error}") from error
        self._set = changed
