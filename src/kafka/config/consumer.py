"""Consumer options for fetching, group membership and results, and a parser for ISO 8601 durations."""

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any, cast

from kafka.config.interceptors import interceptors_option
from kafka.config.option import accepting, anything, boolean, choice, function, integer, invalid, number, option, text
from kafka.errors import KafkaConfigurationError


def parse_assignors(name: str, value: Any) -> tuple[Any, ...] | None:
    """Check a sequence of assignor classes or instances; None selects range, then round robin."""
    if value is None:
        return None
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not found:
        raise invalid(name, "at least one assignor", value)
    return found


@accepting("str")
def parse_group_protocol(name: str, value: Any) -> str:
    """Parse the group protocol, ignoring case, as Java does."""
    known = value.lower() if isinstance(value, str) else value
    if known not in ("classic", "consumer"):
        raise invalid(name, "'classic' or 'consumer'", value)
    return str(known)


BY_DURATION = "by_duration:"
"""Prefix of a reset policy that starts at a time given as a duration before now."""

_RESETS = choice(
    {"latest": "latest", "earliest": "earliest", "none": "none", "largest": "latest", "smallest": "earliest"}
)


@accepting("str | None")
def parse_offset_reset(name: str, value: Any) -> str:
    """Parse a reset policy. A duration is kept as text. None means 'none', as in every version of kafka-python."""
    if value is None:
        return "none"
    if not isinstance(value, str) or not value.lower().startswith(BY_DURATION):
        try:
            return cast("str", _RESETS(name, value))
        except KafkaConfigurationError:
            known = "one of 'latest', 'earliest', 'none', 'largest', 'smallest', or 'by_duration:' and a duration"
            raise invalid(name, known, value) from None
    length_ms = milliseconds(value[len(BY_DURATION) :])
    if length_ms is None:
        raise invalid(name, "an ISO 8601 duration after 'by_duration:', such as PT1H, P7D or PT0.5S", value)
    if length_ms < 0:
        raise invalid(name, "a duration after 'by_duration:' that is not negative", value)
    return BY_DURATION + value[len(BY_DURATION) :]


@accepting("str | None")
def parse_new_partitions_reset(name: str, value: Any) -> str | None:
    """Parse a reset policy for new partitions; None selects the policy for all partitions."""
    return None if value is None else parse_offset_reset(name, value)


