"""The table of tasks fits the clients."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from bench import ROOT, tasks
from bench.__main__ import main
from bench.figures import FIGURES
from bench.roster import CLIENTS, OTHER_TREE, process_environment
from bench.topics import PARTITIONS, Topic

pytestmark = pytest.mark.once

TASKS = tasks.usual() + tasks.full() + tasks.small() + tasks.quick() + tasks.against_other_tree()


def functions(module: str) -> set[str]:
    """The tasks that a module does, found without importing what it needs."""
    tree = ast.parse((ROOT / "bench" / "clients" / f"{module}.py").read_text())
    assigned = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
    names = {target.id for target in assigned if isinstance(target, ast.Name)}
    return names | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_each_client_can_do_its_tasks(client: str) -> None:
    wanted = {task.name.replace("-", "_") for task in TASKS if client in task.clients}
    assert wanted, "it does nothing"
    assert wanted <= functions(CLIENTS[client].module)


def test_the_first_client_is_ours_and_what_is_asked_is_measured() -> None:
    for task in TASKS:
        assert CLIENTS[task.clients[0]].title.startswith("kafka-columnar")
        for target in task.targets:
            assert target.client in task.clients[1:]
            assert target.figure in {figure.name for figure in FIGURES[task.measure]}


def test_rows_can_be_told_apart() -> None:
    keys = [(task.name, topic.title, task.clients[0]) for task in tasks.full() for topic in task.topics]
    assert len(keys) == len(set(keys))


def test_the_quick_ones_are_a_part_of_all() -> None:
    names = {task.name for task in tasks.quick()}
    assert names == tasks._QUICK_TASKS
    assert names < {task.name for task in tasks.full()}
    assert {client for task in tasks.quick() for client in task.running} == tasks._QUICK_CLIENTS
    again = tasks.narrowed(tasks.quick()[0], lambda client: True, lambda topic: True)
    assert "java" not in again.running, "who is left out stays so"


def test_the_usual_ones_are_those_of_which_something_is_asked() -> None:
    rows = {(task.title, topic) for task in tasks.usual() for topic in task.topics}
    assert rows == {(task.title, topic) for task in tasks.full() for topic in task.topics if task.targets}
    for task in tasks.usual():
        assert set(task.running) == {task.clients[0], *(target.client for target in task.targets)}


def test_another_tree_does_each_row_of_ours_with_the_same_records() -> None:
    others = tasks.against_other_tree()
    assert [(task.title, task.topics) for task in others] == [(task.title, task.topics) for task in tasks.full()]
    for task in others:
        mine, other = task.running
        assert other == f"{mine}-before"
        assert all(task.topic_for(mine, topic) == task.topic_for(other, topic) for topic in task.topics)


def test_a_tree_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--before", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert f"expected a checkout of this project, got {tmp_path}" in capsys.readouterr().err


def test_a_process_of_another_tree_finds_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_TREE, "there")
    assert process_environment(CLIENTS["ours-before"])["PYTHONPATH"] == str(Path("there") / "src")
    plain = process_environment(CLIENTS["ours-plain-before"])
    assert (plain["PYTHONPATH"], plain["KAFKA_PURE"]) == (str(Path("there") / "src"), "1")


def test_a_slow_client_gets_fewer_of_the_same_records() -> None:
    for task in TASKS:
        for topic in task.topics:
            for client in task.clients:
                given = task.topic_for(client, topic)
                assert (given.size, given.codec) == (topic.size, topic.codec)
                assert given.count <= topic.count


def test_a_task_can_be_narrowed() -> None:
    task = tasks.narrowed(tasks.full()[0], lambda client: client == "confluent", lambda topic: topic.codec == "none")
    assert task.running == ("confluent",)
    assert task.clients[0] == "ours", "who is ours does not depend on who runs"
    assert not tasks.narrowed(task, lambda client: True, lambda topic: topic.codec == "lz4").topics


def test_small_batches_are_topics_of_their_own() -> None:
    def topics(table: list[tasks.Task]) -> set[Topic]:
        return {topic for task in table for topic in task.topics}

    small = {topic for topic in topics(tasks.full()) if topic.per_batch or topic.partitions > PARTITIONS}
    assert {(topic.name, topic.title) for topic in small} == {
        ("bench-none-100-500000-by-5", "100 bytes, none, 5 a batch"),
        ("bench-lz4-100-500000-by-5", "100 bytes, lz4, 5 a batch"),
        ("bench-none-100-500000-in-1000", "100 bytes, none, 1,000 partitions"),
        ("bench-none-100-2000-in-8", "100 bytes, none, 8 partitions"),
    }
    assert not small & topics(tasks.quick())


@pytest.mark.parametrize(
    "options", [["--task", "poll", "--task", "nothing"], ["--codec", "lz5"], ["--quick", "--task", "spark-noop"]]
)
def test_options_that_leave_nothing_are_refused_with_the_tasks_that_there_are(
    options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", *options])
    with pytest.raises(SystemExit, match=r"leave something to measure, got .*; the tasks are poll-arrow, poll, "):
        main()
