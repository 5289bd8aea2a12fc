"""``kafka ui`` as a process of its own, for the tests that open its pages.

`web_ui` starts it at a free port and waits until it listens. To give every such test another option, change `_COMMAND`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

_COMMAND = (sys.executable, "-m", "kafka_columnar", "ui", "--port", "0")
_READY = "Web UI at "


class WebUi(NamedTuple):
    """A running UI: its process, whose standard error is a pipe, and the address of its first page."""

    process: subprocess.Popen[str]
    address: str


@contextlib.contextmanager
def web_ui(*arguments: str, **env: str) -> Iterator[WebUi]:
    """Run the UI until the block ends, and then kill it.

    Args:
        arguments: options of ``kafka ui``, after ``--port 0``.
        env: environment variables. Of those that configure this package, the process inherits only ``KAFKA_PURE``.

    Yields:
        The UI, once it accepts connections.

    Raises:
        AssertionError: the first line on its standard error was not its address.
    """
    inherited = {name: value for name, value in os.environ.items() if _is_inherited(name)}
    command = [*_COMMAND, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=inherited | env) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith(_READY), f"expected {_READY!r} and an address, got {line!r}"
            yield WebUi(process, line.removeprefix(_READY).split()[0])
        finally:
            process.kill()


def _is_inherited(variable: str) -> bool:
    return variable == "KAFKA_PURE" or not variable.startswith("KAFKA_")
