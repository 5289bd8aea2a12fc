"""What `scripts/shape.py` measures."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from scripts import shape

pytestmark = pytest.mark.once

CLASSES = """
Take = Callable[[int], None]

class Few:
    def __init__(self, clock: Callable[[], float], take: "Take | None" = None, name: str = "") -> None: ...

class Many:
    def __init__(self, a: Take, b: Callable[[], int], *, c: Take | None = None, d: int = 0) -> None: ...
"""


def test_callables_are_found_by_their_annotations() -> None:
    assert dict(shape.constructors(ast.parse(CLASSES))) == {"Few": ["clock", "take"], "Many": ["a", "b", "c"]}


def test_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "pipelines").mkdir()
    for name, lines in {"a.py": 39, "pipelines/b.py": 40, "c.py": 100}.items():
        (tmp_path / name).write_text("\n" * lines)
    (tmp_path / "many.py").write_text(CLASSES)
    files, of_pipelines, median, small = shape.of_files(tmp_path)
    assert (files.value, of_pipelines.value, median.value, small.value) == (3, 1, 39.5, 2)
    assert small.members == ("a.py: 39", "many.py: 8")
    assert shape.of_constructors(tmp_path).members == ("many.py: Many takes a, b, c",)


def test_calls_pass_through_files_of_the_clients_alone() -> None:
    send, poll, poll_threads = shape.of_calls()
    assert "kafka/producer/send/sender.py" in send.members
    assert "kafka/consumer/buffer/fetch_buffer.py" in poll.members
    assert "kafka/net/receiver.py" not in poll.members, "the network thread receives"
    assert {*poll.members, "kafka/net/receiver.py"} < set(poll_threads.members)
    members = (*send.members, *poll_threads.members)
    assert not [each for each in members if each.startswith(("kafka/broker", "kafka/cli"))]
