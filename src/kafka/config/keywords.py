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
    """Bootstrap brokers, as 'host:port' or a list of them. (default 'localhost:9092'; Java: bootstrap.servers)"""
    client_id: str | None
    """Name of this client in broker logs and quotas. (default 'kafka-python-3.0.12'; Java: client.id)"""
    api_version: tuple[int, ...] | str | None
    """Version of the brokers; None detects it. Required for brokers older than 0.10. (default None)"""
    request_timeout_ms: int | None
    """Maximum time to wait for the response to a request. (in milliseconds; default 30000; Java:
    request.timeout.ms)"""
    bootstrap_timeout_ms: int | None
    """Maximum time to find the first broker. (in milliseconds; default 30000)"""
    api_version_auto_timeout_ms: int | None
    """Maximum time to find the first broker if every server refuses connections; None: bootstrap_timeout_ms. (in
    milliseconds; default None)"""
    socket_connection_setup_timeout_ms: int | None
    """Maximum time to set up a connection. (in milliseconds; default 10000; Java:
    socket.connection.setup.timeout.ms)"""
    retry_backoff_ms: int | None
    """Initial delay before a retry. (in milliseconds; default 100; Java: retry.backoff.ms)"""
    retry_backoff_max_ms: int | None
    """Maximum delay between retries. (in milliseconds; default 1000; Java: retry.backoff.max.ms)"""
    reconnect_backoff_ms: int | None
    """Initial delay before reconnecting to a broker. (in milliseconds; default 50; Java: reconnect.backoff.ms)"""
    reconnect_backoff_max_ms: int | None
    """Maximum delay before reconnecting to a broker. (in milliseconds; default 30000; Java:
    reconnect.backoff.max.ms)"""
    max_in_flight_requests_per_connection: int | None
    """Maximum number of unanswered requests per connection. (default 5; Java:
    max.in.flight.requests.per.connection)"""
    connections_max_idle_ms: int | None
    """Idle time after which a connection is closed. (in milliseconds; default 540000; Java:
    connections.max.idle.ms)"""
    metadata_max_age_ms: int | None
    """Maximum age of metadata before it is refreshed. (in milliseconds; default 300000; Java:
    metadata.max.age.ms)"""
    allow_auto_create_topics: bool | None
    """Whether subscribing or sending to a topic may create it on the broker. (default True; Java:
    allow.auto.create.topics)"""
    receive_message_max_bytes: int | None
    """Maximum size of a response. (in bytes; default 100000000; Java: receive.message.max.bytes)"""
    receive_buffer_bytes: int | None
    """Socket receive buffer (SO_RCVBUF); None or -1: the operating system's default. (in bytes; default None; Java:
    receive.buffer.bytes)"""
    send_buffer_bytes: int | None
    """Socket send buffer (SO_SNDBUF); None or -1: the operating system's default. (in bytes; default None; Java:
    send.buffer.bytes)"""
    socket_options: Sequence[tuple[int, int, int]] | None
    """Arguments for setsockopt() on each socket. (default [(6, 1, 1)])"""
    metrics_enabled: bool | None
    """Whether metrics() and metric reporters receive values. (default True)"""
    metric_reporters: Sequence[Any] | None
    """Classes or objects that are notified of each metric; see AbstractMetricsReporter. (default []; Java:
    metric.reporters)"""
    metrics_num_samples: int | None
    """Number of time windows that metrics are computed from. (default 2; Java: metrics.num.samples)"""
    metrics_sample_window_ms: int | None
    """Length of a metrics time window. (in milliseconds; default 30000; Java: metrics.sample.window.ms)"""
    enable_metrics_push: bool | None
    """Whether to push metrics to brokers that subscribe to them (KIP-714). (default True; Java:
    enable.metrics.push)"""
    selector: Any
    """Accepted for compatibility with older programs. It has no effect. (default None)"""
    kafka_client: Any
    """Accepted for compatibility with older programs. It has no effect. (default None)"""
    sock_chunk_bytes: Any
    """Accepted for compatibility with older programs. It has no effect. (in bytes; default 4096)"""
    sock_chunk_buffer_count: Any
    """Accepted for compatibility with older programs. It has no effect. (default 1000)"""
    bootstrap_topics_filter: Any
    """Accepted for compatibility with older programs. It has no effect. (default ())"""
    client_dns_lookup: Any
    """Accepted for compatibility with older programs. It has no effect. (default 'use_all_dns_ips')"""
    socks5_proxy: str | None
    """URL of a SOCKS5 proxy: 'socks5://user:password@host:port'; with socks5h, the proxy resolves host names."""
    proxy_url: str | None
    """URL of a proxy: socks5, socks5h or http (CONNECT)."""
    sasl_oauth_token_provider: Any
    """Object whose token() returns an OAuth bearer token; replaces the sasl_oauthbearer_ options."""
    sasl_oauthbearer_token_endpoint_url: str | None
    """URL of the token endpoint; a file: URL names a file that contains the token. (Java:
    sasl.oauthbearer.token.endpoint.url)"""
    sasl_oauthbearer_client_credentials_client_id: str | None
    """Client id for the token endpoint. (default None; Java: sasl.oauthbearer.client.credentials.client.id)"""
    sasl_oauthbearer_client_credentials_client_secret: str | None
    """Client secret for the token endpoint. (Java: sasl.oauthbearer.client.credentials.client.secret)"""
    sasl_oauthbearer_scope: str | None
    """Scope to request. (default None; Java: sasl.oauthbearer.scope)"""
    sasl_oauthbearer_header_urlencode: bool | None
    """Whether to URL-encode the client id and secret, as RFC 6749 requires. (default False; Java:
    sasl.oauthbearer.header.urlencode)"""
    sasl_oauthbearer_extensions: Mapping[str, Any] | Sequence[tuple[str, Any]] | str | None
    """SASL extensions to send with the token. (default ())"""
    sasl_oauthbearer_ssl_cafile: str | os.PathLike[str] | None
    """PEM file of trusted certificate authorities for the token endpoint; None: those of the HTTP library. (default
    None)"""
    sasl_oauthbearer_assertion_algorithm: str | None
    """Signature algorithm of the assertion, 'RS256' or 'ES256'. (default 'RS256'; Java:
    sasl.oauthbearer.assertion.algorithm)"""
    sasl_oauthbearer_assertion_private_key_file: str | os.PathLike[str] | None
    """PEM file of the private key that signs assertions; enables the JWT bearer grant (RFC 7523). (default None;
    Java: sasl.oauthbearer.assertion.private.key.file)"""
    sasl_oauthbearer_assertion_private_key_passphrase: str | None
    """Passphrase of the private key. (Java: sasl.oauthbearer.assertion.private.key.passphrase)"""
    sasl_oauthbearer_assertion_file: str | os.PathLike[str] | None
    """File with a ready-made assertion, used instead of a key; read for each token. (default None; Java:
    sasl.oauthbearer.assertion.file)"""
    sasl_oauthbearer_assertion_template_file: str | os.PathLike[str] | None
    """JSON file with additional content of the assertion:  {"header": {...}, "payload": {...}}. (default None;
    Java: sasl.oauthbearer.assertion.template.file)"""
    sasl_oauthbearer_assertion_claim_aud: str | None
    """'aud' claim of the assertion. (default None; Java: sasl.oauthbearer.assertion.claim.aud)"""
    sasl_oauthbearer_assertion_claim_iss: str | None
    """'iss' claim of the assertion. (default None; Java: sasl.oauthbearer.assertion.claim.iss)"""
    sasl_oauthbearer_assertion_claim_sub: str | None
    """'sub' claim of the assertion. (default None; Java: sasl.oauthbearer.assertion.claim.sub)"""
    sasl_oauthbearer_assertion_claim_exp_seconds: int | None
    """Lifetime of an assertion in seconds. (default 300; Java: sasl.oauthbearer.assertion.claim.exp.seconds)"""
    sasl_oauthbearer_assertion_claim_nbf_seconds: int | None
    """Seconds before its creation from which an assertion is valid. (default 60; Java:
    sasl.oauthbearer.assertion.claim.nbf.seconds)"""
    sasl_oauthbearer_assertion_claim_jti_include: bool | None
    """Whether to include a unique 'jti' claim in an assertion. (default False; Java:
    sasl.oauthbearer.assertion.claim.jti.include)"""
    sasl_oauthbearer_unsecured_claims: Mapping[str, Any] | Sequence[tuple[str, Any]] | str | None
    """Claims of unsigned tokens, for test brokers; if 'exp' is missing, tokens are valid for an hour. (default
    ())"""
    sasl_mechanism: str | None
    """'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER', 'GSSAPI' or 'AWS_MSK_IAM'. (default None; Java:
    sasl.mechanism)"""
    sasl_plain_username: str | None
    """User name for PLAIN and SCRAM. (default None)"""
    sasl_plain_password: str | None
    """Password for PLAIN and SCRAM."""
    sasl_scram_tokenauth: bool | None
    """Whether user name and password are the id and HMAC of a delegation token (KIP-48)."""
    sasl_kerberos_service_name: str | None
    """Service name in the brokers' Kerberos principal. (default 'kafka'; Java: sasl.kerberos.service.name)"""
    sasl_kerberos_domain_name: str | None
    """Host name in the brokers' Kerberos principal; None: the host of the connection. (default None)"""
    sasl_kerberos_name: Any
    """The brokers' full Kerberos name, as text or a gssapi.Name; replaces the two options above. (default None)"""
    sasl_kerberos_principal: str | None
    """Kerberos principal of the client; None: from the ticket cache or keytab. (default None)"""
    sasl_kerberos_keytab: str | os.PathLike[str] | None
    """Kerberos keytab of the client; None: KRB5_CLIENT_KTNAME, or a ticket cache. (default None)"""
    sasl_kerberos_ccache: str | None
    """Kerberos ticket cache, such as 'FILE:/tmp/krb5cc_0'; None: KRB5CCNAME, or the default cache. (default
    None)"""
    sasl_msk_iam_region: str | None
    """AWS region of the brokers; None: from their host names or the AWS configuration. (default None)"""
    sasl_msk_iam_profile: str | None
    """Profile of the AWS configuration. (default None)"""
    sasl_msk_iam_role_arn: str | None
    """ARN of an AWS role to assume. (default None)"""
    sasl_msk_iam_role_session_name: str | None
    """Session name for the assumed role. (default 'kafka-columnar')"""
    sasl_msk_iam_role_external_id: str | None
    """External id for assuming the role. (default None)"""
    sasl_msk_iam_sts_region: str | None
    """AWS region of the STS endpoint; None: the region of the brokers. (default None)"""
    sasl_login_connect_timeout_ms: int | None
    """Maximum time to connect to the token endpoint. (in milliseconds; default 10000; Java:
    sasl.login.connect.timeout.ms)"""
    sasl_login_read_timeout_ms: int | None
    """Maximum time to wait for the token endpoint's response. (in milliseconds; default 10000; Java:
    sasl.login.read.timeout.ms)"""
    sasl_login_refresh_window_factor: float | None
    """Fraction of a token's lifetime after which it is refreshed. (default 0.8; Java:
    sasl.login.refresh.window.factor)"""
    ssl_context: ssl.SSLContext | None
    """A configured ssl.SSLContext; replaces the other ssl_ options. (default None)"""
    ssl_check_hostname: bool | None
    """Whether the broker's certificate must match its host name. (default True)"""
    ssl_cafile: str | os.PathLike[str] | None
    """PEM file of trusted certificate authorities, or a directory of such files processed by `openssl rehash`;
    None: the system's. (default None)"""
    ssl_certfile: str | os.PathLike[str] | None
    """PEM file of the client's certificate. (default None)"""
    ssl_keyfile: str | os.PathLike[str] | None
    """PEM file of the client's private key. (default None)"""
    ssl_password: str | bytes | Callable[[], str | bytes] | None
    """Password of the private key, or a function that returns it; the function is called in a separate thread.
    (Java: ssl.key.password)"""
    ssl_crlfile: str | os.PathLike[str] | None
    """PEM file with a certificate revocation list. (default None)"""
    ssl_ciphers: str | None
    """TLS 1.2 ciphers to offer, in OpenSSL's notation. (default None)"""
    ssl_enabled_protocols: str | Sequence[str] | None
    """TLS versions to offer. (default 'TLSv1.2,TLSv1.3'; Java: ssl.enabled.protocols)"""
    ssl_truststore_location: str | os.PathLike[str] | None
    """Trust store: a Java key store (JKS or PKCS#12) or a PEM file. (default None; Java:
    ssl.truststore.location)"""
    ssl_truststore_password: str | None
    """Password of the trust store. (Java: ssl.truststore.password)"""
    ssl_truststore_type: str | None
    """Type of the trust store, 'JKS', 'PKCS12' or 'PEM'; None: detected from the file. (default None; Java:
    ssl.truststore.type)"""
    ssl_truststore_certificates: str | None
    """Trusted certificate authorities, as PEM text. (default None; Java: ssl.truststore.certificates)"""
    ssl_keystore_location: str | os.PathLike[str] | None
    """Key store with the client's private key and certificate chain: a Java key store (JKS or PKCS#12) or a PEM
    file. (default None; Java: ssl.keystore.location)"""
    ssl_keystore_password: str | None
    """Password of the key store. (Java: ssl.keystore.password)"""
    ssl_keystore_type: str | None
    """Type of the key store, 'JKS', 'PKCS12' or 'PEM'; None: detected from the file. (default None; Java:
    ssl.keystore.type)"""
    ssl_keystore_certificate_chain: str | None
    """The client's certificate chain, as PEM text. (default None; Java: ssl.keystore.certificate.chain)"""
    ssl_keystore_key: str | None
    """The client's private key (PKCS#8), as PEM text. (Java: ssl.keystore.key)"""
    security_protocol: str | None
    """Protocol for connections to brokers: 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'. (default
    'PLAINTEXT'; Java: security.protocol)"""


