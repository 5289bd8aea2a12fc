"""The table of tasks fits the clients."""

from __future__ import annotations

import ast
import sys

import pytest
from bench import ROOT, tasks
from bench.__main__ import main
from bench.figures import FIGURES
from bench.roster import CLIENTS
from bench.topics import Topic

TASKS = tasks.full() + tasks.small() + tasks.quick()


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

    small = {topic for topic in topics(tasks.full()) if topic.per_batch}
    assert {(topic.name, topic.title) for topic in small} == {
        ("bench-none-100-500000-by-5", "100 bytes, none, 5 a batch"),
        ("bench-lz4-100-500000-by-5", "100 bytes, lz4, 5 a batch"),
    }
    assert not {topic for topic in topics(tasks.quick()) if topic.per_batch}


@pytest.mark.parametrize(
    "options", [["--task", "poll", "--task", "nothing"], ["--codec", "lz5"], ["--quick", "--task", "spark-noop"]]
)
def test_options_that_leave_nothing_are_refused_with_the_tasks_that_there_are(
    options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", *options])
    with pytest.raises(SystemExit, match=r"leave something to measure, got .*; the tasks are poll-arrow, poll, "):
        main()
