"""Every program of the trials on both connectors: the same, or different for the reason that the list gives.

A part runs each time; KAFKA_SPARK_TRIALS=all (`make spark-trials`) runs all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyspark
import pytest

from conftest import missing
from harness.fetch import FetchError
from harness.java import JavaError
from spark_trials.comparison.programs import PROGRAMS
from spark_trials.comparison.trial import OURS, THEIRS, Failed, Program, Trial, fill, outcome

from .spark_support import GAVE_UP, connector_jars, spark

__all__ = ["spark"]

pytestmark = pytest.mark.apache
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}
EXPIRED = "has passed since batch creation"
"""What the Java producer says of a record that it could not write for two minutes."""
AGAIN = {OURS: (GAVE_UP,), THEIRS: (GAVE_UP, EXPIRED)}
"""What makes a program run again: it tells of a busy machine, or of a peer that is not what is tested."""
ALL = os.environ.get("KAFKA_SPARK_TRIALS") == "all"


@pytest.fixture(scope="module")
def shared(spark: Any, apache_kafka: Any) -> dict[str, str]:
    """The topics that all programs share."""
    from conftest import topic_maker

    try:
        connector_jars()
    except (FetchError, JavaError) as error:
        missing(f"Spark's own connector is not to be had: {error}")
    return dict(fill(apache_kafka.bootstrap_servers, topic_maker(apache_kafka)))


@pytest.fixture(scope="module")
def own_broker(java_tools: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A broker that programs may kill, which asks who is there and what he may do."""
    from harness.apache import ApacheKafka

    folder = tmp_path_factory.mktemp("spark-trials")
    listeners = ("plaintext", "sasl")
    with ApacheKafka(folder, version=java_tools.version, listeners=listeners, properties=AUTHORIZER) as kafka:
        yield kafka


OTHERWISE_BEFORE = {
    "read: two actions on a frame": (4, 1),
    "stream: one batch with Trigger.Once": (4, 2),
    "stream: windows with a watermark": (4, 2),
}
"""Programs about which the list is wrong before a version of PySpark; docs/SPARK.md has a table of its differences."""


def _is_otherwise(name: str) -> bool:
    installed = tuple(map(int, pyspark.__version__.split(".")[:2]))
    return installed < OTHERWISE_BEFORE.get(name, (0,))


@pytest.mark.parametrize("program", [each for each in PROGRAMS if ALL or each.quick], ids=lambda each: each.name)
def test_both_connectors_give_the_same(program: Program, spark, apache_kafka, shared, tmp_path, request):
    broker = request.getfixturevalue("own_broker") if program.alone else apache_kafka
    found = {}
    for format_name in (OURS, THEIRS):
        for number in range(3):
            folder = tmp_path / f"{format_name}-{number}"
            trial = Trial(spark, format_name, broker, {} if program.alone else shared, folder)
            found[format_name] = outcome(program, trial)
            said = getattr(found[format_name], "said", "")
            if not any(text in said for text in AGAIN[format_name]):
                break
    ours, theirs = found[OURS], found[THEIRS]
    said = "\n".join(f"{name}: {each.said}" for name, each in found.items() if isinstance(each, Failed))
    assert isinstance(theirs, Failed) == program.fails, said or theirs
    if bool(program.differs) is not _is_otherwise(program.name):
        assert ours != theirs, f"both give {ours!r}, but the list says: {program.differs}"
    else:
        assert ours == theirs, said


def test_the_list_is_long_and_has_every_kind():
    assert len(PROGRAMS) >= 100
    assert len({each.name for each in PROGRAMS}) == len(PROGRAMS)
    assert OTHERWISE_BEFORE.keys() <= {each.name for each in PROGRAMS}
    assert {each.name.partition(":")[0] for each in PROGRAMS} == {"read", "stream", "write", "fault"}
