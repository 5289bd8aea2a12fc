"""What happens to the cluster while a query is between two runs, or running."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType
from kafka.structs import TopicPartition
from spark_trials.comparison.trial import Program, Trial

EARLIEST = {"startingOffsets": "earliest"}


def _first_run(trial: Trial, count: int = 8, **given: Any) -> Any:
    trial.topic("own")
    trial.produce("own", [b"%d" % n for n in range(count)])
    return trial.drain(trial.stream(subscribe="<own>", **EARLIEST, **given))


def _trim(trial: Trial, before: int) -> None:
    with KafkaAdminClient(bootstrap_servers=trial.servers) as admin:
        admin.delete_records({TopicPartition(trial.topics["own"], 0): before})


def _head_gone(trial: Trial, **given: Any) -> Any:
    """Records that were not read yet are deleted, as by retention."""
    first = _first_run(trial)
    trial.produce("own", [b"%d" % n for n in range(8, 20)])
    _trim(trial, 12)
    return first, trial.drain(trial.stream(subscribe="<own>", **given))


def _head_gone_before(trial: Trial, **given: Any) -> Any:
    """Records that were read already are deleted."""
    first = _first_run(trial)
    trial.produce("own", [b"%d" % n for n in range(8, 20)])
    _trim(trial, 8)
    return first, trial.drain(trial.stream(subscribe="<own>", **given))


def _head_gone_of_a_batch(trial: Trial, **given: Any) -> Any:
    trial.topic("own")
    trial.produce("own", [b"%d" % n for n in range(20)])
    _trim(trial, 12)
    options = {"startingOffsets": {"<own>": {"0": 5}}, "endingOffsets": {"<own>": {"0": 15}}}
    return trial.rows(trial.frame(subscribe="<own>", **options, **given))


def _end_behind_the_log(trial: Trial, **given: Any) -> Any:
    given["kafkaConsumer.pollTimeoutMs"] = "3000"
    return trial.rows(trial.frame(subscribe="<one>", endingOffsets={"<one>": {"0": 15}}, **given))


def _made_again(trial: Trial, count: int, **given: Any) -> Any:
    first = _first_run(trial)
    trial.make_again("own")
    trial.produce("own", [b"new %d" % n for n in range(count)])
    return first, [rows for _, rows in trial.drain(trial.stream(subscribe="<own>", **given))]


def _deleted(trial: Trial, **given: Any) -> Any:
    first = _first_run(trial)
    trial.delete("own")
    return first, trial.drain(trial.stream(subscribe="<own>,<one>", **given))


def _deleted_under_a_batch(trial: Trial, **given: Any) -> Any:
    """A frame is planned, its topic deleted, and then the frame is read."""
    trial.topic("own")
    trial.produce("own", [b"1"])
    frame = trial.frame(subscribe="<own>", **given)
    trial.delete("own")
    return trial.rows(frame)


def _no_brokers(trial: Trial) -> Any:
    given = {"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "t"}
    given |= {"kafka.default.api.timeout.ms": "3000", "kafka.request.timeout.ms": "2000", "fetchOffset.numRetries": "1"}
    if trial.format == "kafka_columnar":
        given["kafka.bootstrap.timeout.ms"] = "3000"
    return trial.spark.read.format(trial.format).options(**given).load().count()


def _checkpoint_of_other_topics(trial: Trial, **given: Any) -> Any:
    """A checkpoint's topic is no longer in the list."""
    first = trial.drain(trial.stream(subscribe="<one>", **EARLIEST))
    return first, trial.drain(trial.stream(subscribe="<skewed>", **given))


def _checkpoint_damaged(trial: Trial) -> Any:
    first = _first_run(trial)
    trial.produce("own", [b"more"])
    (offsets,) = (trial.folder / "q" / "offsets").glob("0")
    lines = offsets.read_text().splitlines()
    offsets.write_text("\n".join([*lines[:-1], '["of another source"]']))
    for checksum in (trial.folder / "q").rglob(".*.crc"):
        checksum.unlink()
    return first, trial.drain(trial.stream(subscribe="<own>"))


