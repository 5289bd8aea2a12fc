"""Converts properties of Kafka's Java clients, and librdkafka's names for them, to keyword arguments.

The end of the module lists the equivalents of Java classes that properties refer to.
"""

import enum
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

from kafka._compression import Compression
from kafka.config.librdkafka_table import whose
from kafka.config.option import Option, nearest, path
from kafka.config.secrecy import shown, shown_name, shown_number
from kafka.config.table import is_given, option_table
from kafka.errors import KafkaConfigurationError

log = logging.getLogger(__name__)

_ALIASES = {
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.kerberos.keytab": "sasl_kerberos_keytab",
    "sasl.kerberos.principal": "sasl_kerberos_principal",
    "sasl.oauthbearer.client.id": "sasl_oauthbearer_client_credentials_client_id",
    "sasl.oauthbearer.client.secret": "sasl_oauthbearer_client_credentials_client_secret",
    "sasl.oauthbearer.extensions": "sasl_oauthbearer_extensions",
    "https.ca.location": "sasl_oauthbearer_ssl_cafile",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.crl.location": "ssl_crlfile",
}
"""librdkafka's names that differ from Java's."""

_WITHOUT_MEANING = frozenset(
    {
        "auto.include.jmx.reporter",
        "client.dns.lookup",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metrics.recording.level",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.min.time.before.relogin",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.login.refresh.buffer.seconds",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.window.jitter",
        "sasl.login.retry.backoff.max.ms",
        "sasl.login.retry.backoff.ms",
        "sasl.oauthbearer.clock.skew.seconds",
        "sasl.oauthbearer.expected.audience",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.jwt.validator.class",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
        "security.providers",
        "socket.connection.setup.timeout.max.ms",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
    }
)
"""Properties for Java's internals or for brokers, and properties that do not apply to how these clients work."""

_ONLY: dict[str, tuple[tuple[str, ...], str]] = {
    "config.providers": ((), "the values themselves; ${...} is not expanded here"),
    "interceptor.classes": ((), "Python classes or objects as the keyword argument 'interceptor_classes'"),
    "metric.reporters": (("JmxReporter",), "Python objects as the keyword argument 'metric_reporters'"),
    "partitioner.class": (("DefaultPartitioner",), "a Python function as the keyword argument 'partitioner'"),
    "sasl.client.callback.handler.class": (("IAMClientCallbackHandler",), "the credentials as options"),
    "sasl.login.callback.handler.class": (
        ("OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler"),
        "the credentials as options, or 'sasl_oauth_token_provider'",
    ),
    "sasl.login.class": (("DefaultLogin",), "the credentials as options"),
    "sasl.oauthbearer.jwt.retriever.class": (
        ("DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "JwtBearerJwtRetriever", "FileJwtRetriever"),
        "'sasl_oauth_token_provider'",
    ),
    "ssl.engine.factory.class": (("DefaultSslEngineFactory",), "a configured context as 'ssl_context'"),
}
"""Properties whose values are class names: the accepted classes, which are built in, and the alternative to others."""

_REFUSED = {
    "bootstrap.controllers": "clients connect only to brokers here: use 'bootstrap.servers'",
    "transaction.two.phase.commit.enable": "two-phase commit works differently here; see docs/TRANSACTIONS.md",
}
"""Properties that cannot be ignored without changing the result, unless the value is "false"."""

_BLANK = "".join(map(chr, range(0x21)))
"""The characters that Java's `String.trim` removes."""
_LEVELS = {f"compression.{codec.option}.level": codec.option for codec in Compression if codec.levels}
"""Maps each property to the codec whose compression level it sets."""


def _check_hostname(name: str, value: str) -> dict[str, Any]:
    if value.strip().lower() not in ("", "https", "none"):
        raise KafkaConfigurationError(f"option {name!r} expects 'https', or an empty value for no check, not {value!r}")
    return {"ssl_check_hostname": value.strip().lower() == "https"}


def _ciphers(name: str, value: str) -> dict[str, Any]:
    """Translate Java's cipher names to OpenSSL's. All TLS 1.3 ciphers are offered, because `ssl` cannot select them."""
    found = []
    for each in value.split(","):
        java = each.strip().removeprefix("TLS_")
        if "_WITH_" in java:
            exchange, _, rest = java.partition("_WITH_")
            rest = rest.replace("AES_", "AES").replace("_CBC", "").replace("POLY1305_SHA256", "POLY1305")
            found.append(("" if exchange == "RSA" else f"{exchange}-") + rest)
        elif java and not java.startswith(("AES_", "CHACHA20_")):
            raise KafkaConfigurationError(f"option {name!r} expects names such as TLS_AES_128_GCM_SHA256, not {each!r}")
    return {"ssl_ciphers": ":".join(found).replace("_", "-")} if found else {}


_SPECIAL: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "ssl.endpoint.identification.algorithm": _check_hostname,
    "ssl.cipher.suites": _ciphers,
    "partition.assignment.strategy": lambda name, value: {"partition_assignment_strategy": assignors(name, value)},
    **{
        f"{part}.{kind}": (lambda name, value: {name.replace(".", "_"): conversion(name, value)})
        for part in ("key", "value")
        for kind in ("serializer", "deserializer")
    },
}
"""Properties whose text has to be converted to another form, with the function that does so."""


