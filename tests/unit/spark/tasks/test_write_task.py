"""Writing a task's rows with a producer that only records calls."""

import pyarrow as pa
import pyarrow.compute
import pytest

from kafka.errors import KafkaError, NotEnoughReplicasError
from kafka.spark.options.parsing import WriteOptions
from kafka.spark.tasks import write_task
from kafka.spark.tasks.write_task import TOGETHER_BYTES, DeliveryError, split_by_topic
from kafka.spark.tasks.write_task import deliver as deliver_all


@pytest.fixture(autouse=True)
def any_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every topic exist; `test_sink_topics` tests missing topics."""
    monkeypatch.setattr(write_task, "check_topic", lambda *_: None)


class Future:
    is_done = True

    def __init__(self, error: KafkaError | None = None) -> None:
        self.error = error

    def get(self) -> None:
        if self.error is not None:
            raise self.error


class RememberingProducer:
    def __init__(self, refuse: Exception | None = None, fail: KafkaError | None = None) -> None:
        self.refuse, self.fail = refuse, fail
        self.sent: list[tuple[str, list[dict[str, object]]]] = []
        self.flushed = 0

    def send_arrow(self, topic: str, rows: pa.Table) -> Future:
        if self.refuse is not None:
            raise self.refuse
        self.sent.append((topic, rows.to_pylist()))
        return Future(self.fail)

    def flush(self) -> None:
        self.flushed = len(self.sent)
        if self.fail is not None:
            raise KafkaError("something was not delivered")


def rows(*values: str, topics: list[str | None] | None = None) -> pa.RecordBatch:
    columns = {"value": list(values)} | ({"topic": topics} if topics else {})
    return pa.RecordBatch.from_pydict(columns)


def deliver(producer: RememberingProducer, topic: str | None, *batches: pa.RecordBatch) -> int:
    options = WriteOptions(topic, ())
    return deliver_all(producer, options, batches)  # type: ignore[arg-type]  # it has what is needed of a producer


def test_all_rows_are_sent_in_order_and_flushed():
    producer = RememberingProducer()
    assert deliver(producer, "t", *(rows(str(n)) for n in range(50))) == 50
    assert producer.sent == [("t", [{"value": str(n)} for n in range(50)])]
    assert producer.flushed == 1


def test_the_size_of_tables_sent_together_is_limited():
    producer = RememberingProducer()
    values = [str(n) + "." * (TOGETHER_BYTES // 4) for n in range(10)]
    assert deliver(producer, "t", *(rows(value) for value in values)) == 10
    assert [len(sent) for _, sent in producer.sent] == [4, 4, 2]
    assert [row["value"] for _, sent in producer.sent for row in sent] == values


def test_rows_are_sent_to_the_topic_in_their_column():
    producer = RememberingProducer()
    assert deliver(producer, None, rows("a", "b", "c", topics=["x", "y", "x"]), rows("d", topics=["y"])) == 4
    assert producer.sent == [
        ("x", [{"value": "a"}, {"value": "c"}]),
        ("y", [{"value": "b"}, {"value": "d"}]),
    ]


def test_rows_for_many_topics_are_sorted_once(monkeypatch):
    topics = [f"t{n % 1_000}" for n in range(10_000)]
    table = pa.Table.from_batches([rows(*map(str, range(10_000)), topics=topics)] * 2)

    def filtered(*_: object) -> None:
        raise AssertionError("each topic goes through all rows again")

    monkeypatch.setattr(pa.compute, "filter", filtered)
    found = dict(split_by_topic(table, None))
    assert len(found) == 1_000
    assert found["t7"].column("value").to_pylist() == [str(n) for n in range(7, 10_000, 1_000)] * 2
    pieces = {each.column("value").chunk(0).buffers()[-1].address for each in found.values()}
    assert len(pieces) == 1, "the pieces share one copy of the rows"


def test_a_row_without_a_topic_is_rejected():
    with pytest.raises(DeliveryError, match="1 rows have no topic"):
        list(split_by_topic(pa.Table.from_batches([rows("a", "b", topics=["x", None])]), None))


def test_an_error_of_the_broker_names_topic_and_cause():
    with pytest.raises(DeliveryError, match=r"could not write rows to topic 't': .*NotEnoughReplicasError") as caught:
        deliver(RememberingProducer(fail=NotEnoughReplicasError("two are missing")), "t", rows("a"))
    assert isinstance(caught.value.__cause__, NotEnoughReplicasError)


def test_an_error_of_the_producer_stops_the_task():
    producer = RememberingProducer(refuse=ValueError("no such column"))
    with pytest.raises(DeliveryError, match="'t': no such column"):
        deliver(producer, "t", *(rows(str(n)) for n in range(100)))


def test_an_error_of_the_producer_stops_a_task_that_has_more_rows():
    producer = RememberingProducer(refuse=ValueError("no such column"))
    more = iter([rows("." * TOGETHER_BYTES)] * 1000)
    with pytest.raises(DeliveryError, match="'t': no such column"):
        deliver_all(producer, WriteOptions("t", ()), more)  # type: ignore[arg-type]  # as above
    assert next(more, None) is not None
