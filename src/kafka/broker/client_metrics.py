"""The subscriptions to clients' metrics (KIP-714): configs by name, and which clients they are for."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.named_configs import NamedConfigs
from kafka.broker.settings import BrokerSettings
from kafka.broker.topic_configs import ConfigType, TopicOption, split_list

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


class Wanted(NamedTuple):
    """What all subscriptions together want of a client.

    Arguments: prefixes of the names of metrics, and how far apart pushes are to be.
    """

    prefixes: tuple[str, ...]
    interval_ms: int


class ClientMetrics(NamedConfigs):
    """The subscriptions, in the file `path`.

    Attributes: `version`, which grows with each change.
    """

    def __init__(self, path: Path, settings: BrokerSettings) -> None:
        super().__init__(path, settings.fsync, _OPTIONS, "client metrics", ErrorCode.INVALID_REQUEST)
        self.altered_as = {name: replace(each, type=ConfigType.STRING) for name, each in _OPTIONS.items()}
        self.version = 0

    def check(self, key: str, value: str | None) -> str:
        """As of all configs; an interval out of bounds is INVALID_REQUEST, as by Kafka."""
        checked = super().check(key, value)
        if key == INTERVAL and not _SHORTEST_MS <= int(checked) <= _LONGEST_MS:
            raise RequestFailed(
                ErrorCode.INVALID_REQUEST,
                f"Invalid value {checked} for {INTERVAL}, interval must be between 100 and 3600000 (1 hour)",
            )
        return checked

    def replace(self, name: str, configs: Mapping[str, str]) -> None:
        """Change a subscription; without configs there is none."""
        super().replace(name, configs)
        self.version += 1

    def wanted(self, client: Mapping[str, str]) -> Wanted:
        """What is wanted of a client, of whom this is known; "*" alone where one subscription wants everything."""
        prefixes: dict[str, None] = {}
        interval_ms = DEFAULT_INTERVAL_MS
        for name in self.names():
            if _matches(self.value(name, MATCH), client):
                prefixes.update(dict.fromkeys(split_list(self.value(name, METRICS))))
                interval_ms = min(interval_ms, self.number(name, INTERVAL))
        return Wanted((EVERYTHING,) if EVERYTHING in prefixes else tuple(prefixes), interval_ms)


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
        TopicOption(METRICS, ConfigType.LIST, "", "Prefixes of the names of metrics.", lambda _: None),
        TopicOption(INTERVAL, ConfigType.INT, str(DEFAULT_INTERVAL_MS), "How far apart pushes are to be.", _whole),
        TopicOption(MATCH, ConfigType.LIST, "", "Which clients it is for: name=pattern.", _patterns),
    )
}
