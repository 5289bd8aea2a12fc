"""The table of configs of topics and brokers, with the source of each value. Sensitive values are never shown."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka.admin import ConfigResource
from kafka.display.page_elements import Html, html, joined
from kafka.ui.shared_state import Ui
from kafka.ui.tables import Column, Columns, Hiding, Table

_SOURCES = {
    "DYNAMIC_TOPIC_CONFIG": "this topic",
    "DYNAMIC_BROKER_CONFIG": "this broker, dynamic",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "all brokers, dynamic",
    "STATIC_BROKER_CONFIG": "broker's file",
    "DEFAULT_CONFIG": "default",
}
"""Where a value comes from, by the names of `ConfigSourceType`."""


class Config(NamedTuple):
    """A setting.

    Arguments:
        value: the value; None if it is sensitive or not set.
        source: where the value comes from, in words.
    """

    name: str
    value: str | None
    source: str
    is_sensitive: bool
    is_read_only: bool


async def read_configs(ui: Ui, kind: str, name: str) -> list[Config]:
    """Read all configs of a topic or broker.

    Arguments:
        kind: "TOPIC" or "BROKER".
        name: the name of the topic, or the id of the broker.

    Raises `KafkaError`.
    """
    found = await ui.admin.describe_configs([ConfigResource(kind, name)], config_filter="all")
    entries: Mapping[str, Mapping[str, Any]] = found[kind.lower()][name]
    return [_config(config, each) for config, each in sorted(entries.items())]


def _config(name: str, entry: Mapping[str, Any]) -> Config:
    is_sensitive = bool(entry["is_sensitive"])
    source = _SOURCES.get(str(entry.get("config_source", "")), "")
    return Config(name, None if is_sensitive else entry["value"], source, is_sensitive, bool(entry.get("read_only")))


def config_table(configs: list[Config]) -> Html:
    """Return the table; defaults are hidden at first."""
    columns: Columns[Config] = (
        Column("config", _name, lambda each: each.name),
        Column("value", _value),
        Column("source", _source, lambda each: each.source),
    )
    hiding: tuple[Hiding[Config], ...] = (Hiding("defaults", "defaults", lambda each: each.source == "default"),)
    text = "All configs have their default values."
    table = Table("Configs", columns, _text, hiding, sort="config", prefix="configs.", empty=text)
    return table.html(configs)


def _name(config: Config) -> Html:
    """Return the name, which breaks after a dot if it is longer than a line."""
    return joined((html("{}", part) for part in re.split(r"(?<=\.)", config.name)), Html("<wbr>"))


def _text(config: Config) -> str:
    return f"{config.name} {config.value or ''} {config.source}"


def _value(config: Config) -> Html:
    if config.is_sensitive:
        return html('<span class="quiet">not shown</span>')
    if config.value is None or config.value == "":
        return html('<span class="quiet">{}</span>', "not set" if config.value is None else "empty")
    return html('<span class="long">{}</span>', config.value)


def _source(config: Config) -> Html:
    note = html(' <span class="note">read-only</span>') if config.is_read_only else Html("")
    return html("{}{}", config.source, note)
