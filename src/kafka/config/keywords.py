"""The keyword arguments of the clients, for type checkers: ``**configs: Unpack[ConsumerConfigs]``.

Written by scripts/options.py from the option table: change an option there, and run it.
"""

import os
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
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
    request_timeout_ms: int | None
    """How long a request may take until its answer is there. (in milliseconds; default 30000; Java:
    request.timeout.ms)"""
    bootstrap_timeout_ms: int | None
    """How long a client looks for a first broker. (in milliseconds; default 30000)"""
    api_version_auto_timeout_ms: int | None
    """How long it looks where every server refuses connections; None: bootstrap_timeout_ms. (in milliseconds;
    default None)"""
    socket_connection_setup_timeout_ms: int | None
    """How long setting up one connection may take. (in milliseconds; default 10000; Java:
    socket.connection.setup.timeout.ms)"""
    retry_backoff_ms: int | None
    """First pause before something is tried again. (in milliseconds; default 100; Java: retry.backoff.ms)"""
    retry_backoff_max_ms: int | None
    """Longest pause between two attempts. (in milliseconds; default 1000; Java: retry.backoff.max.ms)"""
    reconnect_backoff_ms: int | None
    """First pause before a lost connection is tried again. (in milliseconds; default 50; Java:
    reconnect.backoff.ms)"""
    reconnect_backoff_max_ms: int | None
    """Longest pause before a lost connection is tried again. (in milliseconds; default 30000; Java:
    reconnect.backoff.max.ms)"""
    max_in_flight_requests_per_connection: int | None
    """How many requests may wait for an answer on one connection. (default 5; Java:
    max.in.flight.requests.per.connection)"""
    connections_max_idle_ms: int | None
    """After how long an unused connection is closed. (in milliseconds; default 540000; Java:
    connections.max.idle.ms)"""
    metadata_max_age_ms: int | None
    """How old the picture of the cluster may grow. (in milliseconds; default 300000; Java: metadata.max.age.ms)"""
    allow_auto_create_topics: bool | None
    """Whether subscribing or sending to a topic may create it. (default True; Java: allow.auto.create.topics)"""
    receive_message_max_bytes: int | None
    """The largest response taken from a broker. (in bytes; default 100000000; Java: receive.message.max.bytes)"""
    receive_buffer_bytes: int | None
    """SO_RCVBUF of the sockets; None or -1: the system's. (in bytes; default None; Java: receive.buffer.bytes)"""
    send_buffer_bytes: int | None
    """SO_SNDBUF of the sockets; None or -1: the system's. (in bytes; default None; Java: send.buffer.bytes)"""
    socket_options: Sequence[tuple[int, int, int]] | None
    """Arguments of setsockopt() for each socket. (default [(6, 1, 1)])"""
    metrics_enabled: bool | None
    """Whether metrics() and reporters show anything. (default True)"""
    metric_reporters: Sequence[Any] | None
    """Classes, or objects, that are told of each metric; see AbstractMetricsReporter. (default []; Java:
    metric.reporters)"""
    metrics_num_samples: int | None
    """How many windows of time metrics are worked out from. (default 2; Java: metrics.num.samples)"""
    metrics_sample_window_ms: int | None
    """How long one of these windows is. (in milliseconds; default 30000; Java: metrics.sample.window.ms)"""
    enable_metrics_push: bool | None
    """Whether metrics are pushed to brokers that subscribe to them (KIP-714). (default True; Java:
    enable.metrics.push)"""
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
    socks5_proxy: str | None
    """URL of a SOCKS5 proxy: 'socks5://user:password@host:port', or socks5h: it looks up the names."""
    proxy_url: str | None
    """URL of a proxy: socks5, socks5h or http (CONNECT)."""
    sasl_oauth_token_provider: Any
    """Object whose token() gives an OAuth bearer token; instead of the sasl_oauthbearer_ options."""
    sasl_oauthbearer_token_endpoint_url: str | None
    """URL of the token endpoint; a file: URL names a file that has the token. (Java:
    sasl.oauthbearer.token.endpoint.url)"""
    sasl_oauthbearer_client_credentials_client_id: str | None
    """Client id at the token endpoint. (default None; Java: sasl.oauthbearer.client.credentials.client.id)"""
    sasl_oauthbearer_client_credentials_client_secret: str | None
    """Client secret there. (Java: sasl.oauthbearer.client.credentials.client.secret)"""
    sasl_oauthbearer_scope: str | None
    """Scope to ask for. (default None; Java: sasl.oauthbearer.scope)"""
    sasl_oauthbearer_header_urlencode: bool | None
    """Whether client id and secret are URL-encoded before they are sent, as RFC 6749 has it. (default False; Java:
    sasl.oauthbearer.header.urlencode)"""
    sasl_oauthbearer_extensions: Mapping[str, Any] | Sequence[tuple[str, Any]] | str | None
    """SASL extensions to send with the token. (default ())"""
    sasl_oauthbearer_ssl_cafile: str | os.PathLike[str] | None
    """PEM file of the authorities to trust for the token endpoint; None: those of the HTTP library. (default
    None)"""
    sasl_oauthbearer_assertion_algorithm: str | None
    """How the assertion is signed, 'RS256' or 'ES256'. (default 'RS256'; Java:
    sasl.oauthbearer.assertion.algorithm)"""
    sasl_oauthbearer_assertion_private_key_file: str | os.PathLike[str] | None
    """PEM file of the key that signs assertions (RFC 7523); given, the JWT bearer grant is used. (default None;
    Java: sasl.oauthbearer.assertion.private.key.file)"""
    sasl_oauthbearer_assertion_private_key_passphrase: str | None
    """Password of that key. (Java: sasl.oauthbearer.assertion.private.key.passphrase)"""
    sasl_oauthbearer_assertion_file: str | os.PathLike[str] | None
    """File of a ready assertion, instead of a key; read for each token. (default None; Java:
    sasl.oauthbearer.assertion.file)"""
    sasl_oauthbearer_assertion_template_file: str | os.PathLike[str] | None
    """JSON file with more of the assertion: {"header": {...}, "payload": {...}}. (default None; Java:
    sasl.oauthbearer.assertion.template.file)"""
    sasl_oauthbearer_assertion_claim_aud: str | None
    """Claim 'aud' of the assertion. (default None; Java: sasl.oauthbearer.assertion.claim.aud)"""
    sasl_oauthbearer_assertion_claim_iss: str | None
    """Claim 'iss' of the assertion. (default None; Java: sasl.oauthbearer.assertion.claim.iss)"""
    sasl_oauthbearer_assertion_claim_sub: str | None
    """Claim 'sub' of the assertion. (default None; Java: sasl.oauthbearer.assertion.claim.sub)"""
    sasl_oauthbearer_assertion_claim_exp_seconds: int | None
    """Life of an assertion in seconds. (default 300; Java: sasl.oauthbearer.assertion.claim.exp.seconds)"""
    sasl_oauthbearer_assertion_claim_nbf_seconds: int | None
    """How many seconds before it is made an assertion begins to hold. (default 60; Java:
    sasl.oauthbearer.assertion.claim.nbf.seconds)"""
    sasl_oauthbearer_assertion_claim_jti_include: bool | None
    """Whether an assertion has a unique 'jti'. (default False; Java:
    sasl.oauthbearer.assertion.claim.jti.include)"""
    sasl_oauthbearer_unsecured_claims: Mapping[str, Any] | Sequence[tuple[str, Any]] | str | None
    """Claims of tokens that nobody signs, for brokers of tests; a lifetime of an hour if 'exp' is missing. (default
    ())"""
    sasl_mechanism: str | None
    """'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER', 'GSSAPI' or 'AWS_MSK_IAM'. (default None; Java:
    sasl.mechanism)"""
    sasl_plain_username: str | None
    """User name for PLAIN and SCRAM. (default None)"""
    sasl_plain_password: str | None
    """Password for PLAIN and SCRAM."""
    sasl_scram_tokenauth: bool | None
    """Whether user name and password are the id and the HMAC of a delegation token (KIP-48)."""
    sasl_kerberos_service_name: str | None
    """First part of the brokers' Kerberos name. (default 'kafka'; Java: sasl.kerberos.service.name)"""
    sasl_kerberos_domain_name: str | None
    """Second part of the brokers' Kerberos name; None: the host that is connected to. (default None)"""
    sasl_kerberos_name: Any
    """The brokers' whole Kerberos name, as text or a gssapi.Name, instead of the two above. (default None)"""
    sasl_kerberos_principal: str | None
    """The client's own Kerberos name; None: that of the ticket cache or keytab. (default None)"""
    sasl_kerberos_keytab: str | os.PathLike[str] | None
    """File of the client's Kerberos keys; None: KRB5_CLIENT_KTNAME, or a ticket cache. (default None)"""
    sasl_kerberos_ccache: str | None
    """Kerberos ticket cache, such as 'FILE:/tmp/krb5cc_0'; None: KRB5CCNAME, or the default. (default None)"""
    sasl_msk_iam_region: str | None
    """AWS region of the brokers; None: as their names say, or as AWS's configuration does. (default None)"""
    sasl_msk_iam_profile: str | None
    """Profile of AWS's configuration to use. (default None)"""
    sasl_msk_iam_role_arn: str | None
    """AWS role to take on. (default None)"""
    sasl_msk_iam_role_session_name: str | None
    """Name of the session of that role. (default 'kafka-columnar')"""
    sasl_msk_iam_role_external_id: str | None
    """External id for taking on that role. (default None)"""
    sasl_msk_iam_sts_region: str | None
    """AWS region where the role is asked for; None: that of the brokers. (default None)"""
    sasl_login_connect_timeout_ms: int | None
    """How long connecting to the token endpoint may take. (in milliseconds; default 10000; Java:
    sasl.login.connect.timeout.ms)"""
    sasl_login_read_timeout_ms: int | None
    """How long the token endpoint may take to answer. (in milliseconds; default 10000; Java:
    sasl.login.read.timeout.ms)"""
    sasl_login_refresh_window_factor: float | None
    """Part of a token's life after which a new one is had. (default 0.8; Java: sasl.login.refresh.window.factor)"""
    ssl_context: ssl.SSLContext | None
    """A ready ssl.SSLContext, instead of the other ssl_ options. (default None)"""
    ssl_check_hostname: bool | None
    """Whether the certificate has to be of the host asked. (default True)"""
    ssl_cafile: str | os.PathLike[str] | None
    """PEM file of the authorities to trust, or a folder of such, named by `openssl rehash`; None: the system's.
    (default None)"""
    ssl_certfile: str | os.PathLike[str] | None
    """PEM file of the client's certificate. (default None)"""
    ssl_keyfile: str | os.PathLike[str] | None
    """PEM file of the client's key. (default None)"""
    ssl_password: str | bytes | Callable[[], str | bytes] | None
    """Password of the key, or a function that gives it, which is called in a thread of its own. (Java:
    ssl.key.password)"""
    ssl_crlfile: str | os.PathLike[str] | None
    """PEM file of revoked certificates. (default None)"""
    ssl_ciphers: str | None
    """Ciphers of TLS 1.2 to offer, in OpenSSL's notation. (default None)"""
    ssl_enabled_protocols: str | Sequence[str] | None
    """Versions of TLS to offer. (default 'TLSv1.2,TLSv1.3'; Java: ssl.enabled.protocols)"""
    ssl_truststore_location: str | os.PathLike[str] | None
    """File of the authorities to trust: a Java key store (JKS or PKCS#12) or PEM. (default None; Java:
    ssl.truststore.location)"""
    ssl_truststore_password: str | None
    """Password of that store. (Java: ssl.truststore.password)"""
    ssl_truststore_type: str | None
    """'JKS', 'PKCS12' or 'PEM'; None: as the file says. (default None; Java: ssl.truststore.type)"""
    ssl_truststore_certificates: str | None
    """The authorities to trust, as PEM text. (default None; Java: ssl.truststore.certificates)"""
    ssl_keystore_location: str | os.PathLike[str] | None
    """File of the client's key and certificate chain: a Java key store (JKS or PKCS#12) or PEM. (default None;
    Java: ssl.keystore.location)"""
    ssl_keystore_password: str | None
    """Password of that store. (Java: ssl.keystore.password)"""
    ssl_keystore_type: str | None
    """'JKS', 'PKCS12' or 'PEM'; None: as the file says. (default None; Java: ssl.keystore.type)"""
    ssl_keystore_certificate_chain: str | None
    """The client's certificate chain, as PEM text. (default None; Java: ssl.keystore.certificate.chain)"""
    ssl_keystore_key: str | None
    """The client's key (PKCS#8), as PEM text. (Java: ssl.keystore.key)"""
    security_protocol: str | None
    """How to talk to brokers: 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'. (default 'PLAINTEXT'; Java:
    security.protocol)"""


