"""What the other tests stand on: the cache, and processes that do not outlive the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from harness import ports
from harness.cache import build_once, cache_folder
from harness.ports import free_ports
from harness.process import Supervised
from harness.properties import ClusterPlan, format_arguments, server_properties
from kafka import pipelines

pytestmark = pytest.mark.once

TESTS = Path(__file__).resolve().parents[1]
PATIENCE_S = 20.0


def test_a_folder_is_built_once(tmp_path: Path) -> None:
    made: list[Path] = []
    for _ in range(2):
        assert build_once(tmp_path / "thing", made.append) == tmp_path / "thing"
    assert len(made) == 1


def test_a_folder_that_could_not_be_built_is_not_there(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        build_once(tmp_path / "thing", fail)
    assert [path.name for path in tmp_path.iterdir()] == [".thing.lock"]


def test_of_two_builders_at_once_one_waits_for_the_other(tmp_path: Path) -> None:
    began, made = threading.Barrier(2), []

    def build() -> None:
        began.wait()
        build_once(tmp_path / "thing", made.append)

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_the_environment_chooses_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_COLUMNAR_CACHE", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache"


def test_the_cache_is_in_the_tree_where_home_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.delenv("KAFKA_COLUMNAR_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a-file"))
    assert cache_folder() == TESTS.parent / ".cache"


def test_ports_differ() -> None:
    assert len(set(free_ports(20))) == 20


def test_no_other_process_gets_a_port_before_its_broker_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
import sys
from harness import ports
ports.LOWEST, ports.HIGHEST, ports._TRIES = 14_000, 14_006, 500
try:
    while True:
        print(*ports.free_ports(1), flush=True)
except RuntimeError:
    print("no more", flush=True)
sys.stdin.read()
"""
    monkeypatch.setattr(ports, "LOWEST", 14_000)
    monkeypatch.setattr(ports, "HIGHEST", 14_006)
    monkeypatch.setattr(ports, "_TRIES", 500)
    monkeypatch.setattr(ports, "_taken", set())
    ours = {port for _ in range(2) for port in free_ports(1)}
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = set(iter(other.stdout.readline, "no more\n"))
        assert theirs
        assert not {str(port) for port in ours} & {line.strip() for line in theirs}
        with pytest.raises(RuntimeError, match="expected 6 free ports from 14000 to 14005"):
            free_ports(6)
        other.communicate()
    assert ours.isdisjoint(free_ports(1)), "what ended with the other process is free again"


def gone(pid: int) -> bool:
    """Wait until a process is no more, or only a zombie that nobody has waited for."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout
        if not state.strip() or state.startswith("Z"):
            return True
    return False


def test_a_process_ends_with_the_tests_that_started_it(tmp_path: Path) -> None:
    code = f"""
import os, pathlib, signal, sys
sys.path.insert(0, {str(TESTS)!r})
from harness.process import Supervised
child = Supervised(["sleep", "600"], pathlib.Path({str(tmp_path / "log")!r}), pathlib.Path({str(tmp_path)!r}))
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -9
    assert gone(int(done.stdout))


def test_a_process_that_ends_early_is_not_waited_for(tmp_path: Path) -> None:
    process = Supervised(["sh", "-c", "echo hello; exit 3"], tmp_path / "log", tmp_path)
    assert not process.wait_for("never said", PATIENCE_S)
    assert process.output() == "hello\n"
    process.end()


def test_a_killed_process_is_gone_when_kill_returns(tmp_path: Path) -> None:
    process = Supervised(["sleep", "600"], tmp_path / "log", tmp_path)
    assert process.running()
    process.kill()
    assert not process.running()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_each_listener_of_a_node_has_its_port_and_its_protocol(tmp_path: Path) -> None:
    plan = ClusterPlan(
        tmp_path, {1: {"plaintext": 1, "mtls": 2, "sasl": 3, "controller": 4}}, ("plaintext", "mtls", "sasl")
    )
    lines = dict(line.split("=", 1) for line in server_properties(plan, 1).splitlines())
    assert lines["advertised.listeners"] == "PLAINTEXT://127.0.0.1:1,MTLS://127.0.0.1:2,SASL_PLAINTEXT://127.0.0.1:3"
    assert "MTLS:SSL" in lines["listener.security.protocol.map"]
    assert lines["controller.quorum.voters"] == "1@127.0.0.1:4"
    assert any(argument.startswith("SCRAM-SHA-512=[name=alice") for argument in format_arguments(plan))


def test_pytest_rewrites_no_module_that_a_thread_may_import_during_a_test(pytestconfig: pytest.Config) -> None:
    """Two threads that parse at the same time fail on CPython 3.11."""
    hook: Any = pytestconfig.pluginmanager.rewrite_hook
    for package in (pipelines, hypothesis):
        for name in ("errors", "run", "events"):
            assert hook.find_spec(f"{package.__name__}.{name}", list(package.__path__)) is None
    here = hook.find_spec("unit.test_harness", [str(Path(__file__).parent)])
    assert here.loader is hook, "that of a test is"
