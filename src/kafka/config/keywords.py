"""The keyword arguments of the clients, for type checkers: ``**configs: Unpack[ConsumerConfigs]``.

Written by scripts/options.py from the option table: change an option there, and run it.
"""

import os
import ssl
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypedDict


class CommonConfigs(TypedDict, total=False):
    """Options that every client has."""

    bootstrap_servers: str | Collection[str] | Sequence[tuple[str, int]] | tuple[str, int]
    """Brokers to ask first, as 'host:port' or a list of such. (default 'localhost:9092'; Java:
    bootstrap.servers)"""
    client_id: str | None
    """Name of this client in the brokers' logs and quotas. (default 'kafka-python-3.0.12'; Java: client.id)"""
    api_version: tuple[int, ...] | str | None
    """Version of the brokers; None asks them. Brokers before 0.10 need it. (default None)"""
    request_timeout_ms: int
    """How long a request may take until its answer is there. (in milliseconds; default 30000; Java:
    request.timeout.ms)"""
    bootstrap_timeout_ms: int
    """How long a client looks for a first broker. (in milliseconds; default 30000)"""
    api_version_auto_timeout_ms: int | None
    """How long it looks where every server refuses connections; None: bootstrap_timeout_ms. (in milliseconds;
    default None)"""
    socket_connection_setup_timeout_ms: int
    """How long setting up one connection may take. (in milliseconds; default 10000; Java:
    socket.connection.setup.timeout.ms)"""
    retry_backoff_ms: int
    """First pause before something is tried again. (in milliseconds; default 100; Java: retry.backoff.ms)"""
    retry_backoff_max_ms: int
    """Longest pause between two attempts. (in milliseconds; default 1000; Java: retry.backoff.max.ms)"""
    reconnect_backoff_ms: int
    """First pause before a lost connection is tried again. (in milliseconds; default 50; Java:
    reconnect.backoff.ms)"""
    reconnect_backoff_max_ms: int
    """Longest pause before a lost connection is tried again. (in milliseconds; default 30000; Java:
    reconnect.backoff.max.ms)"""
    max_in_flight_requests_per_connection: int
    """How many requests may wait for an answer on one connection. (default 5; Java:
    max.in.flight.requests.per.connection)"""
    connections_max_idle_ms: int
    """After how long an unused connection is closed. (in milliseconds; default 540000; Java:
    connections.max.idle.ms)"""
    metadata_max_age_ms: int
    """How old the picture of the cluster may grow. (in milliseconds; default 300000; Java: metadata.max.age.ms)"""
    allow_auto_create_topics: bool
    """Whether subscribing or sending to a topic may create it. (default True; Java: allow.auto.create.topics)"""
    receive_message_max_bytes: int
    """The largest response taken from a broker. (in bytes; default 100000000; Java: receive.message.max.bytes)"""
    receive_buffer_bytes: int | None
    """SO_RCVBUF of the sockets. (in bytes; default None; Java: receive.buffer.bytes)"""
    send_buffer_bytes: int | None
    """SO_SNDBUF of the sockets. (in bytes; default None; Java: send.buffer.bytes)"""
    socket_options: Sequence[tuple[int, int, int]] | None
    """Arguments of setsockopt() for each socket. (default [(6, 1, 1)])"""
    metrics_enabled: bool
    """Whether metrics() and reporters show anything. (default True)"""
    metric_reporters: Sequence[Any]
    """Classes, or objects, that are told of each metric; see AbstractMetricsReporter. (default []; Java:
    metric.reporters)"""
    metrics_num_samples: int
    """How many windows of time metrics are worked out from. (default 2; Java: metrics.num.samples)"""
    metrics_sample_window_ms: int
    """How long one of these windows is. (in milliseconds; default 30000; Java: metrics.sample.window.ms)"""
    selector: Any
    """Accepted for the sake of older programs. It has no effect. (default None)"""
    kafka_client: Any
    """Accepted for the sake of older programs. It has no effect. (default None)"""
    sock_chunk_bytes: Any
    """Accepted for the sake of older programs. It has no effect. (in bytes; default 4096)"""
    sock_chunk_buffer_count: Any
    """Accepted for the sake of older programs. It has no effect. (default 1000)"""
    bootstrap_topics_filter: Any
    """Accepted for the sake of older programs. It has no effect. (default ())"""
    client_dns_lookup: Any
    """Accepted for the sake of older programs. It has no effect. (default 'use_all_dns_ips')"""
    security_protocol: str
    """How to talk to brokers: 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'. (default 'PLAINTEXT'; Java:
    security.protocol)"""
    ssl_context: ssl.SSLContext | None
    """A ready ssl.SSLContext, instead of the other ssl_ options. (default None)"""
    ssl_check_hostname: bool
    """Whether the certificate has to be of the host asked. (default True)"""
    ssl_cafile: str | os.PathLike[str] | None
    """PEM file of the authorities to trust; None: the system's. (default None)"""
    ssl_certfile: str | os.PathLike[str] | None
    """PEM file of the client's certificate. (default None)"""
    ssl_keyfile: str | os.PathLike[str] | None
    """PEM file of the client's key. (default None)"""
    ssl_password: str | bytes | Callable[[], str | bytes] | None
    """Password of the key, or a function that gives it. (Java: ssl.key.password)"""
    ssl_crlfile: str | os.PathLike[str] | None
    """PEM file of revoked certificates. (default None)"""
    ssl_ciphers: str | None
    """Ciphers to offer, in OpenSSL's notation. (default None)"""
    sasl_mechanism: str | None
    """'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512' or 'OAUTHBEARER'. (default None; Java: sasl.mechanism)"""
    sasl_plain_username: str | None
    """User name for PLAIN and SCRAM. (default None)"""
    sasl_plain_password: str | None
    """Password for PLAIN and SCRAM."""
    sasl_oauth_token_provider: Any
    """Object whose token() gives an OAuth bearer token."""
    sasl_kerberos_name: Any
    """Kerberos name of the service, for GSSAPI. It has no effect yet. (default None)"""
    sasl_kerberos_service_name: str
    """Kerberos service name, for GSSAPI. It has no effect yet. (default 'kafka'; Java:
    sasl.kerberos.service.name)"""
    sasl_kerberos_domain_name: str | None
    """Kerberos domain, for GSSAPI. It has no effect yet. (default None)"""
    socks5_proxy: str | None
    """URL of a SOCKS5 proxy."""


