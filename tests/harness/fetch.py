"""Fetching Java programs from Maven Central, with Maven if it is installed, and otherwise with PySpark's Ivy."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.cache import build_once, cache_folder
from harness.java import java_command

KAFKA_VERSION = "4.3.1"
EXCLUDED = tuple(f"connect-{part}" for part in ("api", "json", "runtime", "transforms"))
"""Parts of Kafka that a broker and its tools do not need, 10 MB of them."""
WITHOUT_TOOLS = ("4.4.0",)
"""Releases whose kafka-tools and kafka-tools-api are not published: a broker is made with those of another release."""
PATIENCE_S = 900


class Artifact(NamedTuple):
    """The coordinates of one artifact."""

    group: str
    name: str
    version: str


class FetchError(RuntimeError):
    """The artifacts could not be fetched; the message ends with what the tool said."""


def release_numbers(version: str) -> tuple[int, ...]:
    """A release's numbers, in which releases are in order: `(0, 10, 2, 2)`."""
    return tuple(int(part) for part in version.split("."))


def fetch_kafka(version: str = KAFKA_VERSION) -> Path:
    """Return the folder with the jars of an Apache Kafka broker, from 0.8.2, and its Java tools."""
    kafka = "org.apache.kafka"
    release = release_numbers(version)
    if release < (4,):
        scala = "2.13" if release >= (2, 5) else "2.12" if release >= (0, 10, 1) else "2.11"
        artifacts = [Artifact(kafka, f"kafka_{scala}", version)]
        if release < (1,):  # JAXB left the JDK in Java 11
            artifacts.append(Artifact("javax.xml.bind", "jaxb-api", "2.3.0"))
            return fetch_jars(f"kafka-{version}", artifacts)
        # It brings Log4j, which the broker no longer does, and which ZooKeeper does not start without.
        return fetch_jars(f"kafka-{version}-tools", [*artifacts, Artifact(kafka, "kafka-tools", version)])
    artifacts = [
        Artifact(kafka, "kafka_2.13", version),
        # Without a backend for the logging interface the broker logs nothing, and nothing says when it is ready.
        Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
    ]
    if version not in WITHOUT_TOOLS:
        return fetch_jars(f"kafka-{version}", [*artifacts, Artifact(kafka, "kafka-tools", version)])
    # Named here, the version that there is takes the place of the one that kafka_2.13 asks for.
    artifacts.append(Artifact(kafka, "kafka-tools-api", KAFKA_VERSION))
    artifacts.append(Artifact("net.sourceforge.argparse4j", "argparse4j", "0.7.0"))
    return fetch_jars(f"kafka-{version}", artifacts)


_CONNECTORS = {
    "3.5": ("3.5.7", "2.12", "3.5.7"),
    "4.0": ("4.0.2", "2.13", "3.5.4"),
    "4.1": ("4.1.2", "2.13", "3.5.4"),
}
"""By minor version of PySpark: the connector, its Scala, and the token provider, where they are not PySpark's."""


def fetch_spark_connector() -> Path:
    """Return the folder with the jars of Spark's own Kafka connector, for the version of PySpark that is installed.

    Spark has what else they depend on. The token provider and commons-pool2 are those next to the connector's that the
    repositories have in full, and so are the connectors of 3.5, 4.0 and 4.1.
    """
    spark, version = "org.apache.spark", importlib.metadata.version("pyspark")
    connector, scala, tokens = _CONNECTORS.get(version.rpartition(".")[0], (version, "2.13", "3.5.4"))
    return fetch_jars(
        f"spark-kafka-{version}",
        [
            Artifact(spark, f"spark-sql-kafka-0-10_{scala}", connector),
            Artifact(spark, f"spark-token-provider-kafka-0-10_{scala}", tokens),
            Artifact("org.apache.kafka", "kafka-clients", "3.9.1"),
            Artifact("org.apache.commons", "commons-pool2", "2.12.1"),
        ],
        transitive=False,
    )


def fetch_spark_avro() -> Path:
    """Return the folder with the jar of Spark's own `from_avro`, for the version of PySpark that is installed."""
    version = importlib.metadata.version("pyspark")
    return fetch_jars(
        f"spark-avro-{version}", [Artifact("org.apache.spark", "spark-avro_2.13", version)], transitive=False
    )


def fetch_jars(name: str, artifacts: Sequence[Artifact], *, transitive: bool = True) -> Path:
    """Return the folder `name` of the cache with the jars of these artifacts, fetched if they are not there.

    `KAFKA_COLUMNAR_FETCH` set to `mvn` or `ivy` chooses the tool. `transitive=False` leaves out what they depend on.

    Raises:
        FetchError: the tool failed or gave no jar.
        JavaError: there is no Java.
    """

    def make(folder: Path) -> None:
        tool = os.environ.get("KAFKA_COLUMNAR_FETCH") or ("mvn" if shutil.which("mvn") else "ivy")
        command = {"mvn": _maven, "ivy": _ivy}[tool](folder, artifacts, transitive)
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode or not any((folder / "libs").glob("*.jar")):
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise FetchError(f"{tool} could not fetch {name} (exit status {done.returncode}):\n{said}")

    return build_once(cache_folder() / "jars" / name, make) / "libs"


