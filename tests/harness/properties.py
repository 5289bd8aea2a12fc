"""The server.properties of a broker, and who may log in to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.tls import STORE_PASSWORD

CLUSTER_ID = "a29sdW1uYXItdGVzdHMxMA"
USERS = {"admin": "admin-secret", "alice": "alice-secret"}
LISTENERS = {
    "plaintext": "PLAINTEXT",
    "sasl": "SASL_PLAINTEXT",
    "ssl": "SSL",
    "mtls": "MTLS",
    "sasl_ssl": "SASL_SSL",
}
"""A listener's name in the tests, and in Kafka (where MTLS is TLS that demands the client's certificate)."""
_LOGIN = "org.apache.kafka.common.security"


@dataclass(frozen=True)
class ClusterPlan:
    """What is decided before a cluster starts.

    `ports` has for each node (from 1) the port of each listener and that of `controller`.
    """

    folder: Path
    ports: Mapping[int, Mapping[str, int]]
    listeners: Sequence[str] = ("plaintext",)
    overrides: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)

    @property
    def uses_tls(self) -> bool:
        """Whether a listener needs certificates."""
        return any("ssl" in listener or listener == "mtls" for listener in self.listeners)

    @property
    def sasl_listeners(self) -> list[str]:
        """The listeners where clients log in."""
        return [listener for listener in self.listeners if listener.startswith("sasl")]

    def data_folder(self, node: int) -> Path:
        """Where a node keeps its logs."""
        return self.folder / f"data-{node}"


def server_properties(plan: ClusterPlan, node: int) -> str:
    """Return the text of one node's server.properties (KRaft, broker and controller in one process)."""
    properties = {**_basics(plan, node), **_listeners(plan, node)}
    if plan.uses_tls:
        properties |= _tls(plan.folder / "tls")
    if plan.sasl_listeners:
        properties |= _sasl(plan.sasl_listeners)
    properties |= {name: value.replace("{node}", str(node)) for name, value in plan.overrides.items()}
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def _basics(plan: ClusterPlan, node: int) -> dict[str, str]:
    """Roles, data, and small internal topics.

    A dead broker is seen after 3 s, not 9. Records are kept whatever their timestamps, which tests like to fix.
    """
    copies = str(min(3, len(plan.ports)))
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(node),
        "controller.quorum.voters": ",".join(f"{n}@127.0.0.1:{p['controller']}" for n, p in plan.ports.items()),
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(plan.data_folder(node)),
        "default.replication.factor": copies,
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": "3",
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "1000",
        "group.consumer.heartbeat.interval.ms": "500",
        "group.consumer.min.heartbeat.interval.ms": "200",
        "group.consumer.min.session.timeout.ms": "1000",
        "group.share.min.record.lock.duration.ms": "1000",
        "group.share.heartbeat.interval.ms": "200",
        "group.share.min.heartbeat.interval.ms": "200",
        "share.coordinator.write.timeout.ms": "30000",
        "group.share.initialize.retry.interval.ms": "1000",
        "broker.heartbeat.interval.ms": "500",
        "broker.session.timeout.ms": "3000",
        "num.io.threads": "4",
        "log.retention.ms": "-1",
        "log.cleaner.dedupe.buffer.size": "10485760",
        "log.cleaner.backoff.ms": "300",
    }
    for topic in ("transaction.state.log", "share.coordinator.state.topic"):
        properties[f"{topic}.replication.factor"] = copies
        properties[f"{topic}.num.partitions"] = "3"
        properties[f"{topic}.min.isr"] = str(min(2, int(copies)))
    return properties


def _listeners(plan: ClusterPlan, node: int) -> dict[str, str]:
    """Where the node listens; the first listener named is the one between the brokers."""
    ports = plan.ports[node]
    ends = [f"{LISTENERS[listener]}://127.0.0.1:{ports[listener]}" for listener in plan.listeners]
    kinds = {LISTENERS[listener]: LISTENERS[listener].replace("MTLS", "SSL") for listener in plan.listeners}
    kinds["CONTROLLER"] = "PLAINTEXT"
    return {
        "listeners": ",".join([*ends, f"CONTROLLER://127.0.0.1:{ports['controller']}"]),
        "advertised.listeners": ",".join(ends),
        "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in kinds.items()),
        "inter.broker.listener.name": LISTENERS[plan.listeners[0]],
    }


def _tls(folder: Path) -> dict[str, str]:
    """The stores of certificates."""
    properties = {
        "ssl.keystore.location": str(folder / "server.p12"),
        "ssl.truststore.location": str(folder / "trust.p12"),
        "ssl.key.password": STORE_PASSWORD,
        "listener.name.mtls.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?)$/$1/,DEFAULT",
    }
    for store in ("keystore", "truststore"):
        properties[f"ssl.{store}.type"] = "PKCS12"
        properties[f"ssl.{store}.password"] = STORE_PASSWORD
    return properties


def _sasl(listeners: Sequence[str]) -> dict[str, str]:
    """PLAIN, SCRAM and unsigned OAUTHBEARER on each listener where clients log in."""
    admin = f'required username="admin" password="{USERS["admin"]}"'
    users = "".join(f' user_{user}="{password}"' for user, password in USERS.items())
    scram = f"{_LOGIN}.scram.ScramLoginModule {admin};"
    logins = {
        "PLAIN": f"{_LOGIN}.plain.PlainLoginModule {admin}{users};",
        "SCRAM-SHA-256": scram,
        "SCRAM-SHA-512": scram,
        "OAUTHBEARER": f'{_LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";',
    }
    properties = {"sasl.enabled.mechanisms": ",".join(logins), "sasl.mechanism.inter.broker.protocol": "PLAIN"}
    for listener in listeners:
        for mechanism, login in logins.items():
            name = f"listener.name.{LISTENERS[listener].lower()}.{mechanism.lower()}.sasl.jaas.config"
            properties[name] = login
    return properties


def format_arguments(plan: ClusterPlan) -> list[str]:
    """Return what the storage tool is told when it formats a data folder: the cluster, and SCRAM's users."""
    arguments = ["-t", CLUSTER_ID]
    for feature, level in plan.features.items():
        arguments += ["--feature", f"{feature}={level}"]
    if plan.sasl_listeners:
        for user, password in USERS.items():
            for digest in ("256", "512"):
                arguments += ["--add-scram", f"SCRAM-SHA-{digest}=[name={user},password={password}]"]
    return arguments
