"""Measure the shape of the source tree: how many files, how large, and how many a call passes through.

    python scripts/shape.py            print each measure with its target
    python scripts/shape.py --list     name the files and constructors, too

`send()` and `poll()` run on the plain variant, against the embedded broker in another process. A file counts if one of
its functions runs between the call and its result. `poll()` waits for the record that it returns: first the files that
a reader passes through from the public method to the buffers are counted, those on the calling thread; then those that
run on the client's network thread meanwhile, too, which also fetches ahead and sends heartbeats.
"""

from __future__ import annotations

import argparse
import ast
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
SMALL = 40
"""A file with fewer lines is small."""
_SEND = (
    "import sys; from kafka import KafkaProducer as P; P(bootstrap_servers=sys.argv[1]).send('shape', b'third').get(30)"
)
MOST_CALLABLES = 2
"""How many callables a constructor should take at most."""


class Measure(NamedTuple):
    """One measure of the tree.

    Arguments:
        name: what is counted.
        value: the count.
        target: the highest or lowest good value, as text.
        members: what was counted, for `--list`.
    """

    name: str
    value: float
    target: str
    members: tuple[str, ...] = ()


def main() -> None:
    """Print all measures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name what was counted")
    shows_members = parser.parse_args().list
    for measure in (*of_files(SOURCE), of_constructors(SOURCE), *of_calls()):
        print(f"{measure.name:52}{measure.value:8,.0f}   target: {measure.target}")
        if shows_members:
            print("".join(f"    {each}\n" for each in measure.members), end="")


def of_files(folder: Path) -> list[Measure]:
    """Measure the number of files below a folder, and their lines."""
    lines = {path: path.read_text().count("\n") for path in sorted(folder.rglob("*.py"))}
    of_pipelines = sum("pipelines" in path.relative_to(folder).parts for path in lines)
    small = tuple(f"{path.relative_to(folder)}: {count}" for path, count in lines.items() if count < SMALL)
    return [
        Measure("files outside pipelines", len(lines) - of_pipelines, "at most 920"),
        Measure("files of pipelines", of_pipelines, "none"),
        Measure("median of their lines", statistics.median(lines.values()), "near 100"),
        Measure(f"files with fewer than {SMALL} lines", len(small), "at most 150", small),
    ]


def of_constructors(folder: Path) -> Measure:
    """Count the constructors below a folder that take many callables."""
    found = tuple(
        f"{path.relative_to(folder)}: {name} takes {', '.join(callables)}"
        for path in sorted(folder.rglob("*.py"))
        for name, callables in constructors(ast.parse(path.read_text()))
        if len(callables) > MOST_CALLABLES
    )
    return Measure(f"constructors with more than {MOST_CALLABLES} callables", len(found), "none", found)


def constructors(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """List the classes of a module with the callables among their constructor's parameters.

    A parameter is a callable if its annotation contains `Callable`, or a name that the module defines by `Callable`.
    """
    names = {"Callable"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and "Callable" in ast.unparse(node):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                arguments = [*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs]
                yield cls.name, [each.arg for each in arguments if _uses(each.annotation, names)]


def _uses(annotation: ast.expr | None, names: set[str]) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(annotation))


def of_calls() -> list[Measure]:
    """Count the files that `send()` and `poll()` pass through, in a process with the plain variant."""
    environment = os.environ | {"KAFKA_PURE": "1", "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, str(Path(__file__).resolve()), "--trace"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    found = {}
    for line in done.stdout.splitlines():
        name, *files = line.split()
        found[name] = tuple(files)
    targets = {
        "send()": ("files that send() passes through", "at most 40"),
        "poll()": ("files that poll() passes through, on its thread", "at most 28"),
        "poll(),threads": ("files that poll() passes through", "none"),
    }
    return [Measure(title, len(found[key]), target, found[key]) for key, (title, target) in targets.items()]


class Tracer:
    """Notes the files of this package whose functions are called, in all threads that start after it was installed."""

    def __init__(self) -> None:
        self._folder = f"{SOURCE}{os.sep}"
        self._files: set[str] | None = None
        self._files_of_caller: set[str] = set()
        self._caller = threading.get_ident()
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def of(self, call: Callable[[], object]) -> tuple[list[str], list[str]]:
        """Make a call, and return the files that it passed through: in this thread, and in all threads."""
        files: set[str] = set()
        self._files, self._files_of_caller = files, set()
        call()
        self._files = None
        return sorted(self._files_of_caller), sorted(files)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        files, name = self._files, frame.f_code.co_filename
        if files is not None and event == "call" and name.startswith(self._folder):
            files.add(name.removeprefix(self._folder))
            if threading.get_ident() == self._caller:
                self._files_of_caller.add(name.removeprefix(self._folder))


def trace() -> None:
    """Print the files of each call. The second call counts: the first one also connects."""
    tracer = Tracer()
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

    command = [sys.executable, "-m", "kafka", "broker", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as broker:
        assert broker.stdout is not None
        try:
            server = broker.stdout.readline().split()[-1]
            with KafkaProducer(bootstrap_servers=server) as producer:
                producer.send("shape", b"first").get(30)
                print("send()", *tracer.of(lambda: producer.send("shape", b"second").get(30))[1])
                options: dict[str, Any] = {"group_id": "shape", "auto_offset_reset": "earliest", "max_poll_records": 1}
                with KafkaConsumer("shape", bootstrap_servers=server, **options) as consumer:
                    while consumer.poll(1000) or consumer.position(TopicPartition("shape", 0)) < 2:
                        pass
                    with subprocess.Popen([sys.executable, "-c", _SEND, server]):  # elsewhere, so that it is not traced
                        on_caller, on_all = tracer.of(lambda: consumer.poll(30_000))
                        print("poll()", *on_caller)
                        print("poll(),threads", *on_all)
        finally:
            broker.terminate()


if __name__ == "__main__":
    trace() if "--trace" in sys.argv else main()
