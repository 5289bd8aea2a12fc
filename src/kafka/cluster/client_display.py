"""What a notebook shows of a client. Nothing is asked of a broker for this, and nothing waits."""

from collections.abc import Iterable

from kafka._addresses import format_address
from kafka.config import ConnectionOptions
from kafka.health import Failure, Health


def client_html(
    kind: str, health: Health, options: ConnectionOptions, more: Iterable[tuple[str, object]] = (), below: str = ""
) -> str:
    """A table of how a client is. Options that may be secret are not among it.

    Arguments:
        kind: the client's class.
        health: what its `health()` gives.
        options: of its connections.
        more: what a kind of client adds: names and values.
        below: HTML that follows.
    """
    from kafka.display import tables
    from kafka.display.markup import Html

    servers = [format_address(*each) for each in options.bootstrap_servers]
    pairs = (
        ("state", health.state.value),
        ("client id", health.client_id),
        ("bootstrap servers", ", ".join(servers)),
        ("connected brokers", ", ".join(map(str, health.connected_brokers))),
        *more,
        ("waits for", "; ".join(health.waits_for)),
        ("fails", "; ".join(map(_told, health.failing))),
        ("last error", "" if health.last_error is None else _told(health.last_error)),
    )
    return tables.titled(kind, tables.facts(pairs), Html(below))


def _told(failure: Failure) -> str:
    what = f"{failure.what}: " if failure.what else ""
    return f"{what}{failure.error}: {failure.text}"
