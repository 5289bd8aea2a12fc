"""Runs the cases of a test file in one Spark session."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.declaration import Declaration
from kafka.pipelines.testing.case_files import Case, TestSchema, check_names
from kafka.pipelines.testing.case_progress import CaseProgress, CaseStoppedError
from kafka.pipelines.testing.comparison import differences
from kafka.pipelines.testing.embedded_run import Observed, observe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}
"""Settings of the session for tests."""


@dataclasses.dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case.

    Arguments:
        case: the case.
        differences: lines that describe the differences; () if the case passes.
        seconds: how long it took.
        observed: what the pipeline did.
    """

    case: Case
    differences: Sequence[str]
    seconds: float
    observed: Observed

    @property
    def passes(self) -> bool:
        """Whether everything was as expected."""
        return not self.differences


def shared_session() -> SparkSession:
    """Return the session of this process for tests: a running one, or a new one on this machine."""
    from kafka.spark import session

    return session("kafka-pipeline-tests", "local[2]", **_SETTINGS)


def run_cases(
    declaration: Declaration,
    cases: Iterable[Case],
    spark: SparkSession | None = None,
    *,
    function: Callable[..., Any] | None = None,
    schemas: Sequence[TestSchema] = (),
    progress: CaseProgress | None = None,
) -> Iterator[CaseResult]:
    """Run test cases one after the other, each on an embedded broker of its own, and yield their results.

    Arguments:
        declaration: the pipeline.
        cases: the cases, from `load_cases`. They are checked before the first one runs.
        spark: the session; None for `shared_session`.
        function: the query if it is a Python function.
        schemas: schemas that are in the registry before each case.
        progress: receives the steps, and can stop the cases, so that there are fewer results; None for none.

    Raises `InvalidDeclaration` for a case that does not fit the declaration.
    """
    checked = [check_names(each, declaration) for each in cases]
    return _results(declaration, checked, spark, function, schemas, progress)


def _results(
    declaration: Declaration,
    cases: Sequence[Case],
    spark: SparkSession | None,
    function: Callable[..., Any] | None,
    schemas: Sequence[TestSchema],
    progress: CaseProgress | None,
) -> Iterator[CaseResult]:
    running = spark if spark is not None else shared_session()
    for case in cases:
        began = time.perf_counter()
        try:
            observed = observe(declaration, case, running, function, schemas, progress)
        except CaseStoppedError:
            return
        yield CaseResult(case, tuple(differences(case, observed)), time.perf_counter() - began, observed)
