"""What can be set on an embedded broker, in one frozen object that its parts read."""

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from kafka.errors import KafkaConfigurationError

T = TypeVar("T")


def _setting(default: T, doc: str) -> T:
    """Declare a setting; the command line shows `doc` too."""
    declared: T = field(default=default, metadata={"doc": doc})
    return declared


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """The settings of an embedded broker; in brackets what Kafka calls the same.

    Sizes are bytes, times milliseconds.
    """

    node_id: int = _setting(1, "The broker's id (node.id).")
    rack: str | None = _setting(None, "The rack that metadata name (broker.rack).")
    advertised_host: str | None = _setting(
        None,
        "The host that clients are told to connect to; the one listened on where not given (advertised.listeners).",
    )
    advertised_port: int | None = _setting(None, "The port that clients are told; the one listened on where not given.")
    auto_create_topics: bool = _setting(
        True, "Whether asking for a topic's metadata creates it (auto.create.topics.enable)."
    )
    num_partitions: int = _setting(1, "Partitions of a topic that is created without a number (num.partitions).")
    topic_defaults: Mapping[str, str] = field(default_factory=dict)
    """Topic configs that differ from Kafka's defaults, by the topic config's name."""
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Passwords by name. With users the listener is SASL_PLAINTEXT, without it is PLAINTEXT."""
    connections_max_reauth_ms: int = _setting(
        0, "After how long clients that logged in have to do so again; 0: never (connections.max.reauth.ms)."
    )
    registry: bool = _setting(
        False, "Run a schema registry beside the broker, on the loopback interface; its data are in the same folder."
    )
    registry_port: int = _setting(0, "The port of the schema registry; 0 takes a free one.")
    fsync: bool = _setting(
        False, "Sync each append to the disk before it is acknowledged, so that it survives a power failure as well."
    )
    max_request_bytes: int = _setting(104_857_600, "The largest request taken (socket.request.max.bytes).")
    max_fetch_bytes: int = _setting(57_671_680, "The most that one fetch response holds (fetch.max.bytes).")
    max_open_files: int = _setting(
        256, "Log files held open at a time; half of what the system lets a process open at most."
    )
    max_fetch_sessions: int = _setting(1000, "Fetch sessions kept (max.incremental.fetch.session.cache.slots).")
    retention_check_interval_ms: int = _setting(
        300_000, "How often retention is looked at (log.retention.check.interval.ms)."
    )
    group_initial_rebalance_delay_ms: int = _setting(
        0, "How long the first rebalance of an empty group waits for more members (group.initial.rebalance.delay.ms)."
    )
    group_min_session_timeout_ms: int = _setting(
        6000,
        "The shortest session timeout a member may have (group.min.session.timeout.ms); tests may want it shorter.",
    )
    group_max_session_timeout_ms: int = _setting(1_800_000, "The longest (group.max.session.timeout.ms).")
    transaction_version: int = _setting(
        2, "The version of transactions that clients are told of, 1 or 2 (the feature transaction.version, KIP-890)."
    )
    transaction_max_timeout_ms: int = _setting(
        900_000, "The longest timeout a transaction may have (transaction.max.timeout.ms)."
    )
    transactional_id_expiration_ms: int = _setting(
        604_800_000, "How long an unused transactional id is remembered (transactional.id.expiration.ms)."
    )
    consumer_heartbeat_interval_ms: int = _setting(
        5_000,
        "How often members of groups of the type consumer send heartbeats (group.consumer.heartbeat.interval.ms).",
    )
    consumer_session_timeout_ms: int = _setting(
        45_000, "After how long without a heartbeat such a member is gone (group.consumer.session.timeout.ms)."
    )
    share_version: int = _setting(
        1, "The version of share groups that clients are told of, 1 or 0: none (the feature share.version, KIP-932)."
    )
    share_record_lock_duration_ms: int = _setting(
        30_000, "How long a member of a share group has for a record (group.share.record.lock.duration.ms)."
    )
    share_min_record_lock_duration_ms: int = _setting(
        15_000, "The shortest time that a group may set for it (group.share.min.record.lock.duration.ms)."
    )
    share_max_record_lock_duration_ms: int = _setting(60_000, "The longest (group.share.max.record.lock.duration.ms).")
    share_delivery_count_limit: int = _setting(
        5, "How often a record is delivered to a share group at most (group.share.delivery.count.limit)."
    )
    share_partition_max_record_locks: int = _setting(
        2_000, "How many records of a partition a share group may have (group.share.partition.max.record.locks)."
    )
    share_session_timeout_ms: int = _setting(
        45_000, "After how long without a heartbeat a share group's member is gone (group.share.session.timeout.ms)."
    )
    share_heartbeat_interval_ms: int = _setting(
        5_000, "How often members of share groups send heartbeats (group.share.heartbeat.interval.ms)."
    )
    share_max_size: int = _setting(200, "The most members of a share group (group.share.max.size).")
    max_share_sessions: int = _setting(2_000, "Share sessions kept (group.share.max.share.sessions).")
    client_telemetry: bool = _setting(
        False, "Whether clients' metrics are taken (KIP-714), as Kafka does with a plug-in that receives them."
    )
    telemetry_max_bytes: int = _setting(1_048_576, "The largest push of metrics taken (telemetry.max.bytes).")
    offset_metadata_max_bytes: int = _setting(
        4096, "The longest metadata of a committed offset (offset.metadata.max.bytes)."
    )

    @classmethod
    def from_names(cls, names: Mapping[str, object]) -> "BrokerSettings":
        """Settings by name; `KafkaConfigurationError` names what is unknown or of the wrong type."""
        known = {one.name: one for one in dataclasses.fields(cls)}
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"
                raise KafkaConfigurationError(f"{name} is no setting of the embedded broker: {hint}")
        settings = cls(**names)  # type: ignore[arg-type]
        settings._check()
        return settings

    def _check(self) -> None:
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if one.type in ("int", int) and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise KafkaConfigurationError(f"{one.name} has to be a whole number from 0 up, not {value!r}")
            if one.type in ("int | None", int | None) and not (
                value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536)
            ):
                raise KafkaConfigurationError(f"{one.name} has to be a port from 1 to 65535 or None, not {value!r}")
            if one.type in ("bool", bool) and not isinstance(value, bool):
                raise KafkaConfigurationError(f"{one.name} has to be True or False, not {value!r}")
        _check_users(self.users)
        if self.num_partitions < 1 or self.max_open_files < 1:
            least = "num_partitions" if self.num_partitions < 1 else "max_open_files"
            raise KafkaConfigurationError(f"{least} has to be at least 1, not {getattr(self, least)}")
        if self.registry_port > 65535:
            raise KafkaConfigurationError(f"registry_port has to be at most 65535, not {self.registry_port}")
        if self.share_version not in (0, 1):
            raise KafkaConfigurationError(f"share_version has to be 0 or 1, not {self.share_version}")
        if self.transaction_version not in (1, 2):
            raise KafkaConfigurationError(f"transaction_version has to be 1 or 2, not {self.transaction_version}")


def _check_users(users: object) -> None:
    """Names and passwords that can be sent; the error shows no password."""
    if not isinstance(users, Mapping):
        raise KafkaConfigurationError(f"users has to be a mapping from names to passwords, not {type(users).__name__}")
    for name, password in users.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise KafkaConfigurationError("users has a name that is no text, is empty or has a NUL in it")
        if not isinstance(password, str) or not password or "\0" in password:
            raise KafkaConfigurationError(
                f"users has to give {name!r} a password: a text that is not empty and has no NUL in it"
            )
        if not _is_unicode(name) or not _is_unicode(password):
            # A variable whose bytes are no UTF-8 comes with surrogates for them.
            raise KafkaConfigurationError(
                f"users has {name!r} with a name or a password that cannot be sent, as it is not UTF-8"
            )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
