"""`docs/OPTIONS.md`: every option of the clients, from the option table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from scripts.reference.history import FIRST_IN

from kafka.config.connection import ConnectionOptions
from kafka.config.consumer import ConsumerOptions, FetchOptions, GroupOptions
from kafka.config.option import Option
from kafka.config.option_text import default_text
from kafka.config.producer import ProducerOptions
from kafka.config.sasl import OAuthBearerOptions, SaslOptions
from kafka.config.security import ProxyOptions, SecurityOptions
from kafka.config.share import ShareOptions
from kafka.config.table import option_table

GROUPS: dict[str, tuple[type[Any], ...]] = {
    "Connections": (ConnectionOptions,),
    "Producer": (ProducerOptions,),
    "Consumer: fetching": (FetchOptions,),
    "Consumer: the group": (GroupOptions,),
    "Consumer: returned records": (ConsumerOptions,),
    "Share consumer": (ShareOptions,),
    "TLS": (SecurityOptions,),
    "SASL": (SaslOptions,),
    "SASL: OAUTHBEARER": (OAuthBearerOptions,),
    "Proxies": (ProxyOptions,),
}
"""By title of a section: the classes whose options it has, but for those that another section has.

`SecurityOptions` has those of TLS, and of three others, which have sections of their own.
"""

HEAD = """\
# Options

The keyword arguments of `KafkaConsumer`, `KafkaProducer`, `KafkaAdminClient`, `KafkaShareConsumer` and their
asyncio counterparts. `python -m scripts.reference` generates this page from the option table (`kafka.config`),
which type checkers, `help(KafkaProducer)` and the clients use too.

An unknown name is an error that suggests the nearest known one. `kafka.load_properties("client.properties")`
reads Java's properties files; Spark accepts the same names with the prefix `kafka.`.
[SIDE_BY_SIDE.md](SIDE_BY_SIDE.md#settings-of-confluent-kafka) lists the equivalents of librdkafka's settings.
*Since* is the first kafka-python release that had the option; it has the same meaning in programs for that
release. *columnar 0.1* marks options that kafka-python does not have.

None means the default, so that a program can pass on unset values. The exceptions are `bootstrap_servers`, and
options whose type includes None.
"""
ENDING = """
## Accepted without effect
Older programs pass these options; this package does not need them. A value other than the default is logged.

"""
UNITS = {"ms": "milliseconds", "bytes": "bytes"}


def text() -> str:
    """The page."""
    table = option_table()
    live = {name: row for name, row in table.items() if not row.inert}
    parts = [HEAD, *_contents(live)]
    for title, rows in sections(live).items():
        parts += [f"\n## {title}\n", *map(_section, rows)]
    inert = [f"`{row.name}` (since {since(row)})" for row in table.values() if row.inert]
    return "".join(parts) + ENDING + ", ".join(inert) + ".\n"


def sections(table: dict[str, Option]) -> dict[str, list[Option]]:
    """The rows by the title of their section, each once, in the order of the table."""
    special = {name for cls in (SaslOptions, OAuthBearerOptions, ProxyOptions) for name in _names(cls)}
    taken: set[str] = set()
    found = {}
    for title, classes in GROUPS.items():
        names = [name for cls in classes for name in _names(cls) if name in table and name not in taken]
        if SecurityOptions in classes:
            names = [name for name in names if name not in special]
        taken.update(names)
        found[title] = [table[name] for name in names]
    return found


def since(row: Option) -> str:
    """The generation of kafka-python that had an option first, or ours."""
    return FIRST_IN.get(row.name, "columnar 0.1")


def _names(cls: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]


def _contents(live: dict[str, Option]) -> list[str]:
    """Links to all options of each client."""
    lines = ["\n| client | its options |\n|---|---|\n"]
    everyone = [row for row in live.values() if len(row.clients) == 4]
    lines.append(_line("all", lambda row: row in everyone, live))
    for client in ("producer", "consumer", "share consumer"):
        lines.append(_line(client, lambda row, c=client: c in row.clients and row not in everyone, live))  # type: ignore[misc]
    return lines


def _line(client: str, wanted: Callable[[Option], bool], live: dict[str, Option]) -> str:
    links = [f"[{name}](#{name})" for name, row in live.items() if wanted(row)]
    return f"| {client} | {', '.join(links)} |\n"


def _section(row: Option) -> str:
    facts = [f"type `{row.accepts}`"]
    if row.unit:
        facts.append(f"in {UNITS[row.unit]}")
    facts.append(f"default `{default_text(row.default)}`")
    facts.append(f"Java `{row.java}`" if row.java else "not in Java")
    if len(row.clients) < 4:
        facts.append(" and ".join(sorted(row.clients)))
    facts.append(f"since {since(row)}")
    return f"\n### `{row.name}`\n{row.doc}\n\n{'; '.join(facts)}.\n"
