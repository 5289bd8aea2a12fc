"""The table of client options, and the typed objects created from a client's keyword arguments.

Layer 0. A client calls `parse_consumer`, `parse_producer` or `parse_admin` once; the layers below the client receive
only the options that they need. To add an option, see `kafka.config.option`.
"""

from kafka.config.connection import ConnectionOptions
from kafka.config.consumer import ConsumerOptions, FetchOptions, GroupOptions
from kafka.config.java_names import from_java_names
from kafka.config.keywords import AdminConfigs, CommonConfigs, ConsumerConfigs, ProducerConfigs, ShareConfigs
from kafka.config.librdkafka import from_librdkafka_names
from kafka.config.option import Option
from kafka.config.option_text import option_lines, with_options
from kafka.config.producer import ProducerOptions
from kafka.config.properties import load_properties
from kafka.config.security import SecurityOptions
from kafka.config.share import ShareOptions
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