class AdminConfigs(CommonConfigs, total=False):
    """Options of an admin client."""


class ProducerConfigs(CommonConfigs, total=False):
    """Options of a producer."""

    key_serializer: Any
    """Turns a key into bytes. (default None; Java: key.serializer)"""
    value_serializer: Any
    """Turns a value into bytes. (default None; Java: value.serializer)"""
    acks: str | int | None
    """Who has to have a record before it counts as sent: 0 nobody, 1 the leader, 'all' every in-sync replica.
    (default 'all'; Java: acks)"""
    enable_idempotence: bool | None
    """Whether retries never write a record twice (KIP-98); None: wherever acks='all' and the cluster allows it.
    (default None; Java: enable.idempotence)"""
    compression_type: str | None
    """'gzip', 'snappy', 'lz4', 'zstd' or None. (default None; Java: compression.type)"""
    compression_level: int | None
    """Level of the codec; None: its default. (default None)"""
    retries: float | None
    """How often a batch is sent again, within the delivery timeout. (default inf; Java: retries)"""
    delivery_timeout_ms: float | None
    """How long a record may take until it is acknowledged or fails. (in milliseconds; default 120000; Java:
    delivery.timeout.ms)"""
    batch_size: int | None
    """Size that a batch of a partition is filled up to. (in bytes; default 16384; Java: batch.size)"""
    linger_ms: float | None
    """How long a batch waits for more records. (in milliseconds; default 0; Java: linger.ms)"""
    partitioner: Any
    """Picks a partition; None: by murmur2 of the key, as Kafka's Java client. (default None; Java:
    partitioner.class)"""
    partitioner_adaptive_partitioning_enable: bool | None
    """Whether records without a key go the rarer to a partition, the more batches wait for it (KIP-794). (default
    False; Java: partitioner.adaptive.partitioning.enable)"""
    partitioner_availability_timeout_ms: float | None
    """Records without a key avoid partitions whose broker takes nothing for so long; 0: they do not (KIP-794). (in
    milliseconds; default 0; Java: partitioner.availability.timeout.ms)"""
    partitioner_ignore_keys: bool | None
    """Whether keys have no say in the choice of partitions (KIP-794). (default False; Java:
    partitioner.ignore.keys)"""
    buffer_memory: int | None
    """Memory for records that are not sent yet. (in bytes; default 33554432; Java: buffer.memory)"""
    max_block_ms: float | None
    """How long send() waits for metadata or memory; 0: not at all. (in milliseconds; default 60000; Java:
    max.block.ms)"""
    metadata_max_idle_ms: float | None
    """A topic that nothing is sent to for so long is asked about no more. (in milliseconds; default 300000; Java:
    metadata.max.idle.ms)"""
    max_request_size: int | None
    """The largest request, and record, sent. (in bytes; default 1048576; Java: max.request.size)"""
    interceptor_classes: Sequence[Any] | None
    """Classes, or objects, that see every record: ProducerInterceptor or ConsumerInterceptor (kafka.interceptor).
    (default []; Java: interceptor.classes)"""
    transactional_id: str | None
    """Name under which the producer has transactions: one producer at a time has it (KIP-98). (default None; Java:
    transactional.id)"""
    transaction_timeout_ms: int | None
    """How long a transaction may take before it is aborted. (in milliseconds; default 60000; Java:
    transaction.timeout.ms)"""


