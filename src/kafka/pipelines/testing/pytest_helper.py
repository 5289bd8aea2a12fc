"""`pipeline_test`, which tests a pipeline in any test framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka.pipelines.declaration import Declaration
from kafka.pipelines.pipeline import Pipeline
from kafka.pipelines.testing.case_files import Case, validated_cases
from kafka.pipelines.testing.suite import run_cases
from kafka.pipelines.yaml_file import load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka.pipelines.run import RunResult

Rows = Sequence[Any]
Dead = Mapping[int, Sequence[str]] | Sequence[Any]


def pipeline_test(
    pipeline: Pipeline | Declaration | str | Path,
    rows: Rows | Mapping[str, Rows],
    expect: Rows | None = None,
    dead: Dead = (),
    dropped: int = 0,
    *,
    ordered: bool = False,
    fails: str | None = None,
    schemas: Sequence[Mapping[str, Any]] = (),
    spark: SparkSession | None = None,
) -> RunResult | None:
    """Run a pipeline on an embedded broker, and compare what it writes.

    Arguments:
        pipeline: the pipeline, its declaration, or the path of its YAML file. Its servers and its checkpoint are not
            used.
        rows: the rows of the only source, or a mapping of source to rows. A row is the value as JSON; ``bytes``, which
            are not encoded; or a mapping with ``value``, ``raw`` (text that is not encoded) or ``hex``, and ``key``,
            ``timestamp`` (ms since 1970 or a datetime), ``headers`` or ``topic``.
        expect: the rows of the sink: values as JSON, or mappings with ``value`` and ``key`` or ``headers``. Fields that
            are null may be left out. None: they are not compared.
        dead: the expected dead letters: a mapping of the index of a row to the rules that it fails, or a list of
            indexes or of mappings with ``row``, ``rules`` and, if there are several, ``source``.
        dropped: number of rows that rules drop.
        ordered: whether the order of the expected rows matters.
        fails: text in the error with which the run must fail; None if it must not fail.
        schemas: schemas that are in the registry before: mappings with ``subject``, ``schema`` or ``schema_file``, and
            ``format``.
        spark: the session; None for the session of this process, which is created if necessary.

    Returns the counts of the run; None if it failed as expected. Raises `AssertionError` with the differences, and
    `InvalidDeclaration` if the arguments do not fit the pipeline.
    """
    __tracebackhide__ = True
    function = pipeline.function if isinstance(pipeline, Pipeline) else None
    declaration = (
        pipeline.declaration
        if isinstance(pipeline, Pipeline)
        else pipeline
        if isinstance(pipeline, Declaration)
        else load(pipeline)
    )
    given = {
        "name": declaration.pipeline,
        "rows": dict(rows) if isinstance(rows, Mapping) else list(rows),
        "expect": None if expect is None else list(expect),
        "dead": dict(dead) if isinstance(dead, Mapping) else list(dead),
        "dropped": dropped,
        "ordered": ordered,
        "fails": fails,
    }
    content = {"cases": [given], "schemas": [dict(each) for each in schemas]}
    file = validated_cases(content, lambda location: "")
    case: Case = file.cases[0]
    (result,) = run_cases(declaration, [case], spark, function=function, schemas=file.schemas)
    if not result.passes:
        raise AssertionError("\n".join([f"pipeline {declaration.pipeline}:", *result.differences]))
    return result.observed.result
