"""The topics of the broker: names, ids, configs and logs.

A change is written to disk before it takes effect, so a full disk leaves everything unchanged.

The internal topics exist in name only. The broker stores offsets and transactions in its own files, and lists these
topics for clients that look for them. A transaction with offsets includes the partition that would store the offsets in
Kafka.
"""

import itertools
import logging
import random
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.disk_files import FilePool, most_files
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.topic_configs import TopicSettings, check_config, parse_settings
from kafka.broker.topic_file import (
    TopicRow,
    finish_deleting,
    folder_name,
    load,
    mark_deleted,
    remove_marked,
    save,
    unmark,
)
from kafka.errors import KafkaConfigurationError

if TYPE_CHECKING:
    from kafka.broker.log.partition import PartitionLog

log = logging.getLogger(__name__)


class InternalTopic(NamedTuple):
    """The name, partition count and configs of an internal topic."""

    name: str
    partitions: int
    configs: Mapping[str, str]


_KEPT: Final = {"cleanup.policy": "compact", "segment.bytes": "104857600"}
CONSUMER_OFFSETS: Final = InternalTopic("__consumer_offsets", 50, {**_KEPT, "compression.type": "producer"})
TRANSACTION_STATE: Final = InternalTopic(
    "__transaction_state",
    50,
    {
        **_KEPT,
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "false",
    },
)
INTERNAL_TOPICS: Final[Mapping[str, InternalTopic]] = {one.name: one for one in (CONSUMER_OFFSETS, TRANSACTION_STATE)}


def offsets_partition(group_id: str) -> int:
    """Return the `CONSUMER_OFFSETS` partition for a group, computed from Java's hash code of the group id."""
    code = 0
    units = group_id.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >= 1 << 31 else code
    # Like Kafka's `Utils.abs`: 0 for the one number without a positive counterpart.
    return (0 if signed == -(1 << 31) else abs(signed)) % CONSUMER_OFFSETS.partitions


_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def check_name(name: str) -> None:
    """Raise `RequestFailed` with INVALID_TOPIC_EXCEPTION for a name that Kafka does not allow."""
    if not _LEGAL.fullmatch(name) or name in (".", ".."):
        raise RequestFailed(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"the topic name {name!r} is not allowed: it must be 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' "
            "and '-', and neither '.' nor '..'",
        )


class Topic:
    """A topic. Each of its logs is opened when it is first used."""

    def __init__(
        self, name: str, topic_id: uuid.UUID, partitions: int, configs: dict[str, str], store: "TopicStore"
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.configs = configs
        self.settings: TopicSettings = store.parse(configs)
        self._store = store
        self._logs: "list[PartitionLog | None]" = [None] * partitions

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return len(self._logs)

    @property
    def is_internal(self) -> bool:
        """Whether the topic is internal. Clients ignore internal topics."""
        return self.name in INTERNAL_TOPICS

    @property
    def folder(self) -> Path:
        """The folder of the topic's logs."""
        return self._store.folder / folder_name(self.name, self.topic_id)

    @property
    def row(self) -> TopicRow:
        """The topic's row in the file."""
        return TopicRow(self.name, self.topic_id, self.partitions, self.configs)

    def log(self, partition: int) -> "PartitionLog":
        """Return the log of a partition; raises `RequestFailed` (UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
        if not 0 <= partition < len(self._logs):
            raise RequestFailed(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"{self.name} has no partition {partition}, only {self.partitions}",
            )
        log = self._logs[partition]
        if log is None:
            # Imported when the first log is opened, so that the broker starts quickly.
            from kafka.broker.log.partition import PartitionLog

            try:
                log = PartitionLog(
                    self.folder / str(partition), self.settings.log, self._store.files, self._store.folder.parent
                )
            except OSError as error:
                raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.name}-{partition}: {error}") from error
            self._logs[partition] = log
        return log

    def open_logs(self) -> "Iterator[PartitionLog]":
        """Yield the open logs."""
        return (log for log in self._logs if log is not None)

    def written_logs(self) -> "Iterator[PartitionLog]":
        """Yield the logs that exist on disk, whether or not they are open."""
        for partition, log in enumerate(tuple(self._logs)):
            if log is not None:
                yield log
            elif (self.folder / str(partition)).exists():
                yield self.log(partition)

    def become(self, row: TopicRow) -> None:
        """Apply the new configs and additional partitions in a row."""
        self._logs += [None] * (row.partitions - len(self._logs))
        self.configs = dict(row.configs)
        self.settings = self._store.parse(self.configs)
        for log in self.open_logs():
            log.options = self.settings.log

    def remove(self) -> None:
        """Drop the topic's logs, and wake the requests that wait for records in them."""
        for log in self.open_logs():
            log.wake()
            log.remove()


class TopicChanges:
    """Changes to topics that are applied in one step."""

    __slots__ = ("changed", "created", "deleted", "metric_names")

    def __init__(self) -> None:
        self.created: list[TopicRow] = []
        self.changed: dict[str, TopicRow] = {}
        """Topics with new configs or additional partitions, by name."""
        self.deleted: dict[str, Topic] = {}
        self.metric_names: dict[str, str] = {}
        """Names of the topics to create, by their names in metrics."""

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or self.deleted)


