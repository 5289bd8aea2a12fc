"""Import every module: what is wrong on a system that the tests do not run on shows first there."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import kafka

EXTRAS = {
    "pyarrow",
    "pandas",
    "polars",
    "pyspark",
    "pytest",
    "prometheus_client",
    "opentelemetry",
    "matplotlib",
    "rich",
    "starlette",
    "uvicorn",
}


def main() -> int:
    """Print the modules that cannot be imported; gives 1 if there are any."""
    failed = []
    for module in pkgutil.walk_packages(kafka.__path__, "kafka.", onerror=lambda name: None):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in EXTRAS:
                failed.append(f"{module.name}: {error}")
        except Exception as error:
            failed.append(f"{module.name}: {type(error).__name__}: {error}")
    print("\n".join(failed) or "everything can be imported")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