def _checkpoint_ahead(trial: Trial, **given: Any) -> Any:
    """The log ends before what was read: an unclean leader, or a restored cluster."""
    first = _first_run(trial)
    (offsets,) = (trial.folder / "q" / "offsets").glob("0")
    offsets.write_text(offsets.read_text().replace('"0":8', '"0":80').replace('"0": 8', '"0":80'))
    for checksum in (trial.folder / "q").rglob(".*.crc"):
        checksum.unlink()
    return first, [rows for _, rows in trial.drain(trial.stream(subscribe="<own>", **given))]


def _numbers(trial: Trial, seen: list[Any]) -> Any:
    return lambda frame, number: seen.extend(int(row.value) for row in frame.select("value").collect())


def _killed_under_a_stream(trial: Trial) -> Any:
    """The broker is killed and comes back while a query runs, which goes on."""
    trial.topic("own")
    trial.produce("own", [b"%d" % n for n in range(5)])
    seen: list[int] = []
    stream = trial.stream(subscribe="<own>", **EARLIEST)
    writer = stream.writeStream.option("checkpointLocation", str(trial.folder / "q"))
    query = writer.foreachBatch(_numbers(trial, seen)).start()
    try:
        trial.wait(lambda: len(seen) >= 5)
        trial.broker.kill()
        trial.broker.restart()
        trial.produce("own", [b"%d" % n for n in range(5, 10)])
        trial.wait(lambda: len(seen) >= 10)
        assert query.exception() is None
    finally:
        query.stop()
    return sorted(seen)


def _killed_between_two_runs(trial: Trial) -> Any:
    first = _first_run(trial)
    trial.broker.kill()
    trial.broker.restart()
    trial.produce("own", [b"8", b"9"])
    return first, trial.drain(trial.stream(subscribe="<own>"))


def _killed_under_a_write(trial: Trial) -> Any:
    """The broker is killed and comes back while rows are written: each is there at least once."""
    trial.topic("out")
    frame = trial.spark.range(2_000, numPartitions=4).selectExpr("cast(id as string) value")
    restarting = threading.Thread(target=lambda: (trial.broker.kill(), trial.broker.restart()))
    restarting.start()
    try:
        trial.write(frame, topic="<out>")
    finally:
        restarting.join()
    return sorted({row[1] for row in trial.written("out")})


def _deny(trial: Trial, name: str, operation: ACLOperation) -> ACL:
    what = ResourcePattern(ResourceType.TOPIC, trial.topics[name])
    rule = ACL("User:alice", "*", operation, ACLPermissionType.DENY, what)
    with KafkaAdminClient(bootstrap_servers=trial.servers) as admin:
        assert not admin.create_acls([rule])["failed"]
    return rule


def _allow_again(trial: Trial, rule: ACL) -> None:
    with KafkaAdminClient(bootstrap_servers=trial.servers) as admin:
        admin.delete_acls([rule])


def _forbidden(trial: Trial, operation: ACLOperation) -> Any:
    trial.topic("own")
    trial.produce("own", [b"1"])
    rule = _deny(trial, "own", operation)
    trial.log_in("sasl", "alice", "alice-secret")
    try:
        return trial.rows(trial.frame(subscribe="<own>", **{"kafkaConsumer.pollTimeoutMs": "5000"}))
    finally:
        _allow_again(trial, rule)


def _forbidden_write(trial: Trial) -> Any:
    trial.topic("own")
    rule = _deny(trial, "own", ACLOperation.WRITE)
    trial.log_in("sasl", "alice", "alice-secret")
    try:
        trial.write(trial.spark.range(3).selectExpr("cast(id as string) value"), topic="<own>")
    finally:
        _allow_again(trial, rule)


