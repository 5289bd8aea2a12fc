"""Checks pipelines before Spark starts: ``kafka pipeline check``.

`check_file` checks a YAML file, and `check` a declaration, as `Pipeline.start` does. Both return a `Report` with all
problems. The modules check one subject each: `declared_options` the options, `value_schemas` the columns of sources,
`expressions` rules, `queries` the query, `sinks` the sink's key and schema, `registries` the schema registry, and
`topics`, `permissions` and `positions` what the brokers know (`cluster_state`). To add a check, see `all_checks`. These
modules import neither PySpark nor anything that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.pipelines.checks.all_checks import check, check_file
    from kafka.pipelines.checks.problem import Passed, Place, Problem, Report, Severity

__all__ = ["Passed", "Place", "Problem", "Report", "Severity", "check", "check_file"]

_HOMES = {
    name: f"kafka.pipelines.checks.{module}"
    for module, names in {
        "all_checks": ("check", "check_file"),
        "problem": ("Passed", "Place", "Problem", "Report", "Severity"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name on first access. Raises `ModuleNotFoundError` if a required library is missing."""
    try:
        return of_a_package(__name__, name, _HOMES)
    except ModuleNotFoundError as error:
        if error.name != "sqlglot":
            raise
        raise ModuleNotFoundError(
            "checks of pipelines need sqlglot: pip install 'kafka-columnar[pipelines]'", name=error.name
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