class AdminConfigs(CommonConfigs, total=False):
    """Options of an admin client."""


class ProducerConfigs(CommonConfigs, total=False):
    """Options of a producer."""

    key_serializer: Any
    """Converts a key to bytes. (default None; Java: key.serializer)"""
    value_serializer: Any
    """Converts a value to bytes. (default None; Java: value.serializer)"""
    acks: str | int | None
    """Required acknowledgements: 0 none, 1 the leader's, 'all' those of all in-sync replicas. (default 'all'; Java:
    acks)"""
    enable_idempotence: bool | None
    """Whether to prevent duplicates caused by retries (KIP-98); None: if acks='all' and the cluster supports it.
    (default None; Java: enable.idempotence)"""
    compression_type: str | None
    """Compression codec: 'gzip', 'snappy', 'lz4', 'zstd' or None. (default None; Java: compression.type)"""
    compression_level: int | None
    """Compression level: 1 to 9 for gzip, 1 to 17 for lz4, -131072 to 22 for zstd; None: the codec's default.
    (default None)"""
    retries: float | None
    """Maximum number of retries of a batch within the delivery timeout. (default inf; Java: retries)"""
    delivery_timeout_ms: float | None
    """Maximum time until a record is acknowledged or fails. (in milliseconds; default 120000; Java:
    delivery.timeout.ms)"""
    batch_size: int | None
    """Maximum size of a batch of records for one partition. (in bytes; default 16384; Java: batch.size)"""
    linger_ms: float | None
    """Time a batch waits for more records. (in milliseconds; default 0; Java: linger.ms)"""
    partitioner: Any
    """Chooses the partition of a record; None: murmur2 hash of the key, as in Kafka's Java client. (default None;
    Java: partitioner.class)"""
    partitioner_adaptive_partitioning_enable: bool | None
    """Whether to send fewer records without a key to partitions with many waiting batches (KIP-794). (default
    False; Java: partitioner.adaptive.partitioning.enable)"""
    partitioner_availability_timeout_ms: float | None
    """Time after which records without a key avoid partitions whose broker accepts nothing; 0 disables this
    (KIP-794). (in milliseconds; default 0; Java: partitioner.availability.timeout.ms)"""
    partitioner_ignore_keys: bool | None
    """Whether to ignore keys when choosing partitions (KIP-794). (default False; Java: partitioner.ignore.keys)"""
    buffer_memory: int | None
    """Maximum memory for unsent records. (in bytes; default 33554432; Java: buffer.memory)"""
    max_block_ms: float | None
    """Maximum time send() waits for metadata or memory; 0: do not wait. (in milliseconds; default 60000; Java:
    max.block.ms)"""
    metadata_max_idle_ms: float | None
    """Time without a record after which a topic's metadata is no longer requested. (in milliseconds; default
    300000; Java: metadata.max.idle.ms)"""
    max_request_size: int | None
    """Maximum size of a request or a record. (in bytes; default 1048576; Java: max.request.size)"""
    interceptor_classes: Sequence[Any] | None
    """Classes or objects that intercept every record: ProducerInterceptor or ConsumerInterceptor
    (kafka.interceptor). (default []; Java: interceptor.classes)"""
    transactional_id: str | None
    """Transactional id, which only one producer may use at a time (KIP-98). (default None; Java:
    transactional.id)"""
    transaction_timeout_ms: int | None
    """Time after which the coordinator aborts an open transaction. (in milliseconds; default 60000; Java:
    transaction.timeout.ms)"""


