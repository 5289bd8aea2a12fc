"""The topics of the broker: names, ids, configs and logs, kept in one JSON file that is replaced in one step."""

import json
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.log.files import FilePool, replace_file
from kafka.broker.settings import BrokerSettings
from kafka.broker.topic_configs import TopicSettings, check_config, parse_settings
from kafka.errors import KafkaConfigurationError

if TYPE_CHECKING:
    from kafka.broker.log.partition import PartitionLog

_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_LARGEST_READ: Final = 1 << 62


def check_name(name: str) -> None:
    """Raise `RequestFailed` with INVALID_TOPIC_EXCEPTION for a name that Kafka does not allow."""
    if not _LEGAL.fullmatch(name) or name in (".", ".."):
        raise RequestFailed(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"the topic name {name!r} is not allowed: it has to be 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' "
            "and '-', and neither '.' nor '..'",
        )


class Topic:
    """One topic. Its logs are opened when they are first used."""

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
        """How many partitions it has."""
        return len(self._logs)

    @property
    def folder(self) -> Path:
        """Where its logs lie; the id keeps a topic apart from a deleted one of the same name."""
        return self._store.folder / f"{self.name[:100]}-{self.topic_id.hex}"

    def log(self, partition: int) -> "PartitionLog":
        """The log of a partition; `RequestFailed` with UNKNOWN_TOPIC_OR_PARTITION where there is none."""
        if not 0 <= partition < len(self._logs):
            raise RequestFailed(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"{self.name} has no partition {partition}, only {self.partitions}",
            )
        log = self._logs[partition]
        if log is None:
            # Loaded with the first log, so that the broker is ready sooner.
            from kafka.broker.log.partition import PartitionLog

            log = PartitionLog(self.folder / str(partition), self.settings.log, self._store.files)
            self._logs[partition] = log
        return log

    def open_logs(self) -> "Iterator[PartitionLog]":
        """The logs that have been used so far."""
        return (log for log in self._logs if log is not None)

    def add_partitions(self, total: int) -> None:
        """Have `total` partitions from now on."""
        self._logs += [None] * (total - len(self._logs))

    def configure(self, configs: dict[str, str]) -> None:
        """Take over other configs, at once."""
        self.configs = configs
        self.settings = self._store.parse(configs)
        for log in self.open_logs():
            log.options = self.settings.log

    def remove(self) -> None:
        """Delete what it has on disk, and wake who waits for it."""
        for log in self.open_logs():
            for waiter in tuple(log.waiters):
                waiter(_LARGEST_READ)
            log.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


class TopicStore:
    """All topics, by name and by id."""

    def __init__(self, data_dir: Path, settings: BrokerSettings) -> None:
        self.folder = data_dir / "logs"
        self.files = FilePool(settings.max_open_files)
        self._settings = settings
        self._path = data_dir / "topics.json"
        self._topics: dict[str, Topic] = {}
        self._by_id: dict[uuid.UUID, Topic] = {}
        for name, value in settings.topic_defaults.items():
            try:
                check_config(name, value)
            except RequestFailed as error:
                raise KafkaConfigurationError(f"topic_defaults: {error}") from error
        if self._path.exists():
            for row in json.loads(self._path.read_bytes())["topics"]:
                self._add(Topic(row["name"], uuid.UUID(row["id"]), row["partitions"], row["configs"], self))

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._topics.values())

    def __contains__(self, name: object) -> bool:
        return name in self._topics

    def __len__(self) -> int:
        return len(self._topics)

    def parse(self, configs: Mapping[str, str]) -> TopicSettings:
        """The settings that a topic's configs amount to on this broker."""
        return parse_settings(configs, self._settings.topic_defaults, self._settings.fsync)

    def get(self, name: str) -> Topic:
        """The topic of this name; `RequestFailed` with UNKNOWN_TOPIC_OR_PARTITION where there is none."""
        topic = self._topics.get(name)
        if topic is None:
            raise RequestFailed(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
        return topic

    def by_id(self, topic_id: uuid.UUID) -> Topic:
        """The topic of this id (KIP-516); `RequestFailed` with UNKNOWN_TOPIC_ID where there is none."""
        topic = self._by_id.get(topic_id)
        if topic is None:
            raise RequestFailed(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with the id {topic_id}")
        return topic

    def check_new(self, name: str) -> None:
        """Raise `RequestFailed` if there cannot be a new topic of this name."""
        check_name(name)
        if name in self._topics:
            raise RequestFailed(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        flat = name.replace(".", "_")
        for other in self._topics:
            if other.replace(".", "_") == flat:
                # Kafka's metric names cannot tell the two apart.
                raise RequestFailed(
                    ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}"
                )

    def create(self, name: str, partitions: int, configs: dict[str, str]) -> Topic:
        """Make a topic; its name and configs have been checked."""
        topic = Topic(name, uuid.uuid4(), partitions, configs, self)
        self._add(topic)
        self.save()
        return topic

    def _add(self, topic: Topic) -> None:
        self._topics[topic.name] = topic
        self._by_id[topic.topic_id] = topic

    def delete(self, topic: Topic) -> None:
        """Delete a topic with all its records."""
        del self._topics[topic.name]
        del self._by_id[topic.topic_id]
        self.save()
        topic.remove()

    def save(self) -> None:
        """Write down what there is; has to follow each change."""
        rows = [
            {"name": one.name, "id": one.topic_id.hex, "partitions": one.partitions, "configs": one.configs}
            for one in self
        ]
        replace_file(self._path, json.dumps({"topics": rows}, indent=1).encode(), self._settings.fsync)

    def apply_retention(self, now_ms: int, producers_since_ms: int) -> None:
        """Delete what is too old in the logs that are open."""
        for topic in self:
            for log in topic.open_logs():
                log.apply_retention(now_ms)
                log.producers.forget_before(producers_since_ms)

    def close(self) -> None:
        """Leave everything in order on disk."""
        for topic in self:
            for log in topic.open_logs():
                log.close()
        self.files.close()
