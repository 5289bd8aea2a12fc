"""Checks before a run, and the causes of failed runs, without Spark."""

from __future__ import annotations

import concurrent.futures
import os
import platform
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka import KafkaAdminClient
from kafka._file_locks import FileLock
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError, KafkaConnectionError
from kafka.pipelines.checks.before_run import check_before_run
from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Rule
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event, EventFile, last_start
from kafka.pipelines.reset import reset
from kafka.pipelines.run_results import failure_of, spark_cause
from kafka.pipelines.start_checks import LOCK, check_not_running, check_owner, run_lock, stream_lock
from kafka.pipelines.yaml_file import parse

pytestmark = pytest.mark.once


def declaration(servers: str = "localhost:9092", topics: str = "flights") -> Declaration:
    """A pipeline that reads topics."""
    return parse(
        f"""
pipeline: delays
kafka: {{bootstrap.servers: "{servers}"}}
source: {{topics: [{topics}], value: {{format: bytes}}}}
sink: {{topic: out, value: {{format: bytes}}}}
"""
    )


def started(directory: PipelineDirectory, name: str, pipeline: str, run: str = "stream") -> None:
    """Record the start of a run."""
    event = Event("start", "2026-11-28T00:00:00.000+00:00", pipeline, run=run, run_id=name)  # type: ignore[arg-type]
    EventFile(directory.events, name).append(event)


def test_the_newest_start(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    assert last_start(directory.events) is None
    for name, run in (("1", "stream"), ("2", "stream"), ("3", "replay")):
        started(directory, name, "delays", run)
    (directory.events / "4.jsonl").write_text('{"kind": "sta')  # killed while it wrote its first line
    for kind, name in ((None, "3"), ("replay", "3"), ("stream", "2")):
        found = last_start(directory.events, kind)  # type: ignore[arg-type]
        assert found is not None
        assert found.run_id == name
    assert last_start(directory.events, "backfill") is None


def test_a_directory_belongs_to_one_pipeline(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    check_owner(declaration(), directory)
    started(directory, "1", "delays")
    check_owner(declaration(), directory)
    started(directory, "2", "other")
    with pytest.raises(InvalidDeclaration, match="belongs to pipeline 'other', but this is 'delays'"):
        check_owner(declaration(), directory)


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    path = tmp_path / "made" / "lock"
    refused = pytest.raises(IllegalStateError, match="another run of this pipeline")
    with run_lock(path, "run of this pipeline"), refused, run_lock(path, "run of this pipeline"):
        pass
    with run_lock(path, "run of this pipeline"):
        pass


def test_another_process_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        with pytest.raises(IllegalStateError), run_lock(path, "run"):
            pass
        other.kill()
        other.wait()
        with run_lock(path, "run"):
            pass


def test_a_reset_removes_what_the_pipeline_has_written_and_nothing_else(tmp_path: Path) -> None:
    base = tmp_path / "delays"
    directory = PipelineDirectory(base)
    with EmbeddedBroker() as broker:
        declared = declaration(broker.bootstrap_servers).model_copy(update={"checkpoint": str(base)})
        assert reset(declared) == []
        assert not base.exists()
        started(directory, "1", "delays")
        for path in (
            directory.stream / "offsets" / "0",
            directory.replays / "1" / "plan.json",
            directory.replays / "x",
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("0")
        with (
            run_lock(directory.replays / "lock", "replay"),
            pytest.raises(IllegalStateError, match="another replay or"),
        ):
            reset(declared)
        with stream_lock(directory), pytest.raises(IllegalStateError, match="another run of this pipeline"):
            reset(declared)
        assert (directory.replays / "1" / "plan.json").exists(), "nothing is deleted while something runs"
        (base / "notes.txt").write_text("mine")
        assert reset(declared) == [directory.stream, directory.events, directory.replays]
        assert [each.name for each in base.iterdir()] == ["notes.txt"]
        (base / "notes.txt").unlink()
        reset(declared)
        assert not base.exists()


def test_a_run_reports_all_problems_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with EmbeddedBroker(auto_create_topics=False) as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics(["flights", "out"])
        good = declaration(broker.bootstrap_servers)
        started(PipelineDirectory(tmp_path), "1", "other")
        assert check_before_run(good).errors == ()
        rules = (Rule(name="r", holds="uuid() = valu", otherwise="drop"),)
        source = good.all_sources["source"].model_copy(update={"topics": ("flights", "flihgts"), "rules": rules})
        bad = good.model_copy(update={"sources": {"source": source}, "checkpoint": str(tmp_path)})
        with pytest.raises(InvalidDeclaration) as raised:
            check_before_run(bad)
    remedy = "name another directory, or use the same name"
    first, *others = str(raised.value).split("\n")
    assert first == "pipeline delays cannot start:"
    assert [each.partition(";")[0] for each in others] == [
        f"checkpoint: {tmp_path} belongs to pipeline 'other', but this is 'delays': {remedy}",
        "sources.source.rules[0].holds: there is no column 'valu'",
        "sources.source.topics[1]: topic 'flihgts' does not exist",
    ]
    assert "uuid() differs each time" in caplog.text.lower()


def test_a_server_that_does_not_respond_is_not_an_error_of_the_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.pipelines.checks.before_run.LIMIT_S", 1.0)
    with pytest.raises(KafkaConnectionError, match=r"kafka\.bootstrap\.servers: the brokers cannot be checked"):
        check_before_run(declaration("localhost:1"))


STREAM = "[STREAM_FAILED] Query [id = 1-2, runId = 3-4] terminated with exception: "
TASK = (
    "Job aborted due to stage failure: Task 0 in stage 5.0 failed 1 times, most recent failure: Lost task 0.0 in stage "
    "5.0 (TID 7) (localhost executor driver): "
)
CHANGED = "[STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE] Provided key schema does not match existing state key schema."
ROW = "The record at TOPIC/PARTITION/OFFSET t/0/20 fails rules, at least one with the outcome 'fail': small. Cause: x"


PLAN = "\n=== Streaming Query ===\nProject [raise_error(concat(The record at TOPIC/PARTITION/OFFSET , concat_ws(/, t))]"
ARITHMETIC = (
    "org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL ==\na / b\n"
    "\n\tat org.apache.spark.X.y(X.scala:1)\n\nDriver stacktrace:"
)
PYTHON = (
    "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
    '  File "worker.py", line 1, in main\n    write()\nkafka.errors.TopicAuthorizationFailedError: denied\n'
    "\n\tat org.apache.spark.X.y(X.scala:1)"
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("plain", "plain"),
        (f"{STREAM}[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", "[DIVIDE_BY_ZERO] Division by zero."),
        (f"{STREAM}{TASK}{ARITHMETIC}", "[DIVIDE_BY_ZERO] Division by zero."),
        (
            "An error occurred while calling o11.start.\n: java.lang.IllegalStateException: late\n\tat a.b(C.java:1)",
            "late",
        ),
        (f"{STREAM}the writer crashed{PLAN}", "the writer crashed"),
        (f"{TASK}{PYTHON}", "kafka.errors.TopicAuthorizationFailedError: denied"),
        (f"{STREAM}[USER_RAISED_EXCEPTION] {ROW} SQLSTATE: P0001 SQLSTATE: XXKST", ROW),
        (f"An error occurred.\n: java.lang.X: [USER_RAISED_EXCEPTION] {ROW} SQLSTATE: P0001\n\tat a.b(C.java:1)", ROW),
    ],
)
def test_the_cause_in_an_error_of_spark(text: str, cause: str) -> None:
    assert spark_cause(RuntimeError(text)) == cause


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (CHANGED, "schema. The state of the stream does not fit the changed query. Undo it, or start over"),
        ("kafka.errors.PrefixInUseError: the prefix belongs to query a.", "a. If the pipeline's directory was deleted"),
        (
            "kafka.spark.planning.data_loss.DataLossError: offsets are missing",
            "missing. For a pipeline, this is",
        ),
    ],
)
def test_errors_after_a_change_say_what_to_do_with_a_pipeline(cause: str, advice: str) -> None:
    found = str(failure_of(declaration(), RuntimeError(cause)))
    assert advice in found
    assert "kafka pipeline reset" in found
    assert str(failure_of(declaration(), RuntimeError("[DIVIDE_BY_ZERO] x"))) == "pipeline delays: [DIVIDE_BY_ZERO] x"


