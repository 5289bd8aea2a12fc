"""Import every module: what is wrong on a system that the tests do not run on shows first there."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import kafka

EXTRAS = {
    "anywidget",
    "testcontainers",
    "traitlets",
    "numpy",
    "pyarrow",
    "pandas",
    "polars",
    "pyspark",
    "pytest",
    "prometheus_client",
    "opentelemetry",
    "matplotlib",
    "rich",
    "authlib",
    "itsdangerous",
    "jinja2",
    "joserfc",
    "starlette",
    "uvicorn",
    "pydantic",
    "sqlglot",
    "yaml",
}


def main() -> int:
    """Print the modules that cannot be imported; gives 1 if there are any."""
    failed = []
    for module in pkgutil.walk_packages(kafka.__path__, "kafka.", onerror=lambda name: None):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except Exception as error:
            if _missing(error) not in EXTRAS:
                failed.append(f"{module.name}: {type(error).__name__}: {error}")
    print("\n".join(failed) or "everything can be imported")
    return int(bool(failed))


def _missing(error: BaseException) -> str:
    """Return the library that an error or one of its causes names, or an empty string."""
    for found in (error, error.__cause__):
        if isinstance(found, ModuleNotFoundError) and found.name:
            return found.name.partition(".")[0]
    return ""


if __name__ == "__main__":
    sys.exit(main())