class ConsumerConfigs(CommonConfigs, total=False):
    """Options of a consumer."""

    interceptor_classes: Sequence[Any] | None
    """Classes, or objects, that see every record: ProducerInterceptor or ConsumerInterceptor (kafka.interceptor).
    (default []; Java: interceptor.classes)"""
    fetch_min_bytes: int | None
    """Bytes a broker gathers before it answers. (in bytes; default 1; Java: fetch.min.bytes)"""
    fetch_max_wait_ms: int | None
    """How long a broker gathers them. (in milliseconds; default 500; Java: fetch.max.wait.ms)"""
    fetch_max_bytes: int | None
    """Bytes in one answer, about. (in bytes; default 52428800; Java: fetch.max.bytes)"""
    max_partition_fetch_bytes: int | None
    """Bytes of one partition in one answer, about. (in bytes; default 1048576; Java: max.partition.fetch.bytes)"""
    check_crcs: bool | None
    """Whether checksums are checked. (default True; Java: check.crcs)"""
    isolation_level: str | None
    """'read_committed' leaves out records of aborted and open transactions. (default 'read_uncommitted'; Java:
    isolation.level)"""
    auto_offset_reset: str | None
    """Where to start without a valid position: 'earliest', 'latest', 'by_duration:PT1H' and the like (an ISO 8601
    duration before now, KIP-1106), or 'none' or None: raise. (default 'latest'; Java: auto.offset.reset)"""
    auto_offset_reset_new_partitions: str | None
    """Where to start, without a committed offset, in partitions that are added and topics that are created after
    the consumer first saw its topics: as `auto_offset_reset`; 'earliest' loses nothing that was written before the
    consumer noticed them. None: as `auto_offset_reset` says (KIP-1327). (default None; Java:
    auto.offset.reset.new.partitions)"""
    on_topic_recreated: str | None
    """What to do when a topic is deleted and created again while it is read: 'reset' reads the new topic from its
    beginning, 'continue' keeps the positions where the new topic has them, 'raise' has poll() raise a
    `TopicRecreatedError` once, then does as 'reset'. None: 'reset', or 'raise' with auto_offset_reset='none'.
    (default None)"""
    enable_incremental_fetch_sessions: bool | None
    """Whether fetches name only what has changed (KIP-227). (default True)"""
    client_rack: str | None
    """The rack this client is in (KIP-392). (default ''; Java: client.rack)"""
    max_decompressed_batch_bytes: int | None
    """Bytes that one batch may have once decompressed; None: 64 MiB, or 16 times max_partition_fetch_bytes. (in
    bytes; default None)"""
    group_id: str | None
    """The group; None: no group, no commits. (default None; Java: group.id)"""
    group_instance_id: str | None
    """Makes this a static member (KIP-345). (default None; Java: group.instance.id)"""
    enable_auto_commit: bool | None
    """Whether positions are committed in the background. (default True; Java: enable.auto.commit)"""
    auto_commit_interval_ms: int | None
    """How often they are; 0: ten times a second. (in milliseconds; default 5000; Java: auto.commit.interval.ms)"""
    default_offset_commit_callback: Callable[..., Any] | None
    """Called as (offsets, response or error) after a commit_async() without a callback. (default None)"""
    group_protocol: str | None
    """How members and coordinator talk: 'classic', or 'consumer' (KIP-848), for brokers from 4.0 on. (default
    'classic'; Java: group.protocol)"""
    group_remote_assignor: str | None
    """The coordinator's assignor, 'uniform' or 'range', with group_protocol 'consumer'; None: the broker's choice.
    (default None; Java: group.remote.assignor)"""
    partition_assignment_strategy: Any
    """Assignors (classes, objects or names such as 'range') in order of preference. (default None; Java:
    partition.assignment.strategy)"""
    session_timeout_ms: int | None
    """After how long without a heartbeat a member counts as dead. (in milliseconds; default 10000; Java:
    session.timeout.ms)"""
    heartbeat_interval_ms: int | None
    """How often a member shows that it lives. (in milliseconds; default 3000; Java: heartbeat.interval.ms)"""
    max_poll_interval_ms: int | None
    """How long may pass between two calls of poll(). (in milliseconds; default 300000; Java:
    max.poll.interval.ms)"""
    exclude_internal_topics: bool | None
    """Whether a pattern leaves out internal topics. (default True; Java: exclude.internal.topics)"""
    key_deserializer: Any
    """Turns the bytes of a key into an object. (default None; Java: key.deserializer)"""
    value_deserializer: Any
    """Turns the bytes of a value into an object. (default None; Java: value.deserializer)"""
    on_deserialization_error: str | Callable[[Any], Any] | None
    """What to do with a record whose key or value cannot be deserialized: 'raise', 'skip' (with a warning), or a
    function that takes the `RecordDeserializationError` and returns the record to hand out instead, or None. Its
    `record` has key and value as they were, in bytes; for dead letters see [DELIVERY.md](DELIVERY.md). (default
    'raise')"""
    max_poll_records: int | None
    """Most records that one poll() gives. (default 500; Java: max.poll.records)"""
    consumer_timeout_ms: float | None
    """How long iteration waits for a record before it ends. (in milliseconds; default inf)"""
    default_api_timeout_ms: int | None
    """How long a call without a timeout of its own may block. Where only `request_timeout_ms` is given, offsets are
    looked up for as long as that says, as in kafka-python. (in milliseconds; default 60000; Java:
    default.api.timeout.ms)"""
    metric_group_prefix: str | None
    """Prefix of the names of metric groups. (default 'consumer')"""
    legacy_iterator: Any
    """Accepted for the sake of older programs. It has no effect. (default False)"""


