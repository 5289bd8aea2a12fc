"""The names of the demo's pipeline, and of its topics and files.

On an embedded broker, the names are short. Another cluster may contain topics and transactions of an earlier demo, so
that names there end with random characters.
"""

import dataclasses
import pathlib
import secrets

FILE = "flights.yaml"
"""Name of the declaration in the output directory."""
CHECKPOINT = "checkpoints/flights"
"""Directory of the pipeline, within the output directory."""
SPARK_LOG = "spark.log"
"""Name of the file with the output of the drivers, in the output directory."""


@dataclasses.dataclass(frozen=True)
class Names:
    """What a run of the demo is about.

    Arguments:
        bootstrap_servers: "host:port,...".
        registry_url: the URL of the schema registry.
        output: the output directory, as an absolute path.
        suffix: the end of each name; "" on an embedded broker.
    """

    bootstrap_servers: str
    registry_url: str
    output: pathlib.Path
    suffix: str = ""

    @property
    def pipeline(self) -> str:
        return f"flights{self.suffix}"

    @property
    def source(self) -> str:
        """The topic of the flights."""
        return f"flights{self.suffix}"

    @property
    def sink(self) -> str:
        """The topic of the results."""
        return f"flight_delays{self.suffix}"

    @property
    def dead_letters(self) -> str:
        return f"flights_dead{self.suffix}"

    @property
    def topics(self) -> tuple[str, str, str]:
        """All topics."""
        return self.source, self.sink, self.dead_letters

    @property
    def file(self) -> pathlib.Path:
        """The declaration."""
        return self.output / FILE

    @property
    def log(self) -> pathlib.Path:
        return self.output / SPARK_LOG

    @property
    def stream(self) -> pathlib.Path:
        """Spark's checkpoint."""
        return self.output / CHECKPOINT / "stream"


def random_suffix() -> str:
    """Return a suffix for the names on a cluster that is not the demo's own."""
    return f"-{secrets.token_hex(3)}"