class ConsumerConfigs(CommonConfigs, total=False):
    """Options of a consumer."""

    interceptor_classes: Sequence[Any] | None
    """Classes or objects that intercept every record: ProducerInterceptor or ConsumerInterceptor
    (kafka.interceptor). (default []; Java: interceptor.classes)"""
    fetch_min_bytes: int | None
    """Minimum amount of data that a broker collects before it answers a fetch. (in bytes; default 1; Java:
    fetch.min.bytes)"""
    fetch_max_wait_ms: int | None
    """Maximum time a broker waits for fetch_min_bytes. (in milliseconds; default 500; Java: fetch.max.wait.ms)"""
    fetch_max_bytes: int | None
    """Approximate maximum size of a fetch response. (in bytes; default 52428800; Java: fetch.max.bytes)"""
    max_partition_fetch_bytes: int | None
    """Approximate maximum size of one partition's data in a fetch response. (in bytes; default 1048576; Java:
    max.partition.fetch.bytes)"""
    check_crcs: bool | None
    """Whether to verify checksums of batches. (default True; Java: check.crcs)"""
    isolation_level: str | None
    """'read_committed' skips records of aborted and open transactions. (default 'read_uncommitted'; Java:
    isolation.level)"""
    auto_offset_reset: str | None
    """Where to start without a valid position: 'earliest', 'latest', or an ISO 8601 duration before now such as
    'by_duration:PT1H' (KIP-1106). 'none' or None raises an error. (default 'latest'; Java: auto.offset.reset)"""
    auto_offset_reset_new_partitions: str | None
    """Where to start, without a committed offset, in partitions and topics created after the consumer first saw its
    topics. Takes the same values as `auto_offset_reset`; 'earliest' includes records written before the consumer
    noticed the partitions. None: `auto_offset_reset` (KIP-1327). (default None; Java:
    auto.offset.reset.new.partitions)"""
    on_topic_recreated: str | None
    """What to do if a topic is deleted and recreated while it is being read: 'reset' reads the new topic from its
    beginning, 'continue' keeps positions that are valid in the new topic, and 'raise' makes poll() raise a
    `TopicRecreatedError` once and then resets. None: 'reset', or 'raise' with auto_offset_reset='none'. (default
    None)"""
    enable_incremental_fetch_sessions: bool | None
    """Whether to use incremental fetch sessions, in which requests contain only changes (KIP-227). (default
    True)"""
    client_rack: str | None
    """Rack of this client, for fetching from the closest replica (KIP-392). (default ''; Java: client.rack)"""
    max_decompressed_batch_bytes: int | None
    """Maximum size of a batch after decompression; None: 64 MiB or 16 times max_partition_fetch_bytes, whichever is
    larger. (in bytes; default None)"""
    group_id: str | None
    """Consumer group; None: no group and no commits. (default None; Java: group.id)"""
    group_instance_id: str | None
    """Id that makes this a static member (KIP-345). (default None; Java: group.instance.id)"""
    enable_auto_commit: bool | None
    """Whether to commit positions periodically in the background. (default True; Java: enable.auto.commit)"""
    auto_commit_interval_ms: int | None
    """Interval between automatic commits; 0: ten per second. (in milliseconds; default 5000; Java:
    auto.commit.interval.ms)"""
    default_offset_commit_callback: Callable[..., Any] | None
    """Called with (offsets, response or error) after a commit_async() without its own callback. (default None)"""
    group_protocol: str | None
    """Group protocol: 'classic', or 'consumer' (KIP-848) for brokers from 4.0. (default 'classic'; Java:
    group.protocol)"""
    group_remote_assignor: str | None
    """Broker-side assignor, 'uniform' or 'range', with group_protocol 'consumer'; None: the broker's default.
    (default None; Java: group.remote.assignor)"""
    partition_assignment_strategy: Any
    """Assignors (classes, objects or names such as 'range') in order of preference. (default None; Java:
    partition.assignment.strategy)"""
    session_timeout_ms: int | None
    """Time without a heartbeat after which the coordinator removes a member. (in milliseconds; default 10000; Java:
    session.timeout.ms)"""
    heartbeat_interval_ms: int | None
    """Interval between heartbeats. (in milliseconds; default 3000; Java: heartbeat.interval.ms)"""
    max_poll_interval_ms: int | None
    """Maximum time between calls of poll(). (in milliseconds; default 300000; Java: max.poll.interval.ms)"""
    exclude_internal_topics: bool | None
    """Whether a subscribed pattern excludes internal topics. (default True; Java: exclude.internal.topics)"""
    key_deserializer: Any
    """Converts the bytes of a key to an object. (default None; Java: key.deserializer)"""
    value_deserializer: Any
    """Converts the bytes of a value to an object. (default None; Java: value.deserializer)"""
    on_deserialization_error: str | Callable[[Any], Any] | None
    """What to do with a record whose key or value cannot be deserialized: 'raise', 'skip' (with a warning), or a
    function that takes the `RecordDeserializationError` and returns a replacement record or None. The error's
    `record` contains the original bytes; for dead letters see [DELIVERY.md](DELIVERY.md). (default 'raise')"""
    max_poll_records: int | None
    """Maximum number of records returned by one poll(). (default 500; Java: max.poll.records)"""
    consumer_timeout_ms: float | None
    """Time without a record after which iteration ends. (in milliseconds; default inf)"""
    default_api_timeout_ms: int | None
    """Maximum time a call without its own timeout may block. If only `request_timeout_ms` is set, it also limits
    offset lookups, as in kafka-python. (in milliseconds; default 60000; Java: default.api.timeout.ms)"""
    metric_group_prefix: str | None
    """Prefix of metric group names. (default 'consumer')"""
    legacy_iterator: Any
    """Accepted for compatibility with older programs. It has no effect. (default False)"""


