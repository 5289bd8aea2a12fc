"""`bench.job` for the Python of an old release of kafka-python: `python3.6 bench/old_job.py JSON`.

It does the same in the same order, with the standard library alone. The sums are made when the clock has stopped, as
they take longer without numpy.
"""

import importlib
import json
import os
import resource
import struct
import sys
import time
import types
import zlib
from typing import Any

KEY_WORDS = struct.Struct("=2I")
"""As `bench.workload` adds keys up."""


class Sums:
    """As `bench.workload.Sums`."""

    def __init__(self, value_size: int) -> None:
        self.count = 0
        self._value_words = struct.Struct(f"={value_size // 4}I")
        self._keys: Any = []
        self._values: Any = []

    def add(self, keys: Any, values: Any) -> None:
        """Take in records."""
        self.count += len(values)
        self._keys.append(b"".join(keys))
        self._values.append(b"".join(values))

    @property
    def checksum(self) -> str:
        """The same for the same records in any order, and as that of `bench.workload`."""
        keys = _column_sums(KEY_WORDS, b"".join(self._keys))
        return f"{zlib.crc32(_column_sums(self._value_words, b''.join(self._values)), zlib.crc32(keys)):08x}"


def _column_sums(words: struct.Struct, data: bytes) -> bytes:
    columns = list(zip(*words.iter_unpack(data))) or [()] * (words.size // 4)  # noqa: B905  # Python 3.6
    return words.pack(*[sum(column) & 0xFFFFFFFF for column in columns])


class Watch:
    """As `bench.job.Watch`."""

    def __init__(self, count: int, sums: Sums) -> None:
        self.sums = sums
        self.before = 0
        self.seconds = self.cpu_seconds = 0.0
        self._wanted = count
        self._started = self._cpu_started = 0.0

    def start(self) -> None:
        """Begin now."""
        self._started, self._cpu_started = time.perf_counter(), time.process_time()

    def done(self) -> bool:
        """Tell whether all records came."""
        if self.sums.count < self._wanted:
            if not self._started and self.sums.count:
                self.before = self.sums.count
                self.start()
            return False
        self.stop()
        return True

    def stop(self) -> None:
        """End now."""
        self.seconds = time.perf_counter() - self._started
        self.cpu_seconds = time.process_time() - self._cpu_started

    def acknowledged(self, count: int) -> None:
        """Tell how many records the broker has."""
        self.sums.count = count


def main() -> None:
    """Read a job from the command line, do it, and print its result."""
    asked: Any = json.loads(sys.argv[1])
    sys.path[0] = os.path.join(sys.path[0], "clients")
    module = importlib.import_module(asked.pop("module"))
    task = getattr(module, asked["task"].replace("-", "_"))
    if asked["warm_up"]:
        warm_up = types.SimpleNamespace(**dict(asked, topic=asked["warm_up"]))
        task(warm_up, Watch(asked["count"], Sums(asked["size"])))
    watch = Watch(asked["count"], Sums(asked["size"]))
    task(types.SimpleNamespace(**asked), watch)
    result = {
        "count": watch.sums.count,
        "timed": watch.sums.count - watch.before,
        "seconds": watch.seconds,
        "checksum": watch.sums.checksum,
        "cpu_seconds": watch.cpu_seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "version": module.VERSION,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
