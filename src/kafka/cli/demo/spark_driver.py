"""A command of ``kafka`` in a process of its own: ``python -m kafka.cli.demo.spark_driver pipeline run FILE``.

It does what the command does. It also exits when its standard input ends, because then the demo has died.
"""

import os
import signal
import sys
import threading

from kafka.cli.commands import commands


def _end_with_standard_input() -> None:
    os.read(sys.stdin.fileno(), 1)  # takes no lock that could block the interpreter at exit
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    commands(prog_name="kafka")
