"""Who takes part: a name for the command line, a title for the tables, and how its process is started."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from scripts.pythons import find_interpreter

from bench import ROOT
from harness.generations import GENERATIONS, Generation
from harness.originals import original_folder
from harness.peers import peers_environment

Environment = Literal["own", "plain", "peers", "before", "before-plain", "original"]
"""This package's packages; the same with the plain variant; the folder of peers before them; this package as it is in
another tree; the same with the plain variant there; kafka-python 1.4 and the Python of its time."""
OTHER_TREE = "BENCH_OTHER_TREE"
"""The environment variable that names the other tree: a checkout of another commit, built in place."""


@dataclass(frozen=True)
class Client:
    """A client of the benchmarks.

    Arguments:
        title: its name in the tables.
        module: of `bench.clients`.
        environment: what its process can import.
        sums: whether it knows the keys and values; what does not is only counted.
        warms_up: whether it runs its task once before it is timed. Spark's queries have their own warm-up, and Kafka's
            tools run only once.
    """

    title: str
    module: str
    environment: Environment = "own"
    sums: bool = True
    warms_up: bool = True


OURS = "kafka-columnar"
ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""For the sums, which use no BLAS: numpy's idle threads spin on the cores that are measured."""
CLIENTS = {
    "ours": Client(OURS, "ours"),
    "ours-async": Client(OURS, "ours_async"),
    "ours-plain": Client(f"{OURS}, not compiled", "ours", "plain"),
    "confluent": Client("confluent-kafka", "confluent"),
    "confluent-large": Client("confluent-kafka, large batches", "confluent_large"),
    "kafka-python": Client("kafka-python", "kafka_python", "peers"),
    "aiokafka": Client("aiokafka", "aiokafka"),
    "kafkarrow": Client("kafkarrow", "kafkarrow", "peers"),
    "java": Client("Java client", "java", sums=False, warms_up=False),
    "simple": Client(OURS, "simple"),
    "simple-original": Client("kafka-python 1.4", "simple", "original"),
    "raw-socket": Client("raw socket", "raw_socket", sums=False),
    "spark-ours": Client(f"{OURS} in Spark", "spark_ours", warms_up=False),
    "spark-once": Client(f"{OURS} in Spark, exactly once", "spark_once", warms_up=False),
    "spark-rules": Client(f"{OURS} in Spark, with rules", "spark_rules", warms_up=False),
    "spark-connector": Client("Spark's connector", "spark_connector", warms_up=False),
}
BEFORE = "-before"
"""What the names of our clients end with in another tree."""
CLIENTS |= {
    f"{name}{BEFORE}": replace(
        client,
        title=f"{client.title}, before",
        environment="before-plain" if client.environment == "plain" else "before",
    )
    for name, client in CLIENTS.items()
    if client.title.startswith(OURS)
}


ORIGINAL: Generation = next(each for each in GENERATIONS if each.name == "1.4")


def lacks(client: Client) -> str:
    """What a client needs that is not on this machine; nothing if it can be run."""
    needed = client.environment == "original" and find_interpreter(ORIGINAL.python, needs=("pip",)) is None
    return f"neither pyenv nor the PATH has python{ORIGINAL.python}" if needed else ""


def process_command(client: Client) -> list[str]:
    """Return the command of a process of a client, which a job is to be added to."""
    if client.environment == "original":
        return [_original_python(), str(ROOT / "bench" / "old_job.py")]
    return [sys.executable, "-m", "bench.job"]


def _original_python() -> str:
    found = find_interpreter(ORIGINAL.python, needs=("pip",))
    if found is None:
        raise FileNotFoundError(f"there is no python{ORIGINAL.python}")
    return found


def process_environment(client: Client) -> dict[str, str]:
    """Return the environment variables for a process of a client."""
    if client.environment == "peers":
        return peers_environment() | ONE_BLAS_THREAD
    if client.environment == "original":
        return {**os.environ, "PYTHONPATH": str(original_folder(ORIGINAL, _original_python()))}
    inherited = {name: value for name, value in os.environ.items() if name != "KAFKA_PURE"}
    if client.environment in ("before", "before-plain"):
        inherited["PYTHONPATH"] = str(Path(os.environ[OTHER_TREE]) / "src")
    return inherited | ONE_BLAS_THREAD | ({"KAFKA_PURE": "1"} if client.environment.endswith("plain") else {})
