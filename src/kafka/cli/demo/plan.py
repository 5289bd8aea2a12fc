"""The plan of a demo run: a file that the demo writes and every driver reads."""

import dataclasses
import json
import pathlib

TOPIC_QUERY = "flight delays to the topic"
PARQUET_QUERY = "flight delays to Parquet"


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a run, the same for the first driver and the one that continues after it.

    Arguments:
        bootstrap_servers: "host:port,...".
        starting: a mapping of each partition of the flights to the offset at which this run starts.
        records_per_trigger: maximum number of records in a micro-batch.
        transactional_id_prefix: prefix for the query that writes to the topic.
        groups: a mapping of each query's name to the group to which the query commits its progress.
        parquet: folder for the results.
        work: folder for the checkpoints and the drivers' reports.
        airlines: pairs of carrier and name.
        airports: pairs of code and name.
    """

    bootstrap_servers: str
    starting: dict[int, int]
    records_per_trigger: int
    transactional_id_prefix: str
    groups: dict[str, str]
    parquet: str
    work: str
    airlines: list[tuple[str, str]]
    airports: list[tuple[str, str]]

    @property
    def progress(self) -> pathlib.Path:
        """The file to which `kafka.spark.watch` appends a line for each micro-batch."""
        return pathlib.Path(self.work) / "progress.jsonl"

    @property
    def failure(self) -> pathlib.Path:
        """The file to which a failing driver writes the reason."""
        return pathlib.Path(self.work) / "failure.txt"

    def checkpoint(self, query: str) -> pathlib.Path:
        """Return the checkpoint folder of a query."""
        return pathlib.Path(self.work) / "checkpoints" / query.replace(" ", "-")

    def write(self) -> pathlib.Path:
        """Write the plan for drivers; return the file."""
        path = pathlib.Path(self.work) / "plan.json"
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")
        return path


def read_plan(path: pathlib.Path) -> Plan:
    """Read a plan that `Plan.write` wrote."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return Plan(**{**found, "starting": {int(partition): offset for partition, offset in found["starting"].items()}})
