"""A trip of one record to the broker and back costs no more than before, and `python -m bench.trip` counts it well."""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

import pytest
from bench import ROOT, tasks
from bench.job import Result
from bench.trip import __main__ as command
from bench.trip import limits
from bench.trip.answers import Log, count_records
from bench.trip.broker import broker_process
from bench.trip.calls import CallLog, summarize
from bench.trip.count import Counts, Variant
from bench.trip.report import functions, table
from bench.trip.stages import CALLER, PROGRAM, STAGES, TABLE, UNKNOWN, stage_of
from bench.trip.system_calls import MARK, WAITS, medians, trips_of
from bench.trip.timing import Times, lines_of, times

from harness.topics import METADATA_VERSION, Wire, create_topic
from kafka import _variant
from kafka.record import BatchBuilder
from kafka.wire import message_class

MEASUREMENTS = 3
"""Maximum number of measurements: on a busy machine, answers may arrive before the caller waits, which saves calls."""
LISTING = f"""
10 sendto(5, "...", 20, 0, NULL, 0) = 20
10 access("{MARK}", F_OK) = -1 ENOENT (No such file or directory)
10 sendto(5, "...", 20, 0, NULL, 0) = 20
11 epoll_wait(6,  <unfinished ...>
10 futex(0x55, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL <unfinished ...>
11 <... epoll_wait resumed>[], 4, 100) = 1
11 futex(0x55, FUTEX_WAKE_PRIVATE, 1) = 1
10 <... futex resumed>) = 0
10 access("{MARK}", F_OK) = -1 ENOENT (No such file or directory)
11 close(3) = 0
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="measurements fork")
def test_a_trip_costs_no_more_than_before() -> None:
    variant = cast("Variant", _variant.variant())
    recorded = limits.load()
    if recorded["python"] != limits.python_version():
        pytest.skip(f"the limits are for Python {recorded['python']}")
    if variant not in recorded:
        pytest.skip(f"there are no limits for the {variant} variant")
    with broker_process("bench.trip.replay", "--late-ms", str(limits.LATE_MS)) as bootstrap_servers:
        for _ in range(MEASUREMENTS):
            counts, unknown = limits.measured(variant, bootstrap_servers)
            found = limits.violations(counts, recorded[variant])
            if not found:
                break
    assert unknown == [], "bench/trip/stages.py assigns each function to a stage: add these to its table"
    assert found == []


def test_growth_and_limits_out_of_date_are_told() -> None:
    recorded = {"sync": {"Python calls": 100.0, "C calls": 100.0, "allocations": 100.0}}
    counts = {"sync": {"Python calls": 104.0, "C calls": 94.0, "allocations": 100.0}}
    grown, fallen = limits.violations(counts, recorded)
    assert "takes 104 Python calls; the limit is 100" in grown
    assert "takes only 94 C calls; the limit is 100. Lower it" in fallen
    assert limits.violations({"sync": {"Python calls": 103.0, "C calls": 95.0}}, recorded) == []


def test_limits_of_one_variant_leave_the_other_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FILE", tmp_path / "limits.json")
    plain, compiled = {"sync": {"C calls": 1.0}}, {"sync": {"C calls": 2.0}}
    limits.save({"plain": plain})
    limits.save({"compiled": compiled})
    assert limits.load() == {"python": limits.python_version(), "plain": plain, "compiled": compiled}


@contextmanager
def _no_broker(*arguments: str) -> Iterator[str]:
    yield "nowhere:1"


def test_limits_are_compared_and_only_written_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["trip", "--variant", "plain", *arguments])
        return command.main(), capsys.readouterr().out

    measured = {"sync": {"C calls": 100.0}}
    monkeypatch.setattr(limits, "FILE", tmp_path / "limits.json")
    monkeypatch.setattr(limits, "measured", lambda variant, bootstrap_servers: (measured, []))
    monkeypatch.setattr(command, "broker_process", _no_broker)
    limits.FILE.write_text(f'{{"python": "{limits.python_version()}"}}')
    assert run("--limits") == (1, "plain: there are no limits; write them with: python -m bench.trip --write-limits\n")
    assert run("--write-limits") == (0, f"written to {limits.FILE}\n")
    assert run("--limits") == (0, f"within the limits of {limits.FILE}\n")
    written = limits.FILE.read_bytes()
    measured["sync"] = {"C calls": 120.0}
    code, said = run("--limits")
    assert code == 1
    assert said.startswith("plain: A trip with sync takes 120 C calls; the limit is 100")
    assert limits.FILE.read_bytes() == written
    limits.FILE.write_text('{"python": "2.7"}')
    assert run("--limits")[0] == 1


def test_calls_of_all_threads_are_counted_by_trip() -> None:
    def trip() -> None:
        thread = threading.Thread(target=called)
        thread.start()
        thread.join()
        called()

    def called() -> None:
        "a".upper()

    trip()
    with CallLog() as log:
        for _ in range(3):
            trip()
            log.mark()
        trip()
    trips = list(log.trips())
    assert len(trips) == 3
    code = called.__code__
    for calls in trips:
        assert sum(called == code and not name for called, name, _ in calls) == 2
        assert sum(called == code and name == "str.upper" for called, name, _ in calls) == 2


def test_helpers_belong_to_the_stage_of_their_caller() -> None:
    def program() -> None:
        hash(uuid.UUID(int=1))

    code = compile("def append(helper): helper()", str(ROOT / "src/kafka/producer/appending/x.py"), "exec")
    append = {}
    exec(code, append)
    with CallLog() as log:
        append["append"](program)
        log.mark()
    counts = summarize(list(log.trips()))
    # This test's own functions are no part of the package, so they are helpers as those of the standard library are.
    assert counts.functions["append"]["kafka/producer/appending/x.py:append"] == 1
    assert counts.functions["append"]["uuid.py:UUID.__hash__"] == 1
    assert counts.unknown == []


def test_each_row_of_the_table_of_stages_has_a_stage_and_a_file() -> None:
    library = Path(threading.__file__).parent
    sources = [each.relative_to(ROOT / "src").as_posix() for each in (ROOT / "src" / "kafka").rglob("*.py")]
    sources += [each.relative_to(library).as_posix() for each in (*library.glob("*.py"), *library.glob("asyncio/*.py"))]
    for pattern, stage in TABLE:
        assert stage in (*STAGES, CALLER), pattern
        file = pattern.partition(":")[0]
        assert any(fnmatchcase(each, file) for each in sources), f"no file fits {pattern}"


def test_functions_have_stages() -> None:
    assert stage_of("kafka/net/frame_stream.py:Stream.get_buffer") == "read"
    assert stage_of("kafka/net/frame_stream.py:Stream.write") == "write"
    assert stage_of("bench/trips.py:round_trips") == PROGRAM
    assert stage_of("uuid.py:UUID.bytes") == CALLER
    assert stage_of("kafka/version.py:what") == UNKNOWN


def test_system_calls_are_counted_by_trip() -> None:
    first, second = trips_of(LISTING)
    assert first == {"sendto": 1}
    assert second == {"sendto": 1, "epoll_wait": 1, "futex": 2, WAITS: 1}
    counts = medians([second, second, first])
    assert list(counts.items()) == [("all", 4), ("futex", 2), ("epoll_wait", 1), ("sendto", 1), (WAITS, 1)]


def test_a_table_says_what_was_not_counted() -> None:
    with CallLog() as log:
        log.mark()
    calls = summarize(list(log.trips()))
    variant: Variant = "plain"
    lines = list(table([Counts("sync", variant, calls, 7, "expected strace on the PATH, found none")]))
    assert lines[0].split() == ["one", "trip", "sync,", "plain"]
    assert lines[3].split() == ["allocations", "7"]
    assert lines[-1] == "not counted: expected strace on the PATH, found none"
    assert len(list(functions(Counts("sync", variant, calls, 7, {}), 3))) >= len(STAGES) + 1


def test_the_small_server_numbers_records() -> None:
    builder = BatchBuilder()
    for number in range(3):
        builder.append(number, None, b"value")
    batch = bytes(builder.build())
    assert count_records(batch) == 3
    log = Log()
    assert [log.append(("t", None, 0), batch) for _ in range(2)] == [0, 3]
    kept = log.take()
    assert [int.from_bytes(kept[at : at + 8]) for at in (0, len(batch))] == [0, 3]
    assert (log.end, log.take()) == (6, b"")


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the counter stays for as long as its process lives")
def test_objects_that_are_freed_at_once_count_as_allocated() -> None:
    from bench.trip.allocations import begin_counting, per_trip

    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        count = begin_counting()
        found = []
        for objects in (range(0), range(20)):
            counts = [0] * 5
            for trip in range(5):
                for _ in objects:
                    bytes(1000)
                counts[trip] = count()
            found.append(per_trip(counts, 0))
        os.write(writing, str(found[1] - found[0]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert float(pipe.read()) == 20


def _result(latencies_ms: list[float], seconds: float, cpu_seconds: float) -> Result:
    return Result(1000, 1000, seconds, "", cpu_seconds, 0.0, "1", latencies_ms)


def test_times_are_medians_over_rounds() -> None:
    rounds = [
        _result([1.0, 2.0, 3.0], 1, 0.003),
        _result([2.0, 4.0, 6.0], 1, 0.006),
        _result([3.0, 3.0, 3.0], 1, 0.009),
    ]
    assert times(rounds, 1) == Times(3.0, 2.0, 4.0, pytest.approx(3.0, abs=0.1), 2.0)
    assert times([_result([], 2.0, 0.5)], 100) == Times(200.0, 200.0, 200.0, None, 50.0)


def test_a_row_compares_with_the_peer() -> None:
    (task,) = (each for each in tasks.full() if each.name == "round-trip")
    task = tasks.narrowed(task, {"ours", "confluent"}.__contains__, lambda topic: True)
    row = tasks.row(task, task.topics[0])
    row.results.update(ours=[_result([2.0] * 9, 1, 0.009)], confluent=[_result([1.0] * 9, 1, 0.0045)])
    ours, theirs = lines_of("sync", "replay", task, row)
    assert ours.split()[-6:] == ["2.000", "2.000", "-", "2.000", "2.000", "1.000"]
    assert theirs.split()[-5:] == ["1.000", "1.000", "0.500", "0.50", "0.50"]
    row.failures["confluent"] = "no word"
    assert list(lines_of("sync", "replay", task, row))[1].endswith("failed: no word")


@pytest.mark.slow
def test_the_small_server_forwards_what_it_does_not_know_and_answers_trips() -> None:
    with broker_process("bench.trip.replay") as address, Wire(address) as wire:
        create_topic(address, "trips", 1)
        (broker,) = wire.ask(message_class("MetadataRequest")(topics=[]), METADATA_VERSION).brokers
        assert f"{broker.host}:{broker.port}" == address
