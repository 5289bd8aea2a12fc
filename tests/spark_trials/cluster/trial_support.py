"""What the trials share: running the program, and looking at what its processes take."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.spark_usage import descendants

PROGRAM = Path(__file__).with_name("spark_program.py")
ROWS = 1_000
EXPECTED = {"batch": [ROWS, ROWS], "stream": [ROWS, ROWS], "batches": 3}
CLUSTER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
}


class ProgramError(Exception):
    """The program failed; the text is what it said."""


@contextlib.contextmanager
def program(
    servers: str,
    topic: str,
    folder: Path,
    settings: Mapping[str, str],
    env: Mapping[str, str] | None = None,
    login: Mapping[str, str] | None = None,
) -> Iterator[tuple[dict[str, Any], int]]:
    """Run the program; gives what it saw and its process, which lives until the end of the block."""
    command = [sys.executable, str(PROGRAM), servers, topic, str(folder), json.dumps(settings), json.dumps(login or {})]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", **(env or {})}
    with (folder / "program.log").open("w+") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line.startswith("{"):
                process.wait(60)
                errors.seek(0)
                raise ProgramError(line + errors.read())
            yield json.loads(line), process.pid
            process.stdin.close()
            process.wait(60)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            if not process.stdin.closed:
                process.stdin.close()


def memory_mb(*roots: int) -> dict[str, list[int]]:
    """The resident memory of the processes below some, in MB, by their program, largest first."""
    found: dict[str, list[int]] = {}
    for pid in (each for root in roots for each in descendants(root)):
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:  # it ended meanwhile
            continue
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        if "VmRSS" in status:
            found.setdefault(status["Name"].strip(), []).append(int(status["VmRSS"].split()[0]) // 1024)
    return {name: sorted(sizes, reverse=True) for name, sizes in found.items()}