def fetch_archive(name: str, artifact: Artifact, classifier: str) -> Path:
    """Return the folder `name` of the cache with what is in an artifact that is a .tar.gz; else as `fetch_jars`."""

    def make(folder: Path) -> None:
        tool = os.environ.get("KAFKA_COLUMNAR_FETCH") or ("mvn" if shutil.which("mvn") else "ivy")
        command = {"mvn": _maven_archive, "ivy": _ivy_archive}[tool](folder, artifact, classifier)
        said = _run(command, folder)
        archives = list((folder / "archives").glob("*.tar.gz"))
        if not archives:
            raise FetchError(f"{tool} could not fetch {name}:\n{said}")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(folder, filter="data")
        shutil.rmtree(folder / "archives")

    return build_once(cache_folder() / "jars" / name, make)


def _run(command: Sequence[str], folder: Path) -> str:
    """Run a tool; what it said at last, with its exit status."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, check=False
    )
    return f"exit status {done.returncode}\n{(done.stdout + done.stderr).strip()[-2000:]}"


def _maven_archive(folder: Path, artifact: Artifact, classifier: str) -> list[str]:
    """The command that copies an archive to `archives`."""
    coordinates = f"{artifact.group}:{artifact.name}:{artifact.version}:tar.gz:{classifier}"
    command = ["mvn", "-q", "-B", "-Dstyle.color=never"]
    if not _home_is_writable():
        command.append(f"-Dmaven.repo.local={cache_folder() / 'm2'}")
    return [*command, "dependency:copy", f"-Dartifact={coordinates}", "-DoutputDirectory=archives"]


def _ivy_archive(folder: Path, artifact: Artifact, classifier: str) -> list[str]:
    """Write an Ivy module that depends on an archive; return the command that retrieves it to `archives`."""
    (folder / "ivy.xml").write_text(
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="harness" module="harness"/><configurations><conf name="default"/></configurations>'
        f'<dependencies><dependency org="{artifact.group}" name="{artifact.name}" rev="{artifact.version}" '
        f'conf="default->default" transitive="false"><artifact name="{artifact.name}" type="tar.gz" ext="tar.gz" '
        f'm:classifier="{classifier}"/></dependency></dependencies></ivy-module>'
    )
    return [*_ivy_command(folder, poms=False), "-types", "tar.gz", "-retrieve", "archives/[artifact]-[revision].[ext]"]


def _maven(folder: Path, artifacts: Sequence[Artifact], transitive: bool) -> list[str]:
    """Write a project that depends on the artifacts; return the command that copies its dependencies to `libs`."""

    def element(artifact: Artifact) -> str:
        leave_out = EXCLUDED if transitive else ("*",)
        exclusions = "".join(
            f"<exclusion><groupId>{artifact.group if transitive else '*'}</groupId>"
            f"<artifactId>{excluded}</artifactId></exclusion>"
            for excluded in leave_out
        )
        return (
            f"<dependency><groupId>{artifact.group}</groupId><artifactId>{artifact.name}</artifactId>"
            f"<version>{artifact.version}</version><exclusions>{exclusions}</exclusions></dependency>"
        )

    (folder / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>harness</groupId><artifactId>harness</artifactId><version>1</version>"
        f"<dependencies>{''.join(map(element, artifacts))}</dependencies></project>"
    )
    command = ["mvn", "-q", "-B", "-Dstyle.color=never"]
    if not _home_is_writable():
        command.append(f"-Dmaven.repo.local={cache_folder() / 'm2'}")
    return [*command, "dependency:copy-dependencies", "-DoutputDirectory=libs"]


def _ivy(folder: Path, artifacts: Sequence[Artifact], transitive: bool) -> list[str]:
    """Write an Ivy module that depends on the artifacts; return the command that retrieves them to `libs`."""
    dependencies = "".join(
        f'<dependency org="{a.group}" name="{a.name}" rev="{a.version}" conf="default->default" '
        f'transitive="{str(transitive).lower()}"/>'
        for a in artifacts
    )
    exclusions = "".join(f'<exclude org="org.apache.kafka" module="{module}"/>' for module in EXCLUDED)
    (folder / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="harness" module="harness"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}{exclusions}</dependencies></ivy-module>"
    )
    target = "libs/[artifact]-[revision](-[classifier]).[ext]"
    return [*_ivy_command(folder), "-types", "jar", "bundle", "-retrieve", target]


def _ivy_command(folder: Path, poms: bool = True) -> list[str]:
    """Write Ivy's settings; return the command that resolves the module beside them.

    Arguments:
        poms: read what an artifact depends on, which takes the poms of its parents.
    """
    (folder / "ivysettings.xml").write_text(  # the resolver's default root is Maven Central
        '<ivysettings><settings defaultResolver="central"/>'
        f'<resolvers><ibiblio name="central" m2compatible="true" usepoms="{str(poms).lower()}"/></resolvers>'
        "</ivysettings>"
    )
    command = [java_command(), "-jar", str(_ivy_jar()), "-settings", "ivysettings.xml", "-ivy", "ivy.xml"]
    return [*command, "-cache", str(cache_folder() / "ivy")]


def _ivy_jar() -> Path:
    """Return the Ivy that lies among PySpark's jars, found without importing PySpark."""
    spec = importlib.util.find_spec("pyspark")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for jar in sorted(Path(place, "jars").glob("ivy-*.jar")):
            return jar
    raise FetchError(
        "neither mvn nor PySpark (which ships Ivy) is installed: apt-get install maven, or pip install pyspark"
    )


def _home_is_writable() -> bool:
    """Whether Maven can keep its own repository below the home folder."""
    home = os.path.expanduser("~")
    return os.access(home, os.W_OK | os.X_OK)
