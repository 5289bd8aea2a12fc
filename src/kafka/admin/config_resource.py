"""The topics, brokers and other things whose configuration is described or altered."""

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, TypeAlias

from kafka.admin.arguments import names
from kafka.admin.enum_names import EnumHelper
from kafka.errors import IllegalArgumentError, UnknownNameError


class ConfigResourceType(EnumHelper, IntEnum):
    """The kinds of things that have a configuration."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class AlterConfigOp(EnumHelper, IntEnum):
    """What an incremental change does to a setting (KIP-339); the last two are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


Configs: TypeAlias = Mapping[str, Any] | Iterable[str] | None


class ConfigResource:
    """A topic, broker or other thing that has a configuration.

    Arguments:
        resource_type: a `ConfigResourceType`, or its name in any case.
        name: of the topic, id of the broker, …
        configs: when describing, the names of the settings wanted (None: all); when altering, names to values.

    Raises `UnknownNameError` for another type, `IllegalArgumentError` for settings that are neither.
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
        """The broker that has to be asked for this; None: any."""
        is_broker = self.resource_type in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)
        return int(self.name) if is_broker and re.fullmatch("-?[0-9]+", self.name) else None

    @property
    def described_as(self) -> str:
        """How messages name it."""
        return f"{self.resource_type.name.lower().replace('_', ' ')} {self.name!r}"

    def __repr__(self) -> str:
        return f"ConfigResource({self.resource_type.name}, {self.name!r})"


def check_brokers(resources: Iterable[ConfigResource]) -> None:
    """Raise `IllegalArgumentError` for a broker that is named by no id; an empty name stands for all of them."""
    for each in resources:
        if each.resource_type is ConfigResourceType.BROKER and each.name and each.broker_id is None:
            raise IllegalArgumentError(f"config_resources: expected the id of a broker, got {each.name!r:.80}")


def _resource_type(given: ConfigResourceType | str | int) -> ConfigResourceType:
    try:
        return ConfigResourceType[given.upper()] if isinstance(given, str) else ConfigResourceType(given)
    except (KeyError, ValueError):
        kinds = ", ".join(kind.name.lower() for kind in ConfigResourceType)
        raise UnknownNameError(f"resource_type: expected one of {kinds}, got {given!r:.80}") from None
