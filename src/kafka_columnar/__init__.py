"""The command ``kafka``, which also works if the package `kafka` is incomplete.

Other distributions (kafka-python, kafka-python-ng) have a package `kafka` as well. The one installed last overwrites
files of the other, and uninstalling one removes files of the other. So the entry point is in a package with the
distribution's own name, which no other distribution overwrites. It imports `kafka` only to run a command, and otherwise
only the standard library.
"""

import gc
import sys
from typing import NoReturn

from kafka_columnar.streams import begin_in_utf_8, flushed, have_streams


def main(*before: str) -> NoReturn:
    """Run the command line with the arguments of the process.

    Arguments:
        before: arguments to insert before them.

    If the reader of the output is gone, as after ``| head``, it ends with status 1 and prints nothing.
    """
    begin_in_utf_8()
    sys.argv[1:1] = before
    gc.set_threshold(50_000)  # collecting garbage during imports takes a tenth of a short command's time
    have_streams()
    try:
        _run()
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        status = 130
    except OSError as error:  # from the doctor's output
        status = 1
        if not isinstance(error, BrokenPipeError):
            print(f"Error: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
    sys.exit(flushed(status))


_ELSEWHERE = {"admin": [], "consumer": ["consume", "--follow", "--from", "latest"], "producer": ["produce"]}
"""The commands of kafka-python's own command line, ``python -m kafka admin`` and so on."""


def _run() -> NoReturn:
    if len(sys.argv) > 1 and sys.argv[1] in _ELSEWHERE:
        sys.argv[1:2] = _ELSEWHERE[sys.argv[1]]
    if sys.argv[1:2] == ["doctor"]:
        from kafka_columnar.doctor import main as examine

        sys.exit(examine(sys.argv[2:]))
    try:
        from kafka.cli import main as run
    except Exception as error:
        from kafka_columnar.installation import problems

        told = [problem.text for problem in problems()] or [f"the package kafka cannot be imported: {error}"]
        for text in told:
            print(f"kafka: {text}", file=sys.stderr)
        sys.exit(1)
    run()