class TopicStore:
    """All topics by name and by id. `randomness` is the source of new topic ids."""

    def __init__(self, data_dir: Path, settings: BrokerSettings, randomness: random.Random) -> None:
        self.folder = data_dir / "logs"
        self.files = FilePool(most_files(settings.max_open_files))
        self._settings = settings
        self._random = randomness
        self._path = data_dir / "topics.json"
        self._topics: dict[str, Topic] = {}
        self._by_id: dict[uuid.UUID, Topic] = {}
        self._by_metric_name: dict[str, str] = {}
        for name, value in settings.topic_defaults.items():
            try:
                check_config(name, value)
            except RequestFailed as error:
                raise KafkaConfigurationError(f"topic_defaults: {error}") from error
        self._plain = parse_settings({}, settings.topic_defaults, settings.fsync)
        for row in load(self._path, self.folder):
            self._add(row)
        finish_deleting(self.folder, {topic.folder for topic in self})

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._topics.values())

    def __contains__(self, name: object) -> bool:
        return name in self._topics

    def __len__(self) -> int:
        return len(self._topics)

    def parse(self, configs: Mapping[str, str]) -> TopicSettings:
        """Parse a topic's configs, using the broker's defaults for configs that are not set."""
        return parse_settings(configs, self._settings.topic_defaults, self._settings.fsync) if configs else self._plain

    def get(self, name: str) -> Topic:
        """Return the topic with this name; raises `RequestFailed` (UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
        topic = self._topics.get(name)
        if topic is None:
            raise RequestFailed(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
        return topic

    def by_id(self, topic_id: uuid.UUID) -> Topic:
        """Return the topic with this id (KIP-516); raises `RequestFailed` (UNKNOWN_TOPIC_ID) if there is none."""
        topic = self._by_id.get(topic_id)
        if topic is None:
            raise RequestFailed(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with the id {topic_id}")
        return topic

    # -- changes ------------------------------------------------------------------------------------------------------

    def check_new(self, name: str, changes: TopicChanges | None = None) -> None:
        """Raise `RequestFailed` if the name is invalid, or used by an existing topic or one that `changes` creates."""
        check_name(name)
        if name in self._topics:
            raise RequestFailed(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        key = _metric_name(name)
        other = self._by_metric_name.get(key) or (changes.metric_names.get(key) if changes else None)
        if other is not None:
            raise RequestFailed(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}"
            )

    def add_new(self, changes: TopicChanges, name: str, partitions: int, configs: Mapping[str, str]) -> TopicRow:
        """Add a new topic to `changes`. Its name and configs must be valid."""
        row = TopicRow(name, uuid.UUID(int=self._random.getrandbits(128), version=4), partitions, configs)
        changes.created.append(row)
        changes.metric_names[_metric_name(name)] = name
        return row

    def create(self, name: str, partitions: int, configs: Mapping[str, str]) -> Topic:
        """Create one topic with valid configs; raises `RequestFailed`."""
        changes = TopicChanges()
        self.check_new(name)
        self.add_new(changes, name, partitions, configs)
        self.apply(changes)
        return self._topics[name]

    def create_internal(self, topic: InternalTopic) -> None:
        """Create an internal topic if it does not exist, as Kafka does on the first request for a coordinator."""
        if topic.name not in self._topics:
            self.create(topic.name, topic.partitions, topic.configs)

    def apply(self, changes: TopicChanges) -> None:
        """Write the changes to disk, then apply them.

        If writing fails, nothing changes, and `RequestFailed` with KAFKA_STORAGE_ERROR is raised.
        """
        kept = (changes.changed.get(one.name, one.row) for one in self if one.name not in changes.deleted)
        marked: list[Path] = []
        try:
            marked = mark_deleted([topic.folder for topic in changes.deleted.values()], self._settings.fsync)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            save(self._path, itertools.chain(kept, changes.created), self._settings.fsync)
        except OSError as error:
            unmark(marked)
            raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._path}: {error}") from error
        for topic in changes.deleted.values():
            del self._topics[topic.name], self._by_id[topic.topic_id], self._by_metric_name[_metric_name(topic.name)]
            topic.remove()
        remove_marked(marked)
        for name, row in changes.changed.items():
            self._topics[name].become(row)
        for row in changes.created:
            topic = self._add(row)
            if topic.settings.compacted:
                self._warn_of_compaction(topic)
        for name in changes.changed:
            if self._topics[name].settings.compacted:
                self._warn_of_compaction(self._topics[name])

    def _add(self, row: TopicRow) -> Topic:
        topic = Topic(row.name, row.topic_id, row.partitions, dict(row.configs), self)
        self._topics[topic.name] = topic
        self._by_id[topic.topic_id] = topic
        self._by_metric_name[_metric_name(topic.name)] = topic.name
        return topic

    def _warn_of_compaction(self, topic: Topic) -> None:
        if not topic.is_internal:
            log.warning(
                "topic %s has cleanup.policy=compact: this broker does not compact logs, so it keeps every record",
                topic.name,
            )

    # -- retention and shutdown ---------------------------------------------------------------------------------------

    def apply_retention(self, now_ms: int, producers_since_ms: int) -> Iterator[None]:
        """Delete old records and expired producer states, one log per step."""
        for topic in tuple(self):
            for partition in topic.written_logs():
                if self._topics.get(topic.name) is not topic:
                    break
                partition.apply_retention(now_ms)
                partition.producers.forget_before(producers_since_ms)
                yield

    def discard_unsynced(self) -> None:
        """Discard records that a machine failure could lose. Do not use the store afterwards."""
        for topic in self:
            for partition in topic.open_logs():
                partition.discard_unsynced()

    def close(self, in_order: bool = True) -> None:
        """Close the files. With `in_order`, write checkpoints first; a simulated crash does not do so."""
        if in_order:
            for topic in self:
                for partition in topic.open_logs():
                    partition.close()
        self.files.close()


def _metric_name(name: str) -> str:
    """Return the topic's name in Kafka's metrics, where "." and "_" collide; colliding topics are rejected."""
    return name.replace(".", "_")
