"""The benchmarks: this package against its peers, on one Apache Kafka, in one run.

`python -m bench` (what `make bench` calls). A figure is never compared with one of another run or machine: each round
runs every client once, in alternation, each in a fresh process, and the table shows medians, spread and ratios. The
records that were read or written are counted and summed, so that a fast wrong answer fails.

- `workload`: the records, and how they are summed up; `topics`: what lies on the broker before the rounds begin
- `clients/`: one module a client, the same tasks in each client's own best words
- `job`: one task of one client in a process; `runner`: rounds; `report`: the tables
- `trip/`: what a round trip of one record costs, counted rather than timed
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEST_HARNESS = str(ROOT / "tests")
if TEST_HARNESS not in sys.path:  # the benchmarks start their broker as the tests do
    sys.path.append(TEST_HARNESS)