def java_names(client: str | None = None) -> dict[str, Option]:
    """Return options by their name in Java's clients or librdkafka, omitting options without one."""
    table = option_table()
    rows = [row for row in table.values() if row.java and (client is None or client in row.clients)]
    return {**{name: table[ours] for name, ours in _ALIASES.items()}, **{row.java: row for row in rows}}


def from_java_names(properties: Mapping[str, Any], client: str | None = None) -> dict[str, Any]:
    """Convert properties of Kafka's Java clients to keyword arguments.

    Arguments:
        properties: names such as ``"fetch.min.bytes"`` and their values. Text is stripped, and converted to numbers and
            booleans. ``sasl.jaas.config`` is converted to the credentials that it contains.
        client: "consumer", "producer", "admin" or "share consumer"; None: accept the names of all of them.

    Properties that have no meaning here, or that belong to another client, are omitted, and one warning lists them.
    Raises `KafkaConfigurationError` for an unknown name, suggesting the nearest known one; for a Java class without an
    equivalent; and for a value that its option does not accept.
    Files that the settings name are not opened here, so they need not exist yet.
    """
    configs, idle = read_java_names(trimmed(properties), client)
    if idle:
        log.warning("these properties have no effect here: %s", ", ".join(sorted(idle)))
    return configs


def trimmed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties as Java's clients read them, with all values stripped, even passwords."""
    return {name: value.strip(_BLANK) if isinstance(value, str) else value for name, value in properties.items()}


