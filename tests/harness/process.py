"""A child process that ends with the tests, however they end."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

POLL_S = 0.02


class Supervised:
    """A process in its own session, with a log file, that does not outlive this one.

    A watchdog (a shell that waits at a pipe) kills its process group when the pipe closes, which the system does also
    when this process is killed. All signals go to the process group of the one process that was started here.
    """

    def __init__(self, command: Sequence[str], log: Path, cwd: Path, pass_fds: Sequence[int] = ()) -> None:
        with log.open("ab") as out:
            self.log_start = out.tell()
            self._child = subprocess.Popen(
                command,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                pass_fds=pass_fds,
            )
        self.log = log
        self.pid = self._child.pid
        # The trap keeps an interrupt at the terminal from ending the watchdog before what it watches.
        script = "trap '' INT TERM; cat >/dev/null; kill -s KILL -- \"-$1\" 2>/dev/null"
        self._watchdog = subprocess.Popen(
            ["/bin/sh", "-c", script, "watchdog", str(self.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.end)

    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._child.poll() is None

    def output(self) -> str:
        """What the process has written to its log since it started."""
        with self.log.open("rb") as file:
            file.seek(self.log_start)
            return file.read().decode(errors="replace")

    def wait_for(self, mark: str, timeout_s: float) -> bool:
        """Wait until the log contains `mark`; False when the process ended, or the time was up, without it."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            ended = not self.running()
            if mark in self.output():
                return True
            if ended:
                return False
            time.sleep(POLL_S)
        return False

    def finish(self, timeout_s: float) -> int | None:
        """Wait until the process ends by itself; return its exit status, or None when the time was up."""
        try:
            status = self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        self._dismiss_watchdog()
        return status

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children, if it still runs."""
        if self.running():
            os.killpg(self.pid, number)

    def stop(self, timeout_s: float) -> bool:
        """Send SIGTERM to the process alone, which sees to its children itself; return whether it has ended in time."""
        if self.running():
            os.kill(self.pid, signal.SIGTERM)
        try:
            self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self, timeout_s: float = 20) -> bool:
        """End the process, with SIGTERM and then SIGKILL; return whether SIGTERM was enough."""
        self.signal(signal.SIGTERM)
        try:
            self._child.wait(timeout_s)
            gentle = True
        except subprocess.TimeoutExpired:
            self.kill()
            gentle = False
        self._dismiss_watchdog()
        return gentle

    def kill(self) -> None:
        """End the process with SIGKILL and wait until it is gone."""
        self.signal(signal.SIGKILL)
        self._child.wait()
        self._dismiss_watchdog()

    def _dismiss_watchdog(self) -> None:
        """End the watchdog before the number of the process that it watches can be given to another."""
        if self._watchdog.poll() is None:
            self._watchdog.kill()
            self._watchdog.wait()
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()
        atexit.unregister(self.end)