@dataclasses.dataclass(frozen=True, slots=True)
class FetchOptions:
    """Options for fetching: how much to fetch at a time, and where to start."""

    fetch_min_bytes: int = option(
        1, integer(0), "Minimum amount of data that a broker collects before it answers a fetch.", "fetch.min.bytes"
    )
    fetch_max_wait_ms: int = option(
        500, integer(0), "Maximum time a broker waits for fetch_min_bytes.", "fetch.max.wait.ms"
    )
    fetch_max_bytes: int = option(
        52_428_800, integer(0), "Approximate maximum size of a fetch response.", "fetch.max.bytes"
    )
    max_partition_fetch_bytes: int = option(
        1_048_576,
        integer(0),
        "Approximate maximum size of one partition's data in a fetch response.",
        "max.partition.fetch.bytes",
    )
    check_crcs: bool = option(True, boolean, "Whether to verify checksums of batches.", "check.crcs")
    isolation_level: str = option(
        "read_uncommitted",
        choice({name: name for name in ("read_uncommitted", "read_committed")}),
        "'read_committed' skips records of aborted and open transactions.",
        "isolation.level",
    )
    auto_offset_reset: str = option(
        "latest",
        parse_offset_reset,
        "Where to start without a valid position: 'earliest', 'latest', or an ISO 8601 duration before now such as "
        "'by_duration:PT1H' (KIP-1106). 'none' or None raises an error.",
        "auto.offset.reset",
    )
    auto_offset_reset_new_partitions: str | None = option(
        None,
        parse_new_partitions_reset,
        "Where to start, without a committed offset, in partitions and topics created after the consumer first saw "
        "its topics. Takes the same values as `auto_offset_reset`; 'earliest' includes records written before the "
        "consumer noticed the partitions. None: `auto_offset_reset` (KIP-1327).",
        "auto.offset.reset.new.partitions",
    )
    on_topic_recreated: str | None = option(
        None,
        choice({None: None, **{name: name for name in ("reset", "continue", "raise")}}),
        "What to do if a topic is deleted and recreated while it is being read: 'reset' reads the new topic from its "
        "beginning, 'continue' keeps positions that are valid in the new topic, and 'raise' makes poll() raise a "
        "`TopicRecreatedError` once and then resets. None: 'reset', or 'raise' with auto_offset_reset='none'.",
    )
    enable_incremental_fetch_sessions: bool = option(
        True, boolean, "Whether to use incremental fetch sessions, in which requests contain only changes (KIP-227)."
    )
    client_rack: str = option(
        "", text(), "Rack of this client, for fetching from the closest replica (KIP-392).", "client.rack"
    )
    max_decompressed_batch_bytes: int | None = option(
        None,
        integer(1, none=True),
        "Maximum size of a batch after decompression; None: 64 MiB or 16 times max_partition_fetch_bytes, whichever "
        "is larger.",
    )

    @property
    def recreated_topics(self) -> str:
        """The value of `on_topic_recreated`, with None replaced by the default."""
        if self.on_topic_recreated is not None:
            return self.on_topic_recreated
        return "raise" if self.auto_offset_reset == "none" else "reset"

    @property
    def max_decompressed_bytes(self) -> int:
        """The value of `max_decompressed_batch_bytes`, with None replaced by the default."""
        if self.max_decompressed_batch_bytes is not None:
            return self.max_decompressed_batch_bytes
        return max(64 << 20, 16 * self.max_partition_fetch_bytes)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options for membership in a consumer group."""

    group_id: str | None = option(
        None, text(none=True, empty=False), "Consumer group; None: no group and no commits.", "group.id"
    )
    group_instance_id: str | None = option(
        None, text(none=True, empty=False), "Id that makes this a static member (KIP-345).", "group.instance.id"
    )
    enable_auto_commit: bool = option(
        True, boolean, "Whether to commit positions periodically in the background.", "enable.auto.commit"
    )
    auto_commit_interval_ms: int = option(
        5_000, integer(0), "Interval between automatic commits; 0: ten per second.", "auto.commit.interval.ms"
    )
    default_offset_commit_callback: Callable[..., Any] | None = option(
        None, function, "Called with (offsets, response or error) after a commit_async() without its own callback."
    )
    group_protocol: str = option(
        "classic",
        parse_group_protocol,
        "Group protocol: 'classic', or 'consumer' (KIP-848) for brokers from 4.0.",
        "group.protocol",
    )
    group_remote_assignor: str | None = option(
        None,
        text(none=True, empty=False),
        "Broker-side assignor, 'uniform' or 'range', with group_protocol 'consumer'; None: the broker's default.",
        "group.remote.assignor",
    )
    partition_assignment_strategy: tuple[Any, ...] | None = option(
        None,
        parse_assignors,
        "Assignors (classes, objects or names such as 'range') in order of preference.",
        "partition.assignment.strategy",
    )
    session_timeout_ms: int = option(
        10_000,
        integer(1),
        "Time without a heartbeat after which the coordinator removes a member.",
        "session.timeout.ms",
    )
    heartbeat_interval_ms: int = option(3_000, integer(1), "Interval between heartbeats.", "heartbeat.interval.ms")
    max_poll_interval_ms: int = option(
        300_000, integer(1), "Maximum time between calls of poll().", "max.poll.interval.ms"
    )
    exclude_internal_topics: bool = option(
        True, boolean, "Whether a subscribed pattern excludes internal topics.", "exclude.internal.topics"
    )


def parse_on_deserialization_error(name: str, value: Any) -> Any:
    """Check an error policy: the name of a policy, or a function."""
    if callable(value) or value in ("raise", "skip"):
        return value
    raise invalid(name, "'raise', 'skip' or a function", value)


def parse_consumer_timeout(name: str, value: Any) -> float:
    """Parse a time in milliseconds; infinity, or -1 as in older programs, means no limit."""
    if value == -1:
        return math.inf
    parsed: float = number(0)(name, value)
    return parsed


@dataclasses.dataclass(frozen=True, slots=True)
class ConsumerOptions:
    """Options for the results of poll() and iteration."""

    key_deserializer: Any = option(None, anything, "Converts the bytes of a key to an object.", "key.deserializer")
    value_deserializer: Any = option(
        None, anything, "Converts the bytes of a value to an object.", "value.deserializer"
    )
    on_deserialization_error: Any = option(
        "raise",
        parse_on_deserialization_error,
        "What to do with a record whose key or value cannot be deserialized: 'raise', 'skip' (with a warning), or a "
        "function that takes the `RecordDeserializationError` and returns a replacement record or None. The error's "
        "`record` contains the original bytes; for dead letters see [DELIVERY.md](DELIVERY.md).",
        accepts="str | Callable[[Any], Any]",
    )
    max_poll_records: int = option(
        500, integer(1), "Maximum number of records returned by one poll().", "max.poll.records"
    )
    consumer_timeout_ms: float = option(
        math.inf, parse_consumer_timeout, "Time without a record after which iteration ends.", accepts="float"
    )
    default_api_timeout_ms: int = option(
        60_000,
        integer(1),
        "Maximum time a call without its own timeout may block. If only `request_timeout_ms` is set, it also limits "
        "offset lookups, as in kafka-python.",
        "default.api.timeout.ms",
    )
    interceptor_classes: tuple[Any, ...] = interceptors_option()
    metric_group_prefix: str = option("consumer", text(), "Prefix of metric group names.")
    legacy_iterator: bool = option(False, anything, "", inert=True)


_PARTS = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(T(?=[-+\d])(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?)(\d+)(?:[.,](\d{0,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_DAY_MS, _HOUR_MS, _MINUTE_MS, _SECOND_MS = 86_400_000, 3_600_000, 60_000, 1_000
_NS_DIGITS = 9


def milliseconds(text: str) -> int | None:
    """Convert an ISO 8601 duration of days, hours, minutes and seconds, such as ``PT1H30M``, to milliseconds.

    Fractions are rounded down. Returns None if the text is not such a duration. Java: ``Duration.parse``.
    """
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    negative, days, _, hours, minutes, sign, seconds, fraction = found.groups()
    if days is None and hours is None and minutes is None and seconds is None:
        return None
    whole_ms: int = int(days or 0) * _DAY_MS + int(hours or 0) * _HOUR_MS + int(minutes or 0) * _MINUTE_MS
    ns: int = int(seconds or 0) * 10**_NS_DIGITS + int((fraction or "").ljust(_NS_DIGITS, "0"))
    ns = whole_ms * 10**6 + (-ns if sign == "-" else ns)
    total_ms: int = (-ns if negative == "-" else ns) // 10**6
    return total_ms
