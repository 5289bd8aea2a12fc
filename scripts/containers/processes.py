"""Runs a built stage like a container: with processes, a network and mounts of its own, as its user.

The root is read-only; volumes and `/tmp` are not. The process is number 1 there, which gets only the signals that it
handles, so a trial shows whether SIGTERM ends it. Commands run next to it with `nsenter`, as `podman exec` does.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.containers.containerfile import Stage
from scripts.containers.stages import SYSTEM

_BEGIN_S = 60.0
_ALONE = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "--propagation=private"]


class Running:
    """A stage that runs.

    Arguments:
        stage: the stage, whose ENV, USER, WORKDIR, VOLUME, ENTRYPOINT and CMD apply.
        root: the folder of the stage.
        volumes: folders of this machine by path in the stage.
        more: arguments, which replace CMD.
        variables: further variables.
    """

    def __init__(
        self,
        stage: Stage,
        root: Path,
        volumes: Mapping[str, Path],
        more: Sequence[str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        entry = stage.last("ENTRYPOINT")
        assert entry is not None
        command = stage.command() if more is None else [*entry.words(), *more]
        user, here = stage.last("USER"), stage.last("WORKDIR")
        assert user is not None, "a container file without USER runs as root"
        self._user = user.text
        self._root = root
        self._variables = SYSTEM | stage.environment() | {"HOME": "/"} | dict(variables or {})
        binds = [f"mount --bind {shlex.quote(str(place))} {root}{path}" for path, place in volumes.items()]
        path, folder = self._variables["PATH"], here.text if here else "/"
        script = [
            "set -e",
            f"PATH={SYSTEM['PATH']}",
            "ip link set lo up",
            f"mount --rbind {root} {root}",
            *binds,
            f"mount -t tmpfs tmpfs {root}/tmp",
            f"mount -t proc proc {root}/proc",
            f"mount --rbind /dev {root}/dev",
            f"mount -o remount,bind,ro {root}",
            f'exec /usr/sbin/chroot --userspec={self._user} {root} /usr/bin/env -C {folder} PATH={path} "$@"',
        ]
        self._process = subprocess.Popen(
            [*_ALONE, "/bin/sh", "-c", "\n".join(script), "sh", *command],
            env=self._variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.pid = self._first_process()

    def _first_process(self) -> int:
        """The number, on this machine, of the process that is number 1 in the stage."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        ends = time.monotonic() + _BEGIN_S
        while time.monotonic() < ends:
            found = children.read_text().split()
            if found:
                return int(found[0])
            time.sleep(0.02)
        raise TimeoutError("unshare has started no process")

    def inside(self, *command: str, outside: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command next to the process, and return how it ended.

        Arguments:
            command: the command.
            outside: run a program of this machine in the stage's network alone, as a client of a published port.
        """
        enter = ["nsenter", "--target", str(self.pid), "--net"]
        if outside:
            return subprocess.run([*enter, *command], capture_output=True, text=True, check=False, timeout=120)
        user, _, group = self._user.partition(":")
        enter += ["--mount", "--pid", "--ipc", "--uts", "--root", "--wd"]
        line = [*enter, "/usr/sbin/chroot", f"--userspec={user}:{group or user}", "/", *command]
        return subprocess.run(line, env=self._variables, capture_output=True, text=True, check=False, timeout=120)

    def beside(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a program of this machine in the stage's network, such as a broker that the stage connects to."""
        self.until_started()
        enter = ["nsenter", "--target", str(self.pid), "--net"]
        return subprocess.Popen([*enter, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def until_started(self) -> None:
        """Wait until the process is what the stage runs, and no longer the shell that prepares it."""
        ends = time.monotonic() + _BEGIN_S
        while os.readlink(f"/proc/{self.pid}/root") != str(self._root) and time.monotonic() < ends:
            time.sleep(0.02)

    def until_healthy(self, check: Sequence[str], patience_s: float = 60.0) -> float:
        """Run the health check until it passes, and return the seconds that this took. Raises `AssertionError`."""
        began = time.monotonic()
        while True:
            done = self.inside(*check)
            if done.returncode == 0:
                return time.monotonic() - began
            ended = self._process.poll()
            if ended is not None or time.monotonic() - began > patience_s:
                self.kill()
                raise AssertionError(f"not healthy: {done.stderr}\nstatus {ended}, output:\n{self.output()}")
            time.sleep(0.2)

    def stop(self, number: signal.Signals, patience_s: float = 10.0) -> tuple[int, float]:
        """Send the stop signal, as `podman stop` does; return the status and the seconds until the process ended."""
        began = time.monotonic()
        os.kill(self.pid, number)
        status = self._process.wait(timeout=patience_s)
        return status, time.monotonic() - began

    def output(self) -> str:
        """What the process has printed; waits for its end."""
        assert self._process.stdout is not None
        return self._process.stdout.read()

    def kill(self) -> None:
        """End the process at once. The end of `unshare` alone does not end it, because its user has changed."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