def read_java_names(properties: Mapping[str, Any], client: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return the keyword arguments of `from_java_names`, and the properties that have no effect; issue no warning."""
    configs: dict[str, Any] = {}
    idle: list[str] = []
    rows, everyones = java_names(client), java_names()
    for name, value in properties.items():
        if name in _SPECIAL and isinstance(value, str) and (client is None or name in rows or name not in everyones):
            configs |= _SPECIAL[name](name, value)
        elif name == "sasl.jaas.config" or (name in _ONLY and isinstance(value, str)):
            if name in _ONLY:
                allow(name, value, *_ONLY[name])
        elif name in rows:
            given = from_text(name, rows[name], value) if isinstance(value, str) else value
            configs[rows[name].name] = given
            # Values are checked here, so that errors have the names that the user wrote. Files may be created later.
            if is_given(rows[name].name, given) and rows[name].parse is not path:
                rows[name].parse(name, given)
        elif name in _WITHOUT_MEANING or name in everyones:
            idle.append(name)
        elif not _is_level(name, value, properties, client, configs) and not _is_off(name, value):
            known = [*rows, *_WITHOUT_MEANING, *_SPECIAL, *_ONLY, "sasl.jaas.config"]
            raise KafkaConfigurationError(
                f"option {shown_name(name)} is unknown to {f'the {client}' if client else 'all clients'}"
                f"{whose(name) or nearest(name, known)}"
            )
    _log_in(properties, configs, idle)
    return configs, idle


class Support(enum.Enum):
    """How a client treats a property of the Java clients."""

    WORKS = enum.auto()
    CLASSES = enum.auto()
    """The property is supported for Java classes with built-in equivalents; other classes are rejected."""
    IDLE = enum.auto()
    """The property has no meaning here."""
    OTHERS = enum.auto()
    """The property belongs to another client."""
    REFUSED = enum.auto()


def support_of(name: str, client: str) -> tuple[Support, str] | None:
    """Return how a client treats a property, with alternatives for `CLASSES` and `REFUSED`; None if it is unknown."""
    if name in _ONLY:
        classes, instead = _ONLY[name]
        return Support.CLASSES if classes else Support.REFUSED, ", ".join(classes) or instead
    if name in _REFUSED:
        return Support.REFUSED, _REFUSED[name]
    if name in _WITHOUT_MEANING:
        return Support.IDLE, ""
    everyones = java_names()
    if name in _LEVELS:
        return (Support.WORKS if client == "producer" else Support.OTHERS), ""
    if name in java_names(client) or name == "sasl.jaas.config" or (name in _SPECIAL and name not in everyones):
        return Support.WORKS, ""
    return (Support.OTHERS, "") if name in everyones else None


def all_java_names() -> set[str]:
    """Return every property of the Java clients or librdkafka that `from_java_names` recognizes."""
    return {*java_names(), *_WITHOUT_MEANING, *_ONLY, *_REFUSED, *_SPECIAL, *_LEVELS, "sasl.jaas.config"}


def _log_in(properties: Mapping[str, Any], configs: dict[str, Any], idle: list[str]) -> None:
    """Add the options in ``sasl.jaas.config``. Properties for the same options take precedence, as in Java."""
    if str(configs.get("security_protocol", "")).upper().startswith("SASL"):
        configs.setdefault("sasl_mechanism", "GSSAPI")  # Java's default
    text = properties.get("sasl.jaas.config")
    if text is None:
        return
    if not isinstance(text, str):
        raise KafkaConfigurationError(f"option 'sasl.jaas.config' expects text, not {shown('sasl.jaas.config', text)}")
    from kafka.config.jaas import options_of_jaas  # imported late: compiling its regular expressions is slow

    found, unused = options_of_jaas(text, str(configs.get("sasl_mechanism", "GSSAPI")).upper())
    idle += unused
    for name, value in found.items():
        configs.setdefault(name, value)


def _is_level(
    name: str, value: Any, properties: Mapping[str, Any], client: str | None, configs: dict[str, Any]
) -> bool:
    """Return whether a property is a codec's compression level; for the codec in use, set ``compression_level``."""
    if name not in _LEVELS or client not in (None, "producer"):
        return False
    if str(properties.get("compression.type")).lower() == _LEVELS[name]:
        configs["compression_level"] = _number(name, value) if isinstance(value, str) else value
    return True


def _is_off(name: str, value: Any) -> bool:
    """Return whether an unsupported property is disabled."""
    if name not in _REFUSED:
        return False
    if str(value).strip().lower() not in ("", "false"):
        raise KafkaConfigurationError(f"option {name!r} is not supported: {_REFUSED[name]}")
    return True


def from_text(name: str, row: Option, value: str) -> Any:
    """Convert a property's text to the option's type."""
    kinds = {type(row.default).__name__} if row.accepts == "Any" else set(row.accepts.split(" | "))
    if "str" in kinds or not kinds & {"bool", "int", "float"}:
        return value
    if "bool" in kinds:
        if value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        raise KafkaConfigurationError(f"option {name!r} expects true or false, not {shown_number(name, value)}")
    if kinds == {"float"}:
        try:
            return float(value)
        except ValueError:
            raise KafkaConfigurationError(
                f"option {name!r} expects a number, not {shown_number(name, value)}"
            ) from None
    return _number(name, value)


def _number(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise KafkaConfigurationError(
            f"option {name!r} expects a whole number, not {shown_number(name, value)}"
        ) from None


# Equivalents of Java classes that properties refer to


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _to_bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


_BYTES = ("ByteArray", "Bytes", "ByteBuffer")
_CONVERSIONS: dict[str, Any] = {
    **{f"{kind}{end}": None for kind in _BYTES for end in ("Serializer", "Deserializer")},
    "StringSerializer": _to_bytes,
    "StringDeserializer": _to_text,
}
JAVA_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
"""Maps each Java assignor to the name of its equivalent in `kafka.coordinator.assignors`."""
_CALLABLE = "a Python function or object as the keyword argument"


def conversion(name: str, value: str) -> Any:
    """Return the equivalent of a serializer or deserializer: a function, or None for unchanged bytes."""
    return _CONVERSIONS[_known(name, value, _CONVERSIONS, _CALLABLE)]


def assignors(name: str, value: str) -> tuple[str, ...]:
    """Return the names of the assignors that are equivalent to the given Java classes."""
    return tuple(
        JAVA_ASSIGNORS[_known(name, each, JAVA_ASSIGNORS, _CALLABLE)] for each in value.split(",") if each.strip()
    )


def allow(name: str, value: str, allowed: Collection[str], instead: str) -> None:
    """Raise `KafkaConfigurationError` for any class except the allowed ones, whose behaviour is built in."""
    for each in value.split(","):
        if each.strip():
            _known(name, each, allowed, instead)


_INSTEAD = {
    "GcpLoginCallbackHandler": (
        "'sasl.mechanism' PLAIN with the service account's e-mail address as 'sasl_plain_username' and its "
        "base64-encoded key as 'sasl_plain_password', or 'sasl_oauth_token_provider'"
    ),
}
"""Alternatives to cloud providers' classes that are not built in."""


def _known(name: str, value: str, known: Collection[str], instead: str) -> str:
    """Return a class name without its package, because shaded copies of the Java client rename packages."""
    found = value.strip().rpartition(".")[2]
    if found not in known:
        there = f" (known: {', '.join(sorted(known))})" if known else ""
        instead = _INSTEAD.get(found, instead)
        raise KafkaConfigurationError(
            f"option {name!r} names the Java class {shown(name, value.strip())}{there}: use {instead}"
        )
    return found
