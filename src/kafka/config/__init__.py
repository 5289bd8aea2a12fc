"""The table of client options, and the typed objects created from a client's keyword arguments.

Layer 0. A client calls `parse_consumer`, `parse_producer` or `parse_admin` once; the layers below the client receive
only the options that they need. To add an option, see `kafka.config.option`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.config.connection import ConnectionOptions as ConnectionOptions
    from kafka.config.consumer import ConsumerOptions, FetchOptions, GroupOptions
    from kafka.config.java_names import from_java_names as from_java_names
    from kafka.config.keywords import AdminConfigs, CommonConfigs, ConsumerConfigs, ProducerConfigs, ShareConfigs
    from kafka.config.librdkafka import from_librdkafka_names as from_librdkafka_names
    from kafka.config.option import Option as Option
    from kafka.config.option_text import option_lines, with_options
    from kafka.config.producer import ProducerOptions as ProducerOptions
    from kafka.config.properties import load_properties as load_properties
    from kafka.config.security import SecurityOptions as SecurityOptions
    from kafka.config.share import ShareOptions as ShareOptions
    from kafka.config.table import (
        AdminConfig,
        ConsumerConfig,
        ProducerConfig,
        ShareConfig,
        option_table,
        parse_admin,
        parse_consumer,
        parse_producer,
        parse_share,
    )

__all__ = [
    "AdminConfig",
    "AdminConfigs",
    "CommonConfigs",
    "ConnectionOptions",
    "ConsumerConfig",
    "ConsumerConfigs",
    "ConsumerOptions",
    "FetchOptions",
    "GroupOptions",
    "Option",
    "ProducerConfig",
    "ProducerConfigs",
    "ProducerOptions",
    "SecurityOptions",
    "ShareConfig",
    "ShareConfigs",
    "ShareOptions",
    "from_java_names",
    "from_librdkafka_names",
    "load_properties",
    "option_lines",
    "option_table",
    "parse_admin",
    "parse_consumer",
    "parse_producer",
    "parse_share",
    "with_options",
]
_HOMES = {
    "AdminConfig": "kafka.config.table",
    "AdminConfigs": "kafka.config.keywords",
    "CommonConfigs": "kafka.config.keywords",
    "ConnectionOptions": "kafka.config.connection",
    "ConsumerConfig": "kafka.config.table",
    "ConsumerConfigs": "kafka.config.keywords",
    "ConsumerOptions": "kafka.config.consumer",
    "FetchOptions": "kafka.config.consumer",
    "GroupOptions": "kafka.config.consumer",
    "Option": "kafka.config.option",
    "ProducerConfig": "kafka.config.table",
    "ProducerConfigs": "kafka.config.keywords",
    "ProducerOptions": "kafka.config.producer",
    "SecurityOptions": "kafka.config.security",
    "ShareConfig": "kafka.config.table",
    "ShareConfigs": "kafka.config.keywords",
    "ShareOptions": "kafka.config.share",
    "from_java_names": "kafka.config.java_names",
    "from_librdkafka_names": "kafka.config.librdkafka",
    "load_properties": "kafka.config.properties",
    "option_lines": "kafka.config.option_text",
    "option_table": "kafka.config.table",
    "parse_admin": "kafka.config.table",
    "parse_consumer": "kafka.config.table",
    "parse_producer": "kafka.config.table",
    "parse_share": "kafka.config.table",
    "with_options": "kafka.config.option_text",
}
"""Where the names are defined. They are imported when they are used, because short commands need few of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
