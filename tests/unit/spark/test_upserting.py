"""Writing like `outputMode("update")`, by micro-batches that are written as batches."""

from typing import Any

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.spark import upsert

BROKERS = {"kafka.bootstrap.servers": "localhost:9092", "kafka.sasl.password": "hush"}


class Recorder:
    """A fake of Spark's writers that records calls and returns itself."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.write = self

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> "Recorder":
            self.calls.append((name, args or named))
            return self

        return call


def test_each_batch_is_appended_to_the_topic():
    writer, frame = Recorder(), Recorder()
    assert upsert(writer, BROKERS, topic="counts", checkpointLocation="/c") is writer  # type: ignore[arg-type]
    assert writer.calls[:2] == [("option", ("checkpointLocation", "/c")), ("outputMode", ("update",))]
    name, (write,) = writer.calls[2]
    assert name == "foreachBatch"
    write(frame, 7)
    assert frame.calls == [
        ("format", ("kafka_columnar",)),
        ("options", {**BROKERS, "topic": "counts"}),
        ("mode", ("append",)),
        ("save", {}),
    ]
    assert "hush" not in repr(write)


def test_falsy_values_are_values():
    writer, frame = Recorder(), Recorder()
    upsert(writer, BROKERS, topic="counts", **{"kafka.linger.ms": 0, "kafka.client.id": ""})  # type: ignore[arg-type]
    writer.calls[-1][1][0](frame, 7)
    options = dict(frame.calls)["options"]
    assert options == {**BROKERS, "topic": "counts", "kafka.linger.ms": "0", "kafka.client.id": ""}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topic": "t"}, "'kafka.bootstrap.servers' is missing"),
        ({**BROKERS, "topic": None}, "option 'topic' is None: set a value, or leave the option out"),
        ({**BROKERS, "topik": "t"}, "option 'topik' is unknown .* did you mean 'topic'"),
        ({**BROKERS, "subscribe": "t"}, "'subscribe' cannot be used for a write"),
    ],
)
def test_wrong_options_are_rejected_before_the_query_starts(options, said):
    writer = Recorder()
    with pytest.raises(KafkaConfigurationError, match=said):
        upsert(writer, options)  # type: ignore[arg-type]
    assert writer.calls == []
