"""The settings of an embedded broker, in one immutable object."""

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from kafka.errors import KafkaConfigurationError

T = TypeVar("T")


def _setting(default: T, doc: str) -> T:
    """Declare a setting. `doc` is also shown by the command line."""
    declared: T = field(default=default, metadata={"doc": doc})
    return declared


_ARGUMENTS = ("data_dir", "host", "port")
"""Arguments of `EmbeddedBroker` that are not settings, and that may be misspelt as well."""


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """The settings of an embedded broker. Kafka's names for them are in parentheses.

    Sizes are in bytes, times in milliseconds.
    """

    node_id: int = _setting(1, "Broker id (node.id).")
    rack: str | None = _setting(None, "Rack of the broker in metadata (broker.rack).")
    advertised_host: str | None = _setting(
        None,
        "Host name advertised to clients (advertised.listeners). By default, the one listened on.",
    )
    advertised_port: int | None = _setting(None, "Port advertised to clients. By default, the one listened on.")
    auto_create_topics: bool = _setting(
        True, "Create a topic when its metadata is requested (auto.create.topics.enable)."
    )
    num_partitions: int = _setting(1, "Default number of partitions of new topics (num.partitions).")
    topic_defaults: Mapping[str, str] = field(default_factory=dict)
    """Default topic configs by name, where they differ from Kafka's defaults."""
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Passwords by user name. The listener requires SASL_PLAINTEXT if there are users, otherwise PLAINTEXT."""
    connections_max_reauth_ms: int = _setting(
        0, "Time after which authenticated clients must reauthenticate; 0 disables this (connections.max.reauth.ms)."
    )
    registry: bool = _setting(
        False, "Run a schema registry next to the broker, on the loopback interface; its data is in the same directory."
    )
    registry_port: int = _setting(0, "Port of the schema registry; 0 picks a free one.")
    fsync: bool = _setting(
        False, "Sync each append to disk before acknowledging it, so that it survives a power failure."
    )
    max_request_bytes: int = _setting(104_857_600, "Maximum size of a request (socket.request.max.bytes).")
    max_fetch_bytes: int = _setting(57_671_680, "Maximum size of a fetch response (fetch.max.bytes).")
    max_open_files: int = _setting(
        256, "Maximum number of open log files; never more than half of the process's file limit."
    )
    max_fetch_sessions: int = _setting(
        1000, "Maximum number of fetch sessions (max.incremental.fetch.session.cache.slots)."
    )
    retention_check_interval_ms: int = _setting(
        300_000, "Interval between retention checks (log.retention.check.interval.ms)."
    )
    group_initial_rebalance_delay_ms: int = _setting(
        0, "Time the first rebalance of an empty group waits for more members (group.initial.rebalance.delay.ms)."
    )
    group_min_session_timeout_ms: int = _setting(
        6000,
        "Minimum session timeout of members (group.min.session.timeout.ms); tests may want a shorter one.",
    )
    group_max_session_timeout_ms: int = _setting(
        1_800_000, "Maximum session timeout of members (group.max.session.timeout.ms)."
    )
    transaction_version: int = _setting(
        2, "Version of the transaction protocol, 1 or 2 (the feature transaction.version, KIP-890)."
    )
    transaction_max_timeout_ms: int = _setting(900_000, "Maximum transaction timeout (transaction.max.timeout.ms).")
    transactional_id_expiration_ms: int = _setting(
        604_800_000, "Time after which an unused transactional id expires (transactional.id.expiration.ms)."
    )
    consumer_heartbeat_interval_ms: int = _setting(
        5_000,
        "Heartbeat interval of members of groups with the consumer protocol (group.consumer.heartbeat.interval.ms).",
    )
    consumer_session_timeout_ms: int = _setting(
        45_000, "Session timeout of members of groups with the consumer protocol (group.consumer.session.timeout.ms)."
    )
    share_version: int = _setting(
        1, "Version of share groups: 1, or 0 to disable them (the feature share.version, KIP-932)."
    )
    share_record_lock_duration_ms: int = _setting(
        30_000, "Time a record stays locked for a member of a share group (group.share.record.lock.duration.ms)."
    )
    share_min_record_lock_duration_ms: int = _setting(
        15_000, "Minimum lock duration a share group may set (group.share.min.record.lock.duration.ms)."
    )
    share_max_record_lock_duration_ms: int = _setting(
        60_000, "Maximum lock duration a share group may set (group.share.max.record.lock.duration.ms)."
    )
    share_delivery_count_limit: int = _setting(
        5, "Maximum number of deliveries of a record to a share group (group.share.delivery.count.limit)."
    )
    share_partition_max_record_locks: int = _setting(
        2_000,
        "Maximum number of records of a partition locked by a share group (group.share.partition.max.record.locks).",
    )
    share_session_timeout_ms: int = _setting(
        45_000, "Session timeout of members of share groups (group.share.session.timeout.ms)."
    )
    share_heartbeat_interval_ms: int = _setting(
        5_000, "Heartbeat interval of members of share groups (group.share.heartbeat.interval.ms)."
    )
    share_max_size: int = _setting(200, "Maximum number of members of a share group (group.share.max.size).")
    max_share_sessions: int = _setting(2_000, "Maximum number of share sessions (group.share.max.share.sessions).")
    client_telemetry: bool = _setting(
        False, "Accept clients' metrics (KIP-714), as Kafka does with a plug-in that receives them."
    )
    telemetry_max_bytes: int = _setting(1_048_576, "Maximum size of a push of client metrics (telemetry.max.bytes).")
    offset_metadata_max_bytes: int = _setting(
        4096, "Maximum size of a committed offset's metadata (offset.metadata.max.bytes)."
    )

    @classmethod
    def from_names(cls, names: Mapping[str, object]) -> "BrokerSettings":
        """Create settings from keyword arguments.

        Raises `KafkaConfigurationError` for unknown names and invalid values.
        """
        known = {one.name: one for one in dataclasses.fields(cls)}
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, [*known, *_ARGUMENTS], 1)
                hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(sorted(known))}"
                raise KafkaConfigurationError(f"the embedded broker has no setting {name}: {hint}")
        settings = cls(**names)  # type: ignore[arg-type]
        settings._check()
        return settings

    def _check(self) -> None:
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if one.type in ("int", int) and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise KafkaConfigurationError(f"{one.name} must be an integer of at least 0, not {value!r}")
            if one.type in ("int | None", int | None) and not (
                value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536)
            ):
                raise KafkaConfigurationError(f"{one.name} must be a port from 1 to 65535 or None, not {value!r}")
            if one.type in ("bool", bool) and not isinstance(value, bool):
                raise KafkaConfigurationError(f"{one.name} must be True or False, not {value!r}")
        _check_users(self.users)
        if self.num_partitions < 1 or self.max_open_files < 1:
            least = "num_partitions" if self.num_partitions < 1 else "max_open_files"
            raise KafkaConfigurationError(f"{least} must be at least 1, not {getattr(self, least)}")
        if self.registry_port > 65535:
            raise KafkaConfigurationError(f"registry_port must be at most 65535, not {self.registry_port}")
        if self.share_version not in (0, 1):
            raise KafkaConfigurationError(f"share_version must be 0 or 1, not {self.share_version}")
        if self.transaction_version not in (1, 2):
            raise KafkaConfigurationError(f"transaction_version must be 1 or 2, not {self.transaction_version}")


def _check_users(users: object) -> None:
    """Check that names and passwords can be encoded. Error messages do not contain passwords."""
    if not isinstance(users, Mapping):
        raise KafkaConfigurationError(f"users must be a mapping from names to passwords, not {type(users).__name__}")
    for name, password in users.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise KafkaConfigurationError("users contains a name that is not text, is empty or contains a NUL")
        if not isinstance(password, str) or not password or "\0" in password:
            raise KafkaConfigurationError(f"users must contain a password for {name!r}: non-empty text without NUL")
        if not _is_unicode(name) or not _is_unicode(password):
            # Environment variables that are not valid UTF-8 contain surrogates.
            raise KafkaConfigurationError(f"users contains {name!r}, whose name or password is not valid UTF-8")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