def test_a_running_stream_is_noticed_before_spark_starts(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    check_not_running(directory)
    assert list(tmp_path.iterdir()) == [], "nothing is created"
    with stream_lock(directory), pytest.raises(IllegalStateError, match="another run of this pipeline is running"):
        check_not_running(directory)
    check_not_running(directory)


def test_one_of_two_runs_that_start_at_once_wins_and_the_error_of_the_other_names_it(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    begin = threading.Barrier(2)

    def start(_: int) -> FileLock | IllegalStateError:
        begin.wait(30)
        try:
            return stream_lock(directory)
        except IllegalStateError as error:
            return error

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(start, range(2)))
    (won,) = [each for each in found if isinstance(each, FileLock)]
    with won, pytest.raises(IllegalStateError) as refused:
        stream_lock(directory)
    assert str(refused.value) == (
        f"another run of this pipeline is running (process {os.getpid()} on {platform.node()} holds the lock "
        f"{tmp_path / LOCK}): wait until it has ended, or stop it"
    )


@pytest.mark.parametrize("hostile", ["link to itself", "directory in the way"])
def test_a_lock_that_cannot_be_opened_stops_the_start(tmp_path: Path, hostile: str) -> None:
    """Somebody may hold it, so an unreadable file does not count as unlocked."""
    directory = PipelineDirectory(tmp_path / "delays")
    path = directory.base / LOCK
    if hostile == "link to itself":
        directory.base.mkdir()
        path.symlink_to(path)
        cause = "Too many levels of symbolic links"
    else:
        directory.base.write_text("not a directory")
        cause = "Not a directory|File exists"
    expected = (
        rf"cannot tell whether another run of this pipeline is running: its lock {path} cannot be opened "
        rf"\(({cause})\)\. "
        "Start as the user who owns this file; if nothing is running, you can remove it instead"
    )
    with pytest.raises(IllegalStateError, match=expected):
        check_not_running(directory)
    with pytest.raises(IllegalStateError, match=expected):
        stream_lock(directory)


def test_a_directory_instead_of_a_lock_is_an_error(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    (directory.base / LOCK).mkdir()
    with pytest.raises(IllegalStateError, match=r"its lock .* cannot be opened \(Is a directory\)"):
        stream_lock(directory)


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 5_000, b"{}\n"], ids=["empty", "binary", "text"])
def test_the_content_of_a_lock_says_nothing(tmp_path: Path, content: bytes) -> None:
    directory = PipelineDirectory(tmp_path)
    path = directory.base / LOCK
    path.write_bytes(content)
    check_not_running(directory)
    with stream_lock(directory), pytest.raises(IllegalStateError, match="another run of this pipeline is running"):
        check_not_running(directory)
    assert path.read_bytes() == content or not content, "somebody else's file is not overwritten"


def test_looking_at_a_named_pipe_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    os.mkfifo(directory.base / LOCK)
    check_not_running(directory)