def _forbidden_for_a_time(trial: Trial, **given: Any) -> Any:
    """What a query may read is taken away, so that it fails, and given back: nothing is lost or read again."""
    trial.topic("own")
    trial.produce("own", [b"1", b"2"])
    trial.log_in("sasl", "alice", "alice-secret")
    found = [trial.drain(trial.stream(subscribe="<own>", **EARLIEST, **given))]
    trial.produce("own", [b"3"])
    rule = _deny(trial, "own", ACLOperation.ALL)
    try:
        trial.drain(trial.stream(subscribe="<own>", **given))
    except Exception:
        found.append([])
    else:
        found.append(["it did not fail"])
    _allow_again(trial, rule)
    return [*found, trial.drain(trial.stream(subscribe="<own>", **given))]


def _logged_in(trial: Trial) -> Any:
    """A round trip of a user by JAAS."""
    trial.topic("own")
    trial.log_in("sasl", "alice", "alice-secret")
    trial.write(trial.spark.range(3).selectExpr("cast(id as string) value"), topic="<own>")
    return sorted(int(row.value) for row in trial.frame(subscribe="<own>").collect())


def _wrong_password(trial: Trial) -> Any:
    trial.topic("own")
    trial.log_in("sasl", "alice", "not-hers")
    return trial.frame(subscribe="<own>", **{"fetchOffset.numRetries": "1"}).count()


LENIENT = {"failOnDataLoss": "false"}


def programs() -> Iterator[Program]:
    """The list."""
    for text, given in (("", {}), (", with loss allowed", LENIENT)):
        yield Program(
            f"fault: the head of a log is gone{text}",
            functools.partial(_head_gone, **given),
            quick=bool(given),
            fails=not given,
        )
        yield Program(f"fault: what was read is gone{text}", functools.partial(_head_gone_before, **given))
        yield Program(
            f"fault: the head of a batch is gone{text}",
            functools.partial(_head_gone_of_a_batch, **given),
            fails=not given,
        )
        yield Program(
            f"fault: a batch ends behind the log{text}",
            functools.partial(_end_behind_the_log, **given),
            fails=not given,
        )
        yield Program(
            f"fault: the log ends before what was read{text}",
            functools.partial(_checkpoint_ahead, **given),
            fails=not given,
        )
        yield Program(
            f"fault: a topic made again, shorter{text}",
            functools.partial(_made_again, count=3, **given),
            differs="the new topic is read from its beginning" if given else "",
            fails=not given,
        )
        yield Program(
            f"fault: a topic made again, longer{text}",
            functools.partial(_made_again, count=12, **given),
            differs="a recreated topic is detected",
        )
        yield Program(
            f"fault: a topic deleted between two runs{text}",
            functools.partial(_deleted, **given),
            differs="the query continues with its other topics" if given else "",
            fails=True,
        )
        yield Program(
            f"fault: another list of topics{text}",
            functools.partial(_checkpoint_of_other_topics, **given),
            fails=not given,
        )
    yield Program("fault: a topic deleted under a frame", _deleted_under_a_batch, fails=True)
    yield Program("fault: no broker is there", _no_brokers, fails=True)
    yield Program("fault: a checkpoint that is not Kafka's", _checkpoint_damaged, fails=True)
    yield Program("fault: a broker killed under a stream", _killed_under_a_stream, alone=True)
    yield Program("fault: a broker killed between two runs", _killed_between_two_runs, alone=True)
    yield Program("fault: a broker killed under a write", _killed_under_a_write, alone=True)
    for operation in (ACLOperation.READ, ACLOperation.DESCRIBE):
        run = functools.partial(_forbidden, operation=operation)
        yield Program(f"fault: {operation.name} not allowed", run, fails=True, alone=True)
    yield Program("fault: WRITE not allowed", _forbidden_write, fails=True, alone=True)
    yield Program("fault: rights taken away and given back", _forbidden_for_a_time, alone=True)
    yield Program(
        "fault: rights taken away and given back, with loss allowed",
        functools.partial(_forbidden_for_a_time, **LENIENT),
        alone=True,
    )
    yield Program("fault: a user logs in", _logged_in, alone=True)
    yield Program("fault: a wrong password", _wrong_password, fails=True, alone=True)
