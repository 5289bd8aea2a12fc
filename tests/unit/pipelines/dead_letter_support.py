"""Headers of dead letters for tests."""

from __future__ import annotations

from kafka.pipelines import record_headers as names

Headers = list[tuple[str, bytes | None]]


def own_headers(
    pipeline: str = "p",
    rules: tuple[str, ...] = ("a rule",),
    source: str = "flights/0/7",
    attempt: int = 1,
    cause: str = "because",
) -> Headers:
    """Return the headers that a pipeline adds to a dead letter."""
    return [
        (names.PIPELINE, pipeline.encode()),
        *((names.RULE, rule.encode()) for rule in rules),
        (names.CAUSE, cause.encode()),
        (names.SOURCE, source.encode()),
        (names.ATTEMPT, b"%d" % attempt),
        (names.TIMESTAMP, b"1700000000000"),
        ("__connect.errors.topic", source.split("/")[0].encode()),
        ("__connect.errors.exception.message", cause.encode()),
    ]
