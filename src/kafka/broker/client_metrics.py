"""Client metrics (KIP-714): subscriptions, the clients that match them, and the metrics that the clients push."""

import re
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.named_configs import NamedConfigs
from kafka.broker.topic_configs import ConfigType, TopicOption, split_list
from kafka.record.codecs import CodecError, SizeLimitError, decompress

METRICS, INTERVAL, MATCH = "metrics", "interval.ms", "match"
DEFAULT_INTERVAL_MS: Final = 300_000
EVERYTHING: Final = "*"
_SHORTEST_MS, _LONGEST_MS = 100, 3_600_000
_KNOWN_OF_CLIENTS = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)


class RequestedMetrics(NamedTuple):
    """The metrics that all matching subscriptions together request from a client.

    Arguments:
        prefixes: the prefixes of the metric names.
        interval_ms: the time between pushes, in milliseconds.
    """

    prefixes: tuple[str, ...]
    interval_ms: int


class ClientMetrics(NamedConfigs):
    """The client metrics subscriptions, stored in the file `path`.

    Attributes:
        version: a number that increases with each change.
    """

    def __init__(self, path: Path, settings: BrokerSettings) -> None:
        super().__init__(path, settings.fsync, _OPTIONS, "client metrics", ErrorCode.INVALID_REQUEST)
        self.altered_as = {name: replace(each, type=ConfigType.STRING) for name, each in _OPTIONS.items()}
        self.version = 0

    def check(self, key: str, value: str | None) -> str:
        """Validate a config like `NamedConfigs.check`. As in Kafka, intervals out of range are INVALID_REQUEST."""
        checked = super().check(key, value)
        if key == INTERVAL and not _SHORTEST_MS <= int(checked) <= _LONGEST_MS:
            raise RequestFailed(
                ErrorCode.INVALID_REQUEST,
                f"Invalid value {checked} for {INTERVAL}, interval must be between 100 and 3600000 (1 hour)",
            )
        return checked

    def replace(self, name: str, configs: Mapping[str, str]) -> None:
        """Set the configs of a subscription, or remove the subscription if there are no configs."""
        super().replace(name, configs)
        self.version += 1

    def wanted(self, client: Mapping[str, str]) -> RequestedMetrics:
        """Return the metrics that are requested from a client with these properties.

        If all metrics are requested, the only prefix is "*".
        """
        prefixes: dict[str, None] = {}
        interval_ms = DEFAULT_INTERVAL_MS
        for name in self.names():
            if _matches(self.value(name, MATCH), client):
                prefixes.update(dict.fromkeys(split_list(self.value(name, METRICS))))
                interval_ms = min(interval_ms, self.number(name, INTERVAL))
        return RequestedMetrics((EVERYTHING,) if EVERYTHING in prefixes else tuple(prefixes), interval_ms)


def _matches(match: str, client: Mapping[str, str]) -> bool:
    patterns = (one.split("=") for one in split_list(match))
    return all(re.fullmatch(pattern.strip(), client.get(name.strip(), "")) for name, pattern in patterns)


def _whole(value: str) -> str | None:
    return None if re.fullmatch(r"-?\d{1,9}", value) else "it is not a whole number"


def _patterns(value: str) -> str | None:
    for one in split_list(value):
        name, *pattern = (part.strip() for part in one.split("="))
        try:
            if len(pattern) == 1 and name in _KNOWN_OF_CLIENTS:
                re.compile(pattern[0])
                continue
        except re.error:
            pass
        return f"Illegal client matching pattern: {one}"
    return None


_OPTIONS: Final[Mapping[str, TopicOption]] = {
    option.name: option
    for option in (
        TopicOption(METRICS, ConfigType.LIST, "", "Prefixes of metric names.", lambda _: None),
        TopicOption(INTERVAL, ConfigType.INT, str(DEFAULT_INTERVAL_MS), "Interval between pushes.", _whole),
        TopicOption(MATCH, ConfigType.LIST, "", "Which clients it applies to: name=pattern.", _patterns),
    )
}


COMPRESSION: Final = (4, 3, 1, 2)
"""The accepted codecs in Kafka's order: Zstandard first."""
_MOST_CLIENTS, _MOST_PUSHES = 16_384, 1_000
_ASK_AT_ONCE = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


class PushedMetrics(NamedTuple):
    """Metrics pushed by a client.

    Arguments:
        client_id: the client's id.
        client_instance_id: the client's instance id.
        terminating: whether this was the client's last push.
        compression: the codec of the push.
        metrics: the decompressed metrics, a ``MetricsData`` message in OpenTelemetry's protocol.
    """

    client_id: str
    client_instance_id: UUID
    terminating: bool
    compression: int
    metrics: bytes


