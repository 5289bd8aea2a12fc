"""The programs of docs/ASYNCIO.md run, and end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.topics import create_topic, new_topic_name

if TYPE_CHECKING:
    from conftest import Broker

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "ASYNCIO.md").read_text()
SERVICE, STOPPING = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("code", "ends"), [(SERVICE, "total 4950\n"), (STOPPING, "stopped\n")])
def test_a_program_of_the_guide_runs(code: str, ends: str, broker: Broker) -> None:
    topic = new_topic_name()
    create_topic(broker.bootstrap_servers, topic, 2, {})
    code = code.replace("localhost:9092", broker.bootstrap_servers).replace("asyncio-", f"{topic}-")
    code = code.replace(f"{topic}-orders", topic)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(ends)
