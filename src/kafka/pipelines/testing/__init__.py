"""Tests of pipelines on the embedded broker: rows in, expected rows out and expected dead letters.

In pytest::

    from kafka.pipelines.testing import pipeline_test


    def test_late_flights():
        pipeline_test(
            "flights.yaml",
            rows=[{"origin": "EWR", "dep_delay": 5.0}, {"origin": "JFK", "dep_delay": 9999.0}, b"not JSON"],
            expect=[{"origin": "EWR", "dep_delay": 5.0}],
            dead={1: ["delay is plausible"], 2: ["decodes"]},
        )

``kafka pipeline test`` runs the cases of a YAML file (`case_files`). Both use the real pipeline, in a Spark session
that is kept for all tests of the process. `value_bytes` encodes and decodes values, `embedded_run` runs a case, and
`comparison` compares the result. This package imports the embedded broker, so that no other module of the pipelines
imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.pipelines.testing.case_files import Case, TestFile, json_schema, load_cases
    from kafka.pipelines.testing.pytest_helper import pipeline_test
    from kafka.pipelines.testing.suite import CaseResult, run_cases

__all__ = ["Case", "CaseResult", "TestFile", "json_schema", "load_cases", "pipeline_test", "run_cases"]

_HOMES = {
    name: f"kafka.pipelines.testing.{module}"
    for module, names in {
        "case_files": ("Case", "TestFile", "json_schema", "load_cases"),
        "pytest_helper": ("pipeline_test",),
        "suite": ("CaseResult", "run_cases"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name on first access."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