class AdminConfigs(CommonConfigs, total=False):
    """Options of an admin client."""


class ProducerConfigs(CommonConfigs, total=False):
    """Options of a producer."""

    key_serializer: Any
    """Turns a key into bytes. (default None; Java: key.serializer)"""
    value_serializer: Any
    """Turns a value into bytes. (default None; Java: value.serializer)"""
    acks: int | str
    """Who has to have a record before it counts as sent: 0 nobody, 1 the leader, 'all' every in-sync replica.
    (default 'all'; Java: acks)"""
    enable_idempotence: bool | None
    """Whether retries never write a record twice (KIP-98); None: wherever acks='all' and the cluster allows it.
    (default None; Java: enable.idempotence)"""
    compression_type: str | None
    """'gzip', 'snappy', 'lz4', 'zstd' or None. (default None; Java: compression.type)"""
    compression_level: int | None
    """Level of the codec; None: its default. (default None)"""
    retries: float
    """How often a batch is sent again, within the delivery timeout. (default inf; Java: retries)"""
    delivery_timeout_ms: float
    """How long a record may take until it is acknowledged or fails. (in milliseconds; default 120000; Java:
    delivery.timeout.ms)"""
    batch_size: int
    """Size that a batch of a partition is filled up to. (in bytes; default 16384; Java: batch.size)"""
    linger_ms: float
    """How long a batch waits for more records. (in milliseconds; default 0; Java: linger.ms)"""
    partitioner: Any
    """Picks a partition; None: by murmur2 of the key, as Kafka's Java client. (default None; Java:
    partitioner.class)"""
    buffer_memory: int
    """Memory for records that are not sent yet. (in bytes; default 33554432; Java: buffer.memory)"""
    max_block_ms: float
    """How long send() waits for metadata or memory. (in milliseconds; default 60000; Java: max.block.ms)"""
    max_request_size: int
    """The largest request, and record, sent. (in bytes; default 1048576; Java: max.request.size)"""
    transactional_id: str | None
    """Name under which the producer has transactions: one producer at a time has it (KIP-98). (default None; Java:
    transactional.id)"""
    transaction_timeout_ms: int
    """How long a transaction may take before it is aborted. (in milliseconds; default 60000; Java:
    transaction.timeout.ms)"""


