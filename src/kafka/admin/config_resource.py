"""Resources with a configuration, such as topics and brokers, and enums that describe settings."""

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, TypeAlias

from kafka.admin.arguments import names
from kafka.admin.enums import EnumHelper, answered_member
from kafka.errors import IllegalArgumentError, UnknownNameError


class ConfigResourceType(EnumHelper, IntEnum):
    """The types of resources that have a configuration. Java: ``ConfigResource.Type``."""

    UNKNOWN = 0
    """A value that this client does not know."""
    TOPIC = 2
    """A topic, by its name."""
    BROKER = 4
    """A broker, by its node id as a string; "" for the defaults of all brokers."""
    BROKER_LOGGER = 8
    """The log levels of a broker, by its node id as a string (KIP-412)."""
    CLIENT_METRICS = 16
    """A subscription to metrics of clients, by its name (KIP-714)."""
    GROUP = 32
    """A group, by its id (KIP-848)."""


class AlterConfigOp(EnumHelper, IntEnum):
    """An operation on a setting in an incremental change (KIP-339); the last two are for lists."""

    SET = 0
    """Set the value."""
    DELETE = 1
    """Remove the value that was set on the resource, so that the default applies."""
    APPEND = 2
    """Add elements to a list."""
    SUBTRACT = 3
    """Remove elements from a list."""


Configs: TypeAlias = Mapping[str, Any] | Iterable[str] | None


class ConfigResource:
    """A resource with a configuration, such as a topic or a broker.

    Arguments:
        resource_type: a `ConfigResourceType`, or its name in any case.
        name: the resource's name, such as a topic name or a broker id.
        configs: when describing, the names of the requested settings (None: all); when altering, a mapping of names to
            values.

    Raises `UnknownNameError` for an unknown type, and `IllegalArgumentError` if ``configs`` has an unsupported type.
    """

    def __init__(self, resource_type: ConfigResourceType | str | int, name: str | int, configs: Configs = None) -> None:
        self.resource_type = _resource_type(resource_type)
        self.name = str(name)
        self.configs: dict[str, Any] | list[str] | None = None
        if isinstance(configs, Mapping):
            self.configs = dict(configs)
        elif configs is not None:
            self.configs = names("configs", configs)

    @property
    def broker_id(self) -> int | None:
        """The id of the broker to which requests for this resource must be sent; None: any broker."""
        is_broker = self.resource_type in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)
        return int(self.name) if is_broker and re.fullmatch("-?[0-9]+", self.name) else None

    @property
    def described_as(self) -> str:
        """The resource's type and name, for error messages."""
        return f"{self.resource_type.name.lower().replace('_', ' ')} {self.name!r}"

    def __repr__(self) -> str:
        return f"ConfigResource({self.resource_type.name}, {self.name!r})"


def check_brokers(resources: Iterable[ConfigResource]) -> None:
    """Raise `IllegalArgumentError` for a broker whose name is not an id. An empty name stands for all brokers."""
    for each in resources:
        if each.resource_type is ConfigResourceType.BROKER and each.name and each.broker_id is None:
            raise IllegalArgumentError(f"config_resources: expected the id of a broker, got {each.name!r:.80}")


def _resource_type(given: ConfigResourceType | str | int) -> ConfigResourceType:
    try:
        return ConfigResourceType[given.upper()] if isinstance(given, str) else ConfigResourceType(given)
    except (KeyError, ValueError):
        kinds = ", ".join(kind.name.lower() for kind in ConfigResourceType)
        raise UnknownNameError(f"resource_type: expected one of {kinds}, got {given!r:.80}") from None


class ConfigType(EnumHelper, IntEnum):
    """The type of a setting's value, which itself is a string (KIP-569). Java: ``ConfigEntry.ConfigType``."""

    UNKNOWN = 0
    """The broker does not tell the type."""
    BOOLEAN = 1
    """``true`` or ``false``."""
    STRING = 2
    """Text."""
    INT = 3
    """A whole number of 32 bits."""
    SHORT = 4
    """A whole number of 16 bits."""
    LONG = 5
    """A whole number of 64 bits."""
    DOUBLE = 6
    """A floating-point number."""
    LIST = 7
    """Texts, separated by commas."""
    CLASS = 8
    """The name of a Java class."""
    PASSWORD = 9
    """A secret, which brokers never return."""