@dataclass(slots=True)
class Instance:
    """A client that pushes metrics: its subscription, and the times of its last requests (None before the first)."""

    wanted: RequestedMetrics
    subscription_id: int
    version: int
    last_get_ms: int | None = None
    last_push_ms: int | None = None
    terminating: bool = False
    last_error: ErrorCode = ErrorCode.NONE

    def may_get(self, now_ms: int) -> bool:
        """Return whether the client may request its subscription: once per interval, except after certain errors."""
        last = max((each for each in (self.last_get_ms, self.last_push_ms) if each is not None), default=None)
        if last is None or now_ms - last >= self.wanted.interval_ms:
            self.last_get_ms = now_ms
            return True
        return self.last_error in _ASK_AT_ONCE

    def may_push(self, now_ms: int) -> bool:
        """Return whether the client may push: at any time after getting its subscription, then once per interval."""
        last, asked = self.last_push_ms, self.last_get_ms
        may = last is None or (asked is not None and asked > last) or now_ms - last >= self.wanted.interval_ms
        if may:
            self.last_push_ms = now_ms
        return may


class Telemetry:
    """The clients that push metrics, and their latest pushes.

    Arguments:
        subscriptions: the client metrics subscriptions.
        max_bytes: the maximum size of a push.
        now_ms: returns the wall clock time in milliseconds.
        new_id: returns a new instance id.

    Attributes:
        pushed: the latest pushes, oldest first.
    """

    def __init__(
        self, subscriptions: ClientMetrics, max_bytes: int, now_ms: Callable[[], int], new_id: Callable[[], UUID]
    ) -> None:
        self._subscriptions = subscriptions
        self._max_bytes = max_bytes
        self._now_ms = now_ms
        self._new_id = new_id
        self._instances: dict[UUID, Instance] = {}
        self._connections: dict[object, UUID] = {}
        self.pushed: deque[PushedMetrics] = deque(maxlen=_MOST_PUSHES)

    def subscribe(
        self, instance_id: UUID | None, client: Mapping[str, str], connection: object
    ) -> tuple[UUID, Instance]:
        """Return the client's id (a new one if it has none) and its subscription; raises `RequestFailed`."""
        if instance_id is None:
            instance_id = self._new_id()
        instance = self._instance(instance_id, client, connection)
        if not instance.may_get(self._now_ms()):
            raise RequestFailed(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.last_error = ErrorCode.NONE
        return instance_id, instance

    def push(
        self,
        push: PushedMetrics,
        subscription_id: int,
        client: Mapping[str, str],
        connection: object,
    ) -> None:
        """Store the compressed metrics that a client pushes; raises `RequestFailed`."""
        instance = self._instance(push.client_instance_id, client, connection)
        try:
            self._check(instance, push, subscription_id)
            if push.metrics:
                self.pushed.append(push._replace(metrics=self._read(push)))
        except RequestFailed as error:
            instance.last_error = error.code
            raise
        finally:
            instance.terminating = push.terminating
        instance.last_error = ErrorCode.NONE

    def disconnected(self, connection: object) -> None:
        """Discard the state of the client whose connection has closed."""
        instance_id = self._connections.pop(connection, None)
        if instance_id is not None:
            self._instances.pop(instance_id, None)

    def _instance(self, instance_id: UUID, client: Mapping[str, str], connection: object) -> Instance:
        """Return the client's state; create it if the client is unknown or the subscriptions have changed."""
        found = self._instances.get(instance_id)
        if found is None or found.version < self._subscriptions.version:
            wanted = self._subscriptions.wanted({**client, "client_instance_id": str(instance_id)})
            found = Instance(wanted, _subscription_id(wanted, instance_id), self._subscriptions.version)
            if len(self._instances) >= _MOST_CLIENTS:
                del self._instances[next(iter(self._instances))]
            self._instances[instance_id] = found
            self._connections[connection] = instance_id
        return found

    def _check(self, instance: Instance, push: PushedMetrics, subscription_id: int) -> None:
        if instance.terminating:
            raise RequestFailed(ErrorCode.INVALID_REQUEST)
        if not instance.may_push(self._now_ms()) and not push.terminating:
            raise RequestFailed(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        if subscription_id != instance.subscription_id:
            raise RequestFailed(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if push.compression not in (0, *COMPRESSION):
            raise RequestFailed(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if len(push.metrics) > self._max_bytes:
            raise RequestFailed(ErrorCode.TELEMETRY_TOO_LARGE)

    def _read(self, push: PushedMetrics) -> bytes:
        if not push.compression:
            return push.metrics
        try:
            return bytes(decompress(push.compression, memoryview(push.metrics), self._max_bytes))
        except SizeLimitError as error:
            raise RequestFailed(ErrorCode.TELEMETRY_TOO_LARGE, str(error)) from error
        except CodecError as error:
            raise RequestFailed(ErrorCode.INVALID_RECORD, str(error)) from error


def _subscription_id(wanted: RequestedMetrics, instance_id: UUID) -> int:
    """Return an int32 that changes if the requested metrics change."""
    crc = zlib.crc32(f"{wanted}".encode()) ^ zlib.crc32(instance_id.bytes)
    return crc - (1 << 32) if crc >= 1 << 31 else crc
