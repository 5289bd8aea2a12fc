"""Share consumer options (KIP-932). Options shared with the consumer are declared in `kafka.config.consumer`."""

import dataclasses
from typing import Any

from kafka.config.consumer import ConsumerOptions, FetchOptions, GroupOptions
from kafka.config.option import choice, option


def _as_in(cls: type[Any], name: str) -> Any:
    """Return the field of the option with the same name in a consumer dataclass."""
    field = next(field for field in dataclasses.fields(cls) if field.name == name)
    return dataclasses.field(default_factory=field.default_factory, metadata=field.metadata)


@dataclasses.dataclass(frozen=True, slots=True)
class ShareOptions:
    """Options for acquiring, acknowledging and returning records."""

    group_id: str | None = _as_in(GroupOptions, "group_id")
    fetch_min_bytes: int = _as_in(FetchOptions, "fetch_min_bytes")
    fetch_max_wait_ms: int = _as_in(FetchOptions, "fetch_max_wait_ms")
    fetch_max_bytes: int = _as_in(FetchOptions, "fetch_max_bytes")
    check_crcs: bool = _as_in(FetchOptions, "check_crcs")
    client_rack: str = _as_in(FetchOptions, "client_rack")
    max_decompressed_batch_bytes: int | None = _as_in(FetchOptions, "max_decompressed_batch_bytes")
    max_poll_interval_ms: int = _as_in(GroupOptions, "max_poll_interval_ms")
    key_deserializer: Any = _as_in(ConsumerOptions, "key_deserializer")
    value_deserializer: Any = _as_in(ConsumerOptions, "value_deserializer")
    max_poll_records: int = _as_in(ConsumerOptions, "max_poll_records")
    consumer_timeout_ms: float = _as_in(ConsumerOptions, "consumer_timeout_ms")
    default_api_timeout_ms: int = _as_in(ConsumerOptions, "default_api_timeout_ms")
    metric_group_prefix: str = _as_in(ConsumerOptions, "metric_group_prefix")
    share_acknowledgement_mode: str = option(
        "implicit",
        choice({name: name for name in ("implicit", "explicit")}),
        "'implicit': the next poll() accepts the records returned before; 'explicit': the program acknowledges each "
        "record.",
        "share.acknowledgement.mode",
    )
    share_acquire_mode: str = option(
        "batch_optimized",
        choice({name: name for name in ("batch_optimized", "record_limit")}),
        "'batch_optimized': whole batches, so possibly slightly more than max_poll_records; 'record_limit': never "
        "more (KIP-1206).",
        "share.acquire.mode",
    )

    @property
    def max_decompressed_bytes(self) -> int:
        """The value of `max_decompressed_batch_bytes`, with None replaced by the default."""
        return self.max_decompressed_batch_bytes or 64 << 20


_GROUP_CONFIG = "it is a config of the group, {}, which an administrator sets"
NOT_FOR_SHARES: dict[str, str] = {
    "auto_offset_reset": _GROUP_CONFIG.format("share.auto.offset.reset"),
    "auto_offset_reset_new_partitions": _GROUP_CONFIG.format("share.auto.offset.reset"),
    "on_topic_recreated": "brokers store the position of a share group by topic id",
    "isolation_level": _GROUP_CONFIG.format("share.isolation.level"),
    "session_timeout_ms": _GROUP_CONFIG.format("share.session.timeout.ms"),
    "heartbeat_interval_ms": _GROUP_CONFIG.format("share.heartbeat.interval.ms"),
    "enable_auto_commit": "records are acknowledged, see share_acknowledgement_mode",
    "auto_commit_interval_ms": "records are acknowledged, see share_acknowledgement_mode",
    "default_offset_commit_callback": "see set_acknowledgement_commit_callback()",
    "group_instance_id": "share groups have no static members",
    "group_protocol": "share groups have only one protocol",
    "partition_assignment_strategy": "the coordinator assigns partitions",
    "exclude_internal_topics": "share consumers subscribe to topics by name",
    "max_partition_fetch_bytes": "fetch_max_bytes limits a response",
    "enable_incremental_fetch_sessions": "share fetches always use a session",
}
"""Consumer options that share consumers do not have, with the reason."""
