"""The instructions for a driver of the demo: a file that the demo writes and every driver reads."""

import dataclasses
import json
import pathlib

TOPIC_QUERY = "flight delays to the topic"
PARQUET_QUERY = "flight delays to Parquet"


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a run, the same for the first driver and for the one that continues after it.

    Arguments:
        bootstrap_servers: "host:port,...".
        starting: by partition of the flights, the offset at which this run begins.
        records_per_trigger: maximum number of records in a micro-batch.
        transactional_id_prefix: prefix for the query that writes to the topic.
        groups: by the query's name, the group to which it commits its progress.
        parquet: folder for the results.
        work: folder for the checkpoints and the drivers' reports.
        airlines: carrier and name of each.
        airports: code and name of each.
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
        """The file to which a line is added for each micro-batch (`kafka.spark.watch`)."""
        return pathlib.Path(self.work) / "progress.jsonl"

    @property
    def failure(self) -> pathlib.Path:
        """The file in which a driver that fails says why."""
        return pathlib.Path(self.work) / "failure.txt"

    def checkpoint(self, query: str) -> pathlib.Path:
        """The folder with a query's checkpoint."""
        return pathlib.Path(self.work) / "checkpoints" / query.replace(" ", "-")

    def write(self) -> pathlib.Path:
        """Write it down for drivers; gives the file."""
        path = pathlib.Path(self.work) / "plan.json"
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")
        return path


def read_plan(path: pathlib.Path) -> Plan:
    """Read what `Plan.write` wrote."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return Plan(**{**found, "starting": {int(partition): offset for partition, offset in found["starting"].items()}})