class ConfigSourceType(EnumHelper, IntEnum):
    """Where the value of a setting comes from. Java: ``ConfigEntry.ConfigSource``."""

    UNKNOWN = 0
    """A value that this client does not know."""
    DYNAMIC_TOPIC_CONFIG = 1
    """It was set on the topic."""
    DYNAMIC_BROKER_CONFIG = 2
    """It was set on this broker."""
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    """It was set as the default of all brokers."""
    STATIC_BROKER_CONFIG = 4
    """It is in the broker's properties file."""
    DEFAULT_CONFIG = 5
    """It is Kafka's default."""
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    """It is a log level that was set on this broker (KIP-412)."""
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    """It was set on the subscription to metrics (KIP-714)."""
    DYNAMIC_GROUP_CONFIG = 8
    """It was set on the group (KIP-848)."""

    @classmethod
    def dynamic_for_resource_type(cls, resource_type: ConfigResourceType) -> "ConfigSourceType":
        """Return the source of values that are set directly on a resource of this type."""
        return _OWN[answered_member(ConfigResourceType, resource_type)]

    def is_modified(self) -> bool:
        """Return whether the value was set on the resource itself."""
        return self not in (
            ConfigSourceType.DYNAMIC_DEFAULT_BROKER_CONFIG,
            ConfigSourceType.STATIC_BROKER_CONFIG,
            ConfigSourceType.DEFAULT_CONFIG,
        )


_OWN = {
    ConfigResourceType.UNKNOWN: ConfigSourceType.UNKNOWN,
    ConfigResourceType.TOPIC: ConfigSourceType.DYNAMIC_TOPIC_CONFIG,
    ConfigResourceType.BROKER: ConfigSourceType.DYNAMIC_BROKER_CONFIG,
    ConfigResourceType.BROKER_LOGGER: ConfigSourceType.DYNAMIC_BROKER_LOGGER_CONFIG,
    ConfigResourceType.CLIENT_METRICS: ConfigSourceType.DYNAMIC_CLIENT_METRICS_CONFIG,
    ConfigResourceType.GROUP: ConfigSourceType.DYNAMIC_GROUP_CONFIG,
}


class ConfigFilterType(EnumHelper, IntEnum):
    """Selects the settings that the result of `describe_configs` shows: its argument ``config_filter``."""

    ALL = 0
    """Every setting."""
    DYNAMIC = 1
    """Settings that can be changed: not those that are read-only."""
    MODIFIED = 2
    """Settings whose value was set on the resource itself."""
    DEFAULT = 3
    """Settings whose value was not set on the resource itself."""
    STATIC = 4
    """Settings with a value from the broker's properties file."""

    def should_skip(self, config_source: ConfigSourceType) -> bool:
        """Return whether to leave out values from this source."""
        if self is ConfigFilterType.MODIFIED:
            return not config_source.is_modified()
        if self is ConfigFilterType.DEFAULT:
            return config_source.is_modified()
        return self is ConfigFilterType.STATIC and config_source is not ConfigSourceType.STATIC_BROKER_CONFIG

    def shows(self, config: dict[str, Any]) -> bool:
        """Return whether to show a setting, given its description from `describe_configs`."""
        if self is ConfigFilterType.DYNAMIC and config["read_only"]:
            return False
        return not self.should_skip(answered_member(ConfigSourceType, config["config_source"]))


def with_names(config: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a setting's description, with names instead of numbers for sources and types."""
    named = dict(config, config_source=answered_member(ConfigSourceType, config["config_source"]).name)
    if "config_type" in config:
        named["config_type"] = answered_member(ConfigType, config["config_type"]).name
    if "synonyms" in config:
        named["synonyms"] = [
            {**each, "source": answered_member(ConfigSourceType, each["source"]).name} for each in config["synonyms"]
        ]
    return named