class ShareConfigs(CommonConfigs, total=False):
    """Options of a share consumer."""

    fetch_min_bytes: int | None
    """Minimum amount of data that a broker collects before it answers a fetch. (in bytes; default 1; Java:
    fetch.min.bytes)"""
    fetch_max_wait_ms: int | None
    """Maximum time a broker waits for fetch_min_bytes. (in milliseconds; default 500; Java: fetch.max.wait.ms)"""
    fetch_max_bytes: int | None
    """Approximate maximum size of a fetch response. (in bytes; default 52428800; Java: fetch.max.bytes)"""
    check_crcs: bool | None
    """Whether to verify checksums of batches. (default True; Java: check.crcs)"""
    client_rack: str | None
    """Rack of this client, for fetching from the closest replica (KIP-392). (default ''; Java: client.rack)"""
    max_decompressed_batch_bytes: int | None
    """Maximum size of a batch after decompression; None: 64 MiB or 16 times max_partition_fetch_bytes, whichever is
    larger. (in bytes; default None)"""
    group_id: str | None
    """Consumer group; None: no group and no commits. (default None; Java: group.id)"""
    max_poll_interval_ms: int | None
    """Maximum time between calls of poll(). (in milliseconds; default 300000; Java: max.poll.interval.ms)"""
    key_deserializer: Any
    """Converts the bytes of a key to an object. (default None; Java: key.deserializer)"""
    value_deserializer: Any
    """Converts the bytes of a value to an object. (default None; Java: value.deserializer)"""
    max_poll_records: int | None
    """Maximum number of records returned by one poll(). (default 500; Java: max.poll.records)"""
    consumer_timeout_ms: float | None
    """Time without a record after which iteration ends. (in milliseconds; default inf)"""
    default_api_timeout_ms: int | None
    """Maximum time a call without its own timeout may block. If only `request_timeout_ms` is set, it also limits
    offset lookups, as in kafka-python. (in milliseconds; default 60000; Java: default.api.timeout.ms)"""
    metric_group_prefix: str | None
    """Prefix of metric group names. (default 'consumer')"""
    share_acknowledgement_mode: str | None
    """'implicit': the next poll() accepts the records returned before; 'explicit': the program acknowledges each
    record. (default 'implicit'; Java: share.acknowledgement.mode)"""
    share_acquire_mode: str | None
    """'batch_optimized': whole batches, so possibly slightly more than max_poll_records; 'record_limit': never more
    (KIP-1206). (default 'batch_optimized'; Java: share.acquire.mode)"""
