"""Topic configs: name, type, default and valid values, and their conversion to the log's options.

Names, types and defaults are Kafka's. Configs marked as obeyed affect the broker. The others are only stored and
described, so that programs that set them run without changes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from kafka._compression import Compression
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.log_options import NEVER, LogOptions

_INT: Final = 2**31 - 1
_LONG: Final = 2**63 - 1
NO_LIMIT_MS: Final = _LONG
"""The default of ``message.timestamp.before.max.ms``."""


class ConfigType(IntEnum):
    """The type of a config's value; the numbers are those of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


@dataclass(frozen=True, slots=True)
class TopicOption:
    """A topic config. `check` returns the reason why a value is invalid, or None."""

    name: str
    type: ConfigType
    default: str
    doc: str
    check: Callable[[str], str | None]
    obeyed: bool = False


def _whole(low: int, high: int) -> Callable[[str], str | None]:
    def check(value: str) -> str | None:
        try:
            number = int(value)
        except ValueError:
            return "it is not a whole number"
        return None if low <= number <= high else f"it is not between {low} and {high}"

    return check


def _level_option(codec: Compression, levels: range) -> TopicOption:
    """Return the option for the compression level of a codec."""
    lowest, highest, default = levels[0], levels[-1], codec.default_level
    is_whole = _whole(min(lowest, default), highest)

    def check(value: str) -> str | None:
        if (problem := is_whole(value)) is None and int(value) not in levels and int(value) != default:
            return f"it is neither {default} nor between {lowest} and {highest}"
        return problem

    name = codec.option
    return TopicOption(f"compression.{name}.level", ConfigType.INT, str(default), f"The level for {name}.", check, True)


def _ratio(value: str) -> str | None:
    try:
        return None if 0.0 <= float(value) <= 1.0 else "it is not between 0 and 1"
    except ValueError:
        return "it is not a number"


def _one_of(*names: str) -> Callable[[str], str | None]:
    return lambda value: None if value in names else f"it is not one of {', '.join(names)}"


def _list_of(*names: str) -> Callable[[str], str | None]:
    def check(value: str) -> str | None:
        wrong = [one for one in split_list(value) if one not in names]
        return f"{wrong[0]!r} is not one of {', '.join(names)}" if wrong else None

    return check


_boolean: Final = _one_of("true", "false")


def _anything(_: str) -> str | None:
    return None


_CODECS: Final = {"uncompressed": Compression.NONE, **{each.option: each for each in Compression if each}}
"""Codecs by name."""
_T = ConfigType
TOPIC_OPTIONS: Final[Mapping[str, TopicOption]] = {
    one.name: one
    for one in (
        TopicOption(
            "cleanup.policy", _T.LIST, "delete", "What happens to old records.", _list_of("delete", "compact"), True
        ),
        TopicOption(
            "compression.type",
            _T.STRING,
            "producer",
            "The codec batches are kept with; producer: the one that they came with.",
            _one_of("producer", *_CODECS),
            True,
        ),
        *(_level_option(codec, codec.levels) for codec in Compression if codec.levels),
        TopicOption(
            "delete.retention.ms", _T.LONG, "86400000", "How long compaction keeps tombstones.", _whole(0, _LONG)
        ),
        TopicOption("file.delete.delay.ms", _T.LONG, "60000", "Delay before files are deleted.", _whole(0, _LONG)),
        TopicOption(
            "flush.messages", _T.LONG, str(_LONG), "Records after which the log is synced.", _whole(1, _LONG), True
        ),
        TopicOption("flush.ms", _T.LONG, str(_LONG), "Time after which the log is synced.", _whole(0, _LONG)),
        TopicOption("follower.replication.throttled.replicas", _T.LIST, "", "Throttled followers.", _anything),
        TopicOption("index.interval.bytes", _T.INT, "4096", "Bytes between index entries.", _whole(0, _INT), True),
        TopicOption("leader.replication.throttled.replicas", _T.LIST, "", "Throttled leaders.", _anything),
        TopicOption("local.retention.bytes", _T.LONG, "-2", "Local size with tiered storage.", _whole(-2, _LONG)),
        TopicOption("local.retention.ms", _T.LONG, "-2", "Local time with tiered storage.", _whole(-2, _LONG)),
        TopicOption("max.compaction.lag.ms", _T.LONG, str(_LONG), "Latest time of compaction.", _whole(1, _LONG)),
        TopicOption("max.message.bytes", _T.INT, "1048588", "The largest batch taken.", _whole(0, _INT), True),
        TopicOption(
            "message.timestamp.after.max.ms",
            _T.LONG,
            "3600000",
            "How far in the future a record's timestamp may be.",
            _whole(0, _LONG),
            True,
        ),
        TopicOption(
            "message.timestamp.before.max.ms",
            _T.LONG,
            str(_LONG),
            "How far in the past a record's timestamp may be.",
            _whole(0, _LONG),
            True,
        ),
        TopicOption(
            "message.timestamp.type",
            _T.STRING,
            "CreateTime",
            "Whose time records carry.",
            _one_of("CreateTime", "LogAppendTime"),
            True,
        ),
        TopicOption("min.cleanable.dirty.ratio", _T.DOUBLE, "0.5", "When compaction begins.", _ratio),
        TopicOption("min.compaction.lag.ms", _T.LONG, "0", "Earliest time of compaction.", _whole(0, _LONG)),
        TopicOption("min.insync.replicas", _T.INT, "1", "Replicas that acknowledge a write.", _whole(1, _INT)),
        TopicOption("preallocate", _T.BOOLEAN, "false", "Whether files are made in full size.", _boolean),
        TopicOption("remote.storage.enable", _T.BOOLEAN, "false", "Tiered storage.", _one_of("false")),
        TopicOption("retention.bytes", _T.LONG, "-1", "Size above which old segments go.", _whole(-1, _LONG), True),
        TopicOption("retention.ms", _T.LONG, "604800000", "Age above which segments go.", _whole(-1, _LONG), True),
        TopicOption("segment.bytes", _T.INT, "1073741824", "Size of a segment.", _whole(14, _INT), True),
        TopicOption("segment.index.bytes", _T.INT, "10485760", "Size of an index file.", _whole(4, _INT)),
        TopicOption("segment.jitter.ms", _T.LONG, "0", "Jitter of segment.ms.", _whole(0, _LONG)),
        TopicOption("segment.ms", _T.LONG, "604800000", "Age of a full segment.", _whole(1, _LONG), True),
        TopicOption("unclean.leader.election.enable", _T.BOOLEAN, "false", "Unclean elections.", _boolean),
    )
}