class ShareConfigs(CommonConfigs, total=False):
    """Options of a share consumer."""

    fetch_min_bytes: int | None
    """Bytes a broker gathers before it answers. (in bytes; default 1; Java: fetch.min.bytes)"""
    fetch_max_wait_ms: int | None
    """How long a broker gathers them. (in milliseconds; default 500; Java: fetch.max.wait.ms)"""
    fetch_max_bytes: int | None
    """Bytes in one answer, about. (in bytes; default 52428800; Java: fetch.max.bytes)"""
    check_crcs: bool | None
    """Whether checksums are checked. (default True; Java: check.crcs)"""
    client_rack: str | None
    """The rack this client is in (KIP-392). (default ''; Java: client.rack)"""
    max_decompressed_batch_bytes: int | None
    """Bytes that one batch may have once decompressed; None: 64 MiB, or 16 times max_partition_fetch_bytes. (in
    bytes; default None)"""
    group_id: str | None
    """The group; None: no group, no commits. (default None; Java: group.id)"""
    max_poll_interval_ms: int | None
    """How long may pass between two calls of poll(). (in milliseconds; default 300000; Java:
    max.poll.interval.ms)"""
    key_deserializer: Any
    """Turns the bytes of a key into an object. (default None; Java: key.deserializer)"""
    value_deserializer: Any
    """Turns the bytes of a value into an object. (default None; Java: value.deserializer)"""
    max_poll_records: int | None
    """Most records that one poll() gives. (default 500; Java: max.poll.records)"""
    consumer_timeout_ms: float | None
    """How long iteration waits for a record before it ends. (in milliseconds; default inf)"""
    default_api_timeout_ms: int | None
    """How long a call without a timeout of its own may block. Where only `request_timeout_ms` is given, offsets are
    looked up for as long as that says, as in kafka-python. (in milliseconds; default 60000; Java:
    default.api.timeout.ms)"""
    metric_group_prefix: str | None
    """Prefix of the names of metric groups. (default 'consumer')"""
    share_acknowledgement_mode: str | None
    """'implicit': the next poll() accepts what was handed out; 'explicit': the program acknowledges each record.
    (default 'implicit'; Java: share.acknowledgement.mode)"""
    share_acquire_mode: str | None
    """'batch_optimized': whole batches, so a few more than max_poll_records; 'record_limit': no more (KIP-1206).
    (default 'batch_optimized'; Java: share.acquire.mode)"""
