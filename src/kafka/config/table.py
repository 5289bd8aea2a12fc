"""The option table, collected from the dataclasses, and the conversion from keyword arguments to typed objects.

To add an option, see `kafka.config.option`.
"""

import dataclasses
import functools
import logging
from collections.abc import Mapping
from typing import Any, TypeVar

from kafka.config.connection import ConnectionOptions
from kafka.config.consumer import ConsumerOptions, FetchOptions, GroupOptions
from kafka.config.librdkafka_table import whose
from kafka.config.option import Option, nearest
from kafka.config.producer import ProducerOptions, check_compression_level, check_idempotence
from kafka.config.sasl_mechanisms import find_mechanism, mechanism_names
from kafka.config.secrecy import shown_name
from kafka.config.security import SecurityOptions, check_proxy
from kafka.config.share import NOT_FOR_SHARES, ShareOptions
from kafka.config.tls import check_tls
from kafka.errors import KafkaConfigurationError

log = logging.getLogger(__name__)

_SLICES: dict[type[Any], frozenset[str]] = {
    ConnectionOptions: frozenset({"consumer", "producer", "admin", "share consumer"}),
    SecurityOptions: frozenset({"consumer", "producer", "admin", "share consumer"}),
    ProducerOptions: frozenset({"producer"}),
    FetchOptions: frozenset({"consumer"}),
    GroupOptions: frozenset({"consumer"}),
    ConsumerOptions: frozenset({"consumer"}),
    ShareOptions: frozenset({"share consumer"}),
}
Slice = TypeVar("Slice")


@functools.cache
def option_table() -> dict[str, Option]:
    """Return every option by its name: its default, its parser, its text, and the clients that have it."""
    table: dict[str, Option] = {}
    for cls, clients in _SLICES.items():
        for field in dataclasses.fields(cls):
            others = table[field.name].clients if field.name in table else frozenset()
            table[field.name] = Option(name=field.name, clients=clients | others, **field.metadata)
    return table


def is_given(name: str, value: object) -> bool:
    """Return whether an option is set. An option that is None is not set, unless None is a valid value for it.

    Arguments:
        name: the option's name. Unknown names count as set, so that they are rejected.
        value: the keyword argument.
    """
    row = option_table().get(name)
    return value is not None or row is None or not row.takes_none_as_not_given


