"""The examples of docs/ADMIN.md, run one after the other as they stand but for the broker's address."""

import pathlib
import re
import subprocess
import sys

TEXT = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "ADMIN.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_examples_work(broker):
    printed = []
    for code in EXAMPLES:
        code = code.replace("localhost:9092", broker.bootstrap_servers)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert len(printed) == 4
    assert "OffsetAndTimestamp(offset=0" in printed[0]
    assert "TopicPartition(topic='invoices', partition=0) 0" in printed[2]
    assert "failed: UnknownTopicOrPartitionError" in printed[2]
    assert "'offset': 0" in printed[3]
