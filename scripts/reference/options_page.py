"""`docs/OPTIONS.md`: every option of the clients, from the option table."""

from __future__ import annotations

import dataclasses
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

SHOWN = (
    *("Connections", "TLS", "SASL", "Producer", "Consumer: the group", "Consumer: returned records"),
    *("Consumer: fetching", "Share consumer", "SASL: OAUTHBEARER", "Proxies"),
)
"""The titles in the order of the page, the sections that most programs need first."""
FIRST: tuple[str, ...] = (
    *("bootstrap_servers", "client_id", "security_protocol", "sasl_mechanism", "sasl_plain_username"),
    *("sasl_plain_password", "ssl_cafile"),
    *("value_serializer", "key_serializer", "acks", "compression_type", "linger_ms", "delivery_timeout_ms"),
    *("transactional_id", "max_request_size"),
    *("group_id", "enable_auto_commit", "group_protocol", "max_poll_interval_ms", "auto_offset_reset"),
    *("isolation_level", "value_deserializer", "key_deserializer", "on_deserialization_error", "max_poll_records"),
    *("consumer_timeout_ms", "fetch_max_bytes"),
)
"""The options that most programs need, in the order in which they need them; they also come first in their sections."""

HEAD = """\
# Options

This page lists the keyword arguments of `KafkaConsumer`, `KafkaProducer`, `KafkaAdminClient`,
`KafkaShareConsumer` and their asyncio counterparts. `help(KafkaProducer)` and type checkers know the same
options.

If a program passes an unknown name, the client raises an error that suggests the nearest known one.
`kafka.load_properties("client.properties")` reads options from a properties file for Java's clients. In Spark, write
`kafka.` before Java's name. [SIDE_BY_SIDE.md](SIDE_BY_SIDE.md#settings-of-confluent-kafka) lists the
equivalents of librdkafka's settings. *Since* is the first kafka-python release that had the option; the option has
the same meaning as in that release. *columnar 0.1* marks options that kafka-python does not have.

None means the default, so that a program can pass on unset values. The exceptions are `bootstrap_servers`, and
options whose type includes None.
"""
ENDING = """
## Accepted without effect
Older programs pass these options, but this package does not need them. A value other than the default causes a
warning in the log.

"""
UNITS = {"ms": "milliseconds", "bytes": "bytes"}


def text() -> str:
    """The page."""
    table = option_table()
    live = {name: row for name, row in table.items() if not row.inert}
    parts = [HEAD, *_first(live), *_contents(live)]
    for title, rows in sections(live).items():
        parts += [f"\n## {title}\n", *map(_section, rows)]
    inert = [f"`{row.name}` (since {since(row)})" for row in table.values() if row.inert]
    return "".join(parts) + ENDING + ", ".join(inert) + ".\n"


def sections(table: dict[str, Option]) -> dict[str, list[Option]]:
    """The rows by the title of their section, each once: those of `FIRST`, then the others in the table's order."""
    special = {name for cls in (SaslOptions, OAuthBearerOptions, ProxyOptions) for name in _names(cls)}
    taken: set[str] = set()
    found = {}
    for title, classes in GROUPS.items():
        names = [name for cls in classes for name in _names(cls) if name in table and name not in taken]
        if SecurityOptions in classes:
            names = [name for name in names if name not in special]
        taken.update(names)
        ordered = sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
        found[title] = [table[name] for name in ordered]
    return {title: found[title] for title in SHOWN}


def since(row: Option) -> str:
    """The generation of kafka-python that had an option first, or ours."""
    return FIRST_IN.get(row.name, "columnar 0.1")


def _names(cls: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]


def _first(live: dict[str, Option]) -> list[str]:
    """A table of the options that most programs need."""
    lines = ["\n| most used | of | default | meaning |\n|---|---|---|---|\n"]
    for name in FIRST:
        row = live[name]
        clients = "all" if len(row.clients) == 4 else ", ".join(sorted(row.clients))
        meaning = row.doc.partition(". ")[0].rstrip(".").replace("|", "\\|")
        lines.append(f"| [{name}](#{name}) | {clients} | `{default_text(row.default)}` | {meaning} |\n")
    return lines


def _contents(live: dict[str, Option]) -> list[str]:
    """Links to all options of each section."""
    lines = ["\n| section | all options |\n|---|---|\n"]
    for title, rows in sections(live).items():
        links = ", ".join(f"[{row.name}](#{row.name})" for row in rows)
        lines.append(f"| {title} | {links} |\n")
    return lines


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
