"""What a driver of the demo is told: a file that the demo writes and every driver reads."""

import dataclasses
import json
import pathlib

TOPIC_QUERY = "flight delays to the topic"
PARQUET_QUERY = "flight delays to Parquet"


@dataclasses.dataclass(frozen=True)
class Plan:
    """The same for the first driver and for the one that goes on after it.

    Arguments:
        bootstrap_servers: "host:port,...".
        starting: where each partition of the flights begins for this run.
        records_per_trigger: at most so many in a micro-batch.
        transactional_id_prefix: of the query that writes to the topic.
        groups: to which each query commits how far it is, by the query's name.
        parquet: folder for the results.
        work: folder with the checkpoints and with what the drivers report.
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
