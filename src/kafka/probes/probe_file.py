"""`ProbeFile`: writes the results of the probes to a file, for exec probes in processes that may not open a port.

``kafka probe file PATH PROBE`` reads it with `read_verdict`. A file that is not renewed counts as a failure, so a
process whose threads cannot run fails its probes too.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kafka.probes.verdicts import PROBES, ProbeName, Probes, Verdict

_STOPPING_S = 5.0


class ProbeFile:
    """Writes the results of all probes to a file every few seconds, in a thread of its own.

    Use it as a context manager, or call `start` and `stop`. The file is replaced as a whole, so readers never see a
    part of it. `stop` removes it.

    Arguments:
        probes: the probes to write.
        path: the file; its folder must exist and be writable, such as an emptyDir volume.
        interval_s: seconds between two writes; choose less than half the ``--max-age`` of the probe.

    Raises:
        ValueError: the interval is not positive.
    """

    def __init__(self, probes: Probes, path: str | os.PathLike[str], interval_s: float = 5.0) -> None:
        if not interval_s > 0:
            raise ValueError(f"expected interval_s above 0 seconds, got {interval_s!r}")
        self._probes = probes
        self._path = Path(path)
        self._interval_s = interval_s
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def write(self) -> None:
        """Write the file now. `start` does this regularly.

        Raises:
            OSError: the file cannot be written.
        """
        results = {probe: self._probes.check(probe).to_dict() for probe in PROBES}
        content = json.dumps({"written_at": time.time(), "pid": os.getpid(), "probes": results})
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        temporary.write_text(content + "\n", encoding="utf-8")
        temporary.replace(self._path)

    def start(self) -> None:
        """Write the file, and go on to write it. Does nothing if it was started before.

        Raises:
            OSError: the file cannot be written.
        """
        if self._thread is not None:
            return
        self.write()
        self._ended.clear()
        self._thread = threading.Thread(target=self._renew, name="kafka-probes", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop to write, and remove the file. Does nothing if it is not running."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._ended.set()
        thread.join(_STOPPING_S)
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _renew(self) -> None:
        while not self._ended.wait(self._interval_s):
            with contextlib.suppress(OSError):  # a full disk: the file gets too old, and the probe says so
                self.write()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def read_verdict(path: str | os.PathLike[str], probe: ProbeName, max_age_s: float) -> Verdict:
    """Return the result of a probe from the file that a `ProbeFile` writes. A missing or old file is a failed probe.

    Arguments:
        path: the file.
        probe: "live", "ready" or "startup".
        max_age_s: seconds after which the file is too old.
    """
    try:
        found: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        age_s, told = time.time() - float(found["written_at"]), found["probes"][probe]
        passed, reasons, clients = bool(told["passed"]), tuple(map(str, told["reasons"])), dict(told["clients"])
    except OSError as error:
        return Verdict(probe, False, (f"{os.fspath(path)} cannot be read: {error.strerror or error}",), {})
    except (KeyError, TypeError, ValueError):
        return Verdict(probe, False, (f"{os.fspath(path)} was not written by kafka.probes.ProbeFile",), {})
    if age_s > max_age_s:
        reason = f"{os.fspath(path)} was written {age_s:.0f} s ago; the limit is {max_age_s:g} s"
        return Verdict(probe, False, (reason,), clients)
    return Verdict(probe, passed, reasons, clients, told.get("seconds_since_progress"))
