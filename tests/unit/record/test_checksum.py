"""The checksum is the library's, and comes without the library's package."""

from __future__ import annotations

import subprocess
import sys

import crc32c
import pytest

from kafka.record.layout import crc32c as checksum


def test_the_checksum_is_that_of_the_library() -> None:
    assert checksum(b"123456789") == 0xE3069283
    assert checksum(b"6789", checksum(b"12345")) == crc32c.crc32c(b"123456789")


@pytest.mark.slow
@pytest.mark.once
def test_spark_processes_import_no_command_line_of_a_library() -> None:
    code = "import sys, kafka.spark.tasks.read_task; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = done.stdout.split()
    assert "kafka.record.layout" in loaded
    assert not {"argparse", "importlib.metadata", "email", "csv", "mmap"}.intersection(loaded)
