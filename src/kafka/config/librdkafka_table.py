"""Lists librdkafka settings that Kafka's Java clients lack or define differently, and how each of them is treated."""

from typing import Final

RENAMED: Final = {
    "metadata.broker.list": "bootstrap.servers",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "queue.buffering.max.ms": "linger.ms",
    "message.send.max.retries": "retries",
    "request.required.acks": "acks",
    "compression.codec": "compression.type",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "message.max.bytes": "max.request.size",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.oauthbearer.assertion.jwt.template.file": "sasl.oauthbearer.assertion.template.file",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
}
"""Settings that have another name in Java."""

CONVERTED: Final = (
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "compression.level",
    "connections.max.idle.ms",
    "delivery.timeout.ms",
    "key.deserializer",
    "key.serializer",
    "message.timeout.ms",
    "partition.assignment.strategy",
    "partitioner",
    "queue.buffering.max.kbytes",
    "request.timeout.ms",
    "socket.keepalive.enable",
    "socket.nagle.disable",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
    "socket.timeout.ms",
    "ssl.ca.location",
    "ssl.cipher.suites",
    "topic.metadata.refresh.interval.ms",
    "value.deserializer",
    "value.serializer",
)
"""Settings whose unit, values or meaning differ in Java; `kafka.config.librdkafka` converts them."""

IDLE: Final = frozenset(
    {
        "api.version.fallback.ms",
        "api.version.request",
        "api.version.request.timeout.ms",
        "batch.num.messages",
        "broker.address.family",
        "broker.address.ttl",
        "broker.version.fallback",
        "builtin.features",
        "client.software.name",
        "client.software.version",
        "consume.callback.max.messages",
        "coordinator.query.interval.ms",
        "debug",
        "delivery.report.only.error",
        "enable.random.seed",
        "enable.sparse.connections",
        "enabled_events",
        "fetch.error.backoff.ms",
        "fetch.queue.backoff.ms",
        "group.protocol.type",
        "internal.termination.signal",
        "log.connection.close",
        "log.queue",
        "log.thread.name",
        "log_level",
        "logger",
        "message.copy.max.bytes",
        "metadata.request.timeout.ms",
        "offset.store.path",
        "offset.store.sync.interval.ms",
        "opaque",
        "produce.offset.report",
        "queue.buffering.backpressure.threshold",
        "queue.buffering.max.messages",
        "queued.max.messages.kbytes",
        "queued.min.messages",
        "reconnect.backoff.jitter.ms",
        "socket.blocking.max.ms",
        "socket.max.fails",
        "ssl.ca.certificate.stores",
        "statistics.interval.ms",
        "sticky.partitioning.linger.ms",
        "topic.metadata.propagation.max.ms",
        "topic.metadata.refresh.fast.cnt",
        "topic.metadata.refresh.fast.interval.ms",
        "topic.metadata.refresh.sparse",
    }
)
"""Settings for librdkafka's internals or its logging, which have no equivalent here."""

_IN_A_CONTEXT = "create an ssl.SSLContext and pass it as 'ssl_context'"

REFUSED: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "auto.commit.enable": (("true",), "use 'enable.auto.commit'"),
    "consume_cb": ((), "call poll() or iterate over the consumer"),
    "dr_cb": ((), "use send(...).add_callback() and add_errback()"),
    "dr_msg_cb": ((), "use send(...).add_callback() and add_errback()"),
    "enable.auto.offset.store": (
        ("true",),
        "there is no store_offsets(): set 'enable.auto.commit' to false, and commit(offsets) of processed records",
    ),
    "enable.gapless.guarantee": (
        ("false",),
        "a failed record fails its future and later ones are still sent; see flush()",
    ),
    "enable.partition.eof": (
        ("false",),
        "compare position() with end_offsets(), or use kafka.read(), which stops at the current end",
    ),
    "enable.sasl.oauthbearer.unsecure.jwt": (("false",), "use 'sasl_oauthbearer_unsecured_claims'"),
    "enable.ssl.certificate.verification": (("true",), _IN_A_CONTEXT),
    "error_cb": ((), "errors are raised and logged, and health() shows what fails"),
    "https.ca.pem": ((), "use a file, as 'https.ca.location'"),
    "interceptors": ((), "pass Python objects as the keyword argument 'interceptor_classes'"),
    "log_cb": ((), "logs go to Python's logging, under 'kafka'"),
    "oauth_cb": ((), "pass an object with a method token() as 'sasl_oauth_token_provider'"),
    "oauthbearer_token_refresh_cb": ((), "pass an object with a method token() as 'sasl_oauth_token_provider'"),
    "offset.store.method": (("broker",), "offsets are committed only to brokers"),
    "offset_commit_cb": ((), "use commit_async(callback=...)"),
    "on_commit": ((), "use commit_async(callback=...)"),
    "on_delivery": ((), "use send(...).add_callback() and add_errback()"),
    "partitioner_cb": ((), "pass a function of (key, all_partitions, available) as the keyword argument 'partitioner'"),
    "plugin.library.paths": ((), "its plug-ins are C libraries"),
    "queuing.strategy": (("fifo",), "records of a partition are always sent in order"),
    "rebalance_cb": ((), "pass a listener to subscribe()"),
    "sasl.oauthbearer.assertion.private.key.pem": ((), "use a file, as 'sasl.oauthbearer.assertion.private.key.file'"),
    "sasl.oauthbearer.config": ((), "use 'sasl_oauthbearer_unsecured_claims' or 'sasl_oauth_token_provider'"),
    "sasl.oauthbearer.grant.type": (
        ("client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        "'sasl.oauthbearer.assertion.*' requests a token with an assertion",
    ),
    "sasl.oauthbearer.metadata.authentication.type": (("none",), "use 'sasl_oauth_token_provider'"),
    "sasl.oauthbearer.method": (("oidc", "default"), "use 'sasl.oauthbearer.token.endpoint.url'"),
    "ssl.certificate.verify_cb": ((), _IN_A_CONTEXT),
    "ssl.curves.list": ((), _IN_A_CONTEXT),
    "ssl.engine.id": ((), _IN_A_CONTEXT),
    "ssl.engine.location": ((), _IN_A_CONTEXT),
    "ssl.providers": ((), _IN_A_CONTEXT),
    "ssl.sigalgs.list": ((), _IN_A_CONTEXT),
    "stats_cb": ((), "call metrics() or health(), or set 'metric_reporters'"),
    "throttle_cb": ((), "metrics() shows how long brokers throttle"),
    "topic.blacklist": ((), "subscribe() to a pattern that excludes those topics"),
}
"""Settings that cannot be ignored without changing the result.

Each has the values that match this client's behaviour, and the alternative to other values.
"""

OWN: Final = frozenset({*RENAMED, *CONVERTED, *IDLE, *REFUSED, "default.topic.config"})
"""All settings that do not exist in Java or differ there."""

_IN_JAVA: Final = {
    **RENAMED,
    "message.timeout.ms": "delivery.timeout.ms",
    "queue.buffering.max.kbytes": "buffer.memory",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.timeout.ms": "request.timeout.ms",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
}


def whose(name: str) -> str:
    """Return a hint for a name that librdkafka knows but Java's clients do not, or ""."""
    if name not in OWN:
        return ""
    java = f" (in Java {_IN_JAVA[name]!r})" if name in _IN_JAVA else ""
    return f": it is a setting of librdkafka{java}; convert its settings with kafka.config.from_librdkafka_names()"