def given_options(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are set; see `is_given`."""
    return {name: value for name, value in configs.items() if is_given(name, value)}


def with_defaults(defaults: Mapping[str, Any], configs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in ``defaults`` with their given or default values, as clients of old generations do.

    Arguments:
        defaults: default values by name. For options that the table does not contain, None always selects the default.
        configs: keyword arguments; names that are not in ``defaults`` are omitted.
    """
    table = option_table()
    given = {name: value for name, value in given_options(configs).items() if value is not None or name in table}
    return {name: given.get(name, default) for name, default in defaults.items()}


def _check_names(configs: Mapping[str, Any], client: str) -> None:
    table = option_table()
    for name in configs:
        row = table.get(name)
        if row is None or client not in row.clients:
            mine = [other for other, each in table.items() if client in each.clients and not each.inert]
            why = (
                f"is not an option of the share consumer: {NOT_FOR_SHARES[name]}"
                if client == "share consumer" and name in NOT_FOR_SHARES
                else f"is an option of the {' and '.join(sorted(row.clients))}, not of the {client}"
                if row
                else "is unknown"
            )
            hint = "" if client == "share consumer" and name in NOT_FOR_SHARES else nearest(name, mine)
            if name.replace(".", "_") not in table:
                hint = whose(name) or whose(name.replace("_", ".")) or hint
            raise KafkaConfigurationError(f"option {shown_name(name)} {why}{hint}")
        if row.inert and is_given(name, configs[name]) and not _is(configs[name], row.default):
            log.warning("option %r is accepted but has no effect", name)


def _is(value: object, default: object) -> bool:
    """Return whether an option is set to its default, as in ``KafkaConsumer(**KafkaConsumer.DEFAULT_CONFIG)``."""
    return value is default or (type(value) is type(default) and value == default)


def _slice(cls: type[Slice], configs: Mapping[str, Any]) -> Slice:
    given = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # every slice is a dataclass
        if field.name in configs:
            given[field.name] = field.metadata["parse"](field.name, configs[field.name])
    return cls(**given)


def with_class_defaults(defaults: Mapping[str, Any], configs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a client's keyword arguments, with the defaults that subclasses or programs have changed in its class.

    Arguments:
        defaults: the ``DEFAULT_CONFIG`` of the class; names that are not options are ignored.
        configs: the keyword arguments of the client.
    """
    table = option_table()
    others = {name: value for name, value in defaults.items() if name in table and not _is(value, table[name].default)}
    return {
        **others,
        **{name: value for name, value in configs.items() if name not in defaults or is_given(name, value)},
    }


def values_of(*slices: Any) -> dict[str, Any]:
    """Return the options in the given dataclasses by name."""
    return {field.name: getattr(each, field.name) for each in slices for field in dataclasses.fields(each)}


@dataclasses.dataclass(frozen=True, slots=True)
class AdminConfig:
    """All options of an admin client.

    Arguments:
        connection: how to reach the brokers.
        security: TLS, SASL and the proxy.
    """

    connection: ConnectionOptions
    security: SecurityOptions


@dataclasses.dataclass(frozen=True, slots=True)
class ProducerConfig:
    """All options of a producer.

    Arguments:
        connection: how to reach the brokers.
        security: TLS, SASL and the proxy.
        producer: batches, retries and transactions.
    """

    connection: ConnectionOptions
    security: SecurityOptions
    producer: ProducerOptions


@dataclasses.dataclass(frozen=True, slots=True)
class ConsumerConfig:
    """All options of a consumer.

    Arguments:
        connection: how to reach the brokers.
        security: TLS, SASL and the proxy.
        fetch: how records are fetched.
        group: membership and commits.
        consumer: what poll() and iteration return.
        look_up_timeout_ms: time limit for offset lookups.
    """

    connection: ConnectionOptions
    security: SecurityOptions
    fetch: FetchOptions
    group: GroupOptions
    consumer: ConsumerOptions
    look_up_timeout_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class ShareConfig:
    """All options of a share consumer.

    Arguments:
        connection: how to reach the brokers.
        security: TLS, SASL and the proxy.
        share: how records are acquired, acknowledged and returned.
    """

    connection: ConnectionOptions
    security: SecurityOptions
    share: ShareOptions


def _security(configs: Mapping[str, Any]) -> SecurityOptions:
    security = _slice(SecurityOptions, configs)
    check_tls(security)
    check_proxy(security)
    if security.uses_sasl and security.sasl_mechanism is None:
        raise KafkaConfigurationError(
            f"security_protocol={security.security_protocol!r} requires 'sasl_mechanism': one of "
            f"{', '.join(mechanism_names())}"
        )
    _warn_of_unused(configs, security)
    row = find_mechanism(security.sasl_mechanism)
    if security.security_protocol == "SASL_PLAINTEXT" and row is not None and row.sends_in_clear:
        log.warning(
            "sasl_mechanism=%r sends the %s unencrypted with security_protocol='SASL_PLAINTEXT', so anyone on the "
            "network can read it; use 'SASL_SSL' to protect it",
            row.name,
            row.sends_in_clear,
        )
    return security


def _warn_of_unused(configs: Mapping[str, Any], security: SecurityOptions) -> None:
    """Warn about TLS and SASL options that are set although the security protocol does not use them."""
    table = option_table()
    given = [name for name in configs if name in table and not _is(configs[name], table[name].default)]
    for prefix, in_use, want in (
        ("sasl_", security.uses_sasl, "'SASL_PLAINTEXT' or 'SASL_SSL'"),
        ("ssl_", security.uses_tls, "'SSL' or 'SASL_SSL'"),
    ):
        unused = [name for name in given if name.startswith(prefix) and configs[name] is not None]
        if unused and not in_use:
            log.warning(
                "security_protocol is %r, so these options have no effect: %s; they require %s",
                security.security_protocol,
                ", ".join(sorted(unused)),
                want,
            )


def parse_admin(configs: Mapping[str, Any]) -> AdminConfig:
    """Check the keyword arguments of an admin client; raise `KafkaConfigurationError` if they are invalid.

    Arguments:
        configs: the keyword arguments of the client.
    """
    _check_names(configs, "admin")
    configs = given_options(configs)
    return AdminConfig(_slice(ConnectionOptions, configs), _security(configs))


def parse_producer(configs: Mapping[str, Any]) -> ProducerConfig:
    """Check the keyword arguments of a producer; raise `KafkaConfigurationError` if they are invalid.

    Arguments:
        configs: the keyword arguments of the client.
    """
    _check_names(configs, "producer")
    configs = given_options(configs)
    connection, producer = _slice(ConnectionOptions, configs), _slice(ProducerOptions, configs)
    check_compression_level(producer)
    check_idempotence(connection, producer)
    return ProducerConfig(connection, _security(configs), producer)


def parse_consumer(configs: Mapping[str, Any]) -> ConsumerConfig:
    """Check the keyword arguments of a consumer; raise `KafkaConfigurationError` if they are invalid.

    Arguments:
        configs: the keyword arguments of the client.
    """
    _check_names(configs, "consumer")
    configs = given_options(configs)
    connection, fetch = _slice(ConnectionOptions, configs), _slice(FetchOptions, configs)
    group, consumer = _slice(GroupOptions, configs), _slice(ConsumerOptions, configs)
    _check_group_protocol(configs, group)
    if group.heartbeat_interval_ms >= group.session_timeout_ms:
        raise KafkaConfigurationError(
            f"heartbeat_interval_ms ({group.heartbeat_interval_ms}) must be less than session_timeout_ms "
            f"({group.session_timeout_ms}), or every member would be removed; a third of it is usual"
        )
    if fetch.fetch_max_wait_ms >= connection.request_timeout_ms:
        raise KafkaConfigurationError(
            f"fetch_max_wait_ms ({fetch.fetch_max_wait_ms}) must be less than request_timeout_ms "
            f"({connection.request_timeout_ms}), or every idle fetch would time out"
        )
    look_up_timeout_ms = consumer.default_api_timeout_ms
    if "request_timeout_ms" in configs and "default_api_timeout_ms" not in configs:  # as in kafka-python
        look_up_timeout_ms = connection.request_timeout_ms
    return ConsumerConfig(connection, _security(configs), fetch, group, consumer, look_up_timeout_ms)


_OF_CLASSIC_GROUPS = ("partition_assignment_strategy", "session_timeout_ms", "heartbeat_interval_ms")


def _check_group_protocol(configs: Mapping[str, Any], group: GroupOptions) -> None:
    """Reject options that only the other group protocol supports, as Java does."""
    if group.group_protocol == "classic":
        if group.group_remote_assignor is not None:
            raise KafkaConfigurationError(
                "'group_remote_assignor' applies to group_protocol='consumer'; use partition_assignment_strategy "
                "with 'classic'"
            )
        return
    table = option_table()
    for name in _OF_CLASSIC_GROUPS:
        if name in configs and not _is(configs[name], table[name].default):
            raise KafkaConfigurationError(
                f"{name!r} does not apply to group_protocol='consumer' (KIP-848), where the broker decides: choose "
                "its assignor with group_remote_assignor, and set timeouts in the group's configs on the broker "
                "(consumer.session.timeout.ms, consumer.heartbeat.interval.ms)"
            )


def parse_share(configs: Mapping[str, Any]) -> ShareConfig:
    """Check the keyword arguments of a share consumer; raise `KafkaConfigurationError` if they are invalid.

    Arguments:
        configs: the keyword arguments of the client.
    """
    _check_names(configs, "share consumer")
    configs = given_options(configs)
    connection, share = _slice(ConnectionOptions, configs), _slice(ShareOptions, configs)
    if share.group_id is None:
        raise KafkaConfigurationError("a share consumer requires a 'group_id', the name of its share group")
    if share.fetch_max_wait_ms >= connection.request_timeout_ms:
        raise KafkaConfigurationError(
            f"fetch_max_wait_ms ({share.fetch_max_wait_ms}) must be less than request_timeout_ms "
            f"({connection.request_timeout_ms}), or every idle fetch would time out"
        )
    return ShareConfig(connection, _security(configs), share)
