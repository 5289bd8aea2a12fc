"""A pytest plugin that writes down which tests run which lines: `scripts/mutate.py` runs a mutant against those alone.

Two variables of the environment tell it what to do: TESTS_BY_LINE_OF is the folder of the sources, TESTS_BY_LINE_TO the
file to write. It is JSON: `tests`, the ids of the tests; `seconds`, how long each took; `lines`, for each file below
the folder and each line of it the numbers of the tests that ran it, -1 for what ran while modules were imported.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest


class _Recorder:
    def __init__(self, sources: Path, target: Path) -> None:
        self._sources, self._target = sources, target
        self._coverage = coverage.Coverage(data_file=None, config_file=False, source=[str(sources)])
        self._tests: list[str] = []
        self._seconds: list[float] = []
        self._coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """A test with its fixtures is one context, on all threads."""
        self._coverage.switch_context(str(len(self._tests)))
        self._tests.append(item.nodeid)
        started = time.monotonic()
        try:
            return (yield)
        finally:
            self._seconds.append(time.monotonic() - started)

    def pytest_sessionfinish(self) -> None:
        """Write it all down."""
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[int, list[int]]] = {}
        for file in data.measured_files():
            found = data.contexts_by_lineno(file)
            name = Path(file).relative_to(self._sources).as_posix()
            lines[name] = {line: sorted(int(each or -1) for each in contexts) for line, contexts in found.items()}
        self._target.write_text(json.dumps({"tests": self._tests, "seconds": self._seconds, "lines": lines}))


def pytest_configure(config: pytest.Config) -> None:
    """Begin to look before anything is imported."""
    recorder = _Recorder(Path(os.environ["TESTS_BY_LINE_OF"]), Path(os.environ["TESTS_BY_LINE_TO"]))
    config.pluginmanager.register(recorder)