class ConsumerConfigs(CommonConfigs, total=False):
    """Options of a consumer."""

    fetch_min_bytes: int
    """Bytes a broker gathers before it answers. (in bytes; default 1; Java: fetch.min.bytes)"""
    fetch_max_wait_ms: int
    """How long a broker gathers them. (in milliseconds; default 500; Java: fetch.max.wait.ms)"""
    fetch_max_bytes: int
    """Bytes in one answer, about. (in bytes; default 52428800; Java: fetch.max.bytes)"""
    max_partition_fetch_bytes: int
    """Bytes of one partition in one answer, about. (in bytes; default 1048576; Java: max.partition.fetch.bytes)"""
    check_crcs: bool
    """Whether checksums are checked. (default True; Java: check.crcs)"""
    isolation_level: str
    """'read_committed' leaves out records of aborted and open transactions. (default 'read_uncommitted'; Java:
    isolation.level)"""
    auto_offset_reset: str
    """Where to start without a valid position: 'earliest', 'latest', or 'none': raise. (default 'latest'; Java:
    auto.offset.reset)"""
    enable_incremental_fetch_sessions: bool
    """Whether fetches name only what has changed (KIP-227). (default True)"""
    client_rack: str
    """The rack this client is in (KIP-392). (default ''; Java: client.rack)"""
    max_decompressed_batch_bytes: int | None
    """Bytes that one batch may have once decompressed; None: 64 MiB, or 16 times max_partition_fetch_bytes. (in
    bytes; default None)"""
    group_id: str | None
    """The group; None: no group, no commits. (default None; Java: group.id)"""
    group_instance_id: str | None
    """Makes this a static member (KIP-345). (default None; Java: group.instance.id)"""
    enable_auto_commit: bool
    """Whether positions are committed in the background. (default True; Java: enable.auto.commit)"""
    auto_commit_interval_ms: int
    """How often they are. (in milliseconds; default 5000; Java: auto.commit.interval.ms)"""
    default_offset_commit_callback: Callable[..., Any] | None
    """Called as (offsets, response or error) after a commit_async() without a callback. (default None)"""
    group_protocol: Any
    """How members and coordinator talk; only 'classic' so far. (default 'classic'; Java: group.protocol)"""
    partition_assignment_strategy: Any
    """Assignors in order of preference. (default None; Java: partition.assignment.strategy)"""
    session_timeout_ms: int
    """After how long without a heartbeat a member counts as dead. (in milliseconds; default 10000; Java:
    session.timeout.ms)"""
    heartbeat_interval_ms: int
    """How often a member shows that it lives. (in milliseconds; default 3000; Java: heartbeat.interval.ms)"""
    max_poll_interval_ms: int
    """How long may pass between two calls of poll(). (in milliseconds; default 300000; Java:
    max.poll.interval.ms)"""
    exclude_internal_topics: bool
    """Whether a pattern leaves out internal topics. (default True; Java: exclude.internal.topics)"""
    key_deserializer: Any
    """Turns the bytes of a key into an object. (default None; Java: key.deserializer)"""
    value_deserializer: Any
    """Turns the bytes of a value into an object. (default None; Java: value.deserializer)"""
    max_poll_records: int
    """Most records that one poll() gives. (default 500; Java: max.poll.records)"""
    consumer_timeout_ms: float
    """How long iteration waits for a record before it ends. (in milliseconds; default inf)"""
    default_api_timeout_ms: int
    """How long a call without a timeout of its own may block. (in milliseconds; default 60000; Java:
    default.api.timeout.ms)"""
    metric_group_prefix: str
    """Prefix of the names of metric groups. (default 'consumer')"""
    legacy_iterator: Any
    """Accepted for the sake of older programs. It has no effect. (default False)"""