def split_list(value: str) -> list[str]:
    """Split the value of a list config."""
    return [one.strip() for one in value.split(",") if one.strip()]


def check_config(name: str, value: str | None) -> str:
    """Return the value if it is valid for the topic config `name`; otherwise raise `RequestFailed`."""
    option = TOPIC_OPTIONS.get(name)
    if option is None:
        raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
    if value is None:
        raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {name}")
    wrong = option.check(value)
    if wrong is not None:
        raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Invalid value {value!r} for configuration {name}: {wrong}")
    return value


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The parsed configs of a topic: those for producing, and the options of its logs."""

    log: LogOptions
    max_message_bytes: int
    log_append_time: bool
    compacted: bool
    timestamp_after_max_ms: int
    timestamp_before_max_ms: int
    codec: int | None
    """The codec for stored batches; None: the producer's codec."""
    codec_level: int | None
    """The compression level; None: the codec's default."""


def parse_settings(configs: Mapping[str, str], defaults: Mapping[str, str], fsync: bool) -> TopicSettings:
    """Combine a topic's own configs, the broker's defaults for topics, and Kafka's defaults."""

    def value(name: str) -> str:
        return configs.get(name) or defaults.get(name) or TOPIC_OPTIONS[name].default

    policies = split_list(value("cleanup.policy"))
    flush_messages = int(value("flush.messages"))
    codec = value("compression.type")
    return TopicSettings(
        log=LogOptions(
            segment_bytes=int(value("segment.bytes")),
            segment_ms=int(value("segment.ms")),
            index_interval_bytes=int(value("index.interval.bytes")),
            retention_ms=int(value("retention.ms")),
            retention_bytes=int(value("retention.bytes")),
            flush_messages=1 if fsync else min(flush_messages, NEVER),
            delete_old="delete" in policies,
        ),
        max_message_bytes=int(value("max.message.bytes")),
        log_append_time=value("message.timestamp.type") == "LogAppendTime",
        compacted="compact" in policies,
        timestamp_after_max_ms=int(value("message.timestamp.after.max.ms")),
        timestamp_before_max_ms=int(value("message.timestamp.before.max.ms")),
        codec=_CODECS.get(codec),
        codec_level=_level(codec, value),
    )


def _level(codec: str, value: Callable[[str], str]) -> int | None:
    levels = _CODECS[codec].levels if codec in _CODECS else None
    if levels is None:
        return None
    level = int(value(f"compression.{codec}.level"))
    return level if level in levels else None
