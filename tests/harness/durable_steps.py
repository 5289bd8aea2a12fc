"""Stops a write of a target before or after each of its durable steps, as if the process were killed there."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

Replace = Callable[[Any, str, Any], None]
Functions = Sequence[tuple[Any, str]]
"""Objects with the names of their functions that are steps."""


class Killed(BaseException):
    """Stands for the end of the process: no ``except Exception`` catches it."""


def stop_with_exception(point: str) -> None:
    """Raise `Killed`."""
    raise Killed(point)


class Steps:
    """Durable steps of a write. The process can be stopped before and after each of them.

    Arguments:
        replace: replaces the functions, such as ``setattr``.
        functions: the steps.
        stop: is called at the point at which the process stops.
    """

    def __init__(
        self, replace: Replace, functions: Functions, stop: Callable[[str], None] = stop_with_exception
    ) -> None:
        self._stop = stop
        self._stop_at: int | str = -1
        self._passed = 0
        self.names: list[str] = []
        for owner, name in functions:
            function = getattr(owner, name)
            is_static = isinstance(vars(owner).get(name), staticmethod)
            replaced = self._stopping(function, name)
            replace(owner, name, staticmethod(replaced) if is_static else replaced)

    def stop_at(self, point: int | str) -> None:
        """Stop at a point: its number, or its name, such as "after move". -1 for no point.

        Each step has a point before and a point after it.
        """
        self._stop_at, self._passed, self.names = point, 0, []

    def _stopping(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def stopping(*arguments: Any, **options: Any) -> Any:
            self._pass(f"before {name}")
            result = function(*arguments, **options)
            self._pass(f"after {name}")
            return result

        return stopping

    def _pass(self, point: str) -> None:
        self.names.append(point)
        self._passed += 1
        if self._stop_at in (self._passed - 1, point):
            self._stop(point)


def steps_of(target: str) -> Functions:
    """Return the durable steps of a target, by the key that names it."""
    from kafka.pipelines.targets.storage import Directory

    if target == "parquet":
        from kafka.pipelines.targets import parquet

        return [(parquet, "write_files"), *((Directory, name) for name in ("write", "move", "delete_directory"))]
    if target == "delta":
        from deltalake import DeltaTable

        from kafka.pipelines.targets import delta

        return [
            (delta, "write_files"),
            (delta.DeltaSink, "_create"),
            (DeltaTable, "create_write_transaction"),
            (delta.DeltaSink, "_merge"),
            (delta.DeltaSink, "_commit"),
            (Directory, "delete_directory"),
        ]
    if target == "iceberg":
        from pyiceberg.catalog.sql import SqlCatalog

        from kafka.pipelines.targets import iceberg

        catalog = [(SqlCatalog, name) for name in ("create_namespace", "create_table", "commit_table")]
        return [(iceberg, "write_files"), *catalog, (iceberg.IcebergSink, "_commit")]
    import psycopg

    from kafka.pipelines.targets import postgresql

    methods = [(postgresql.PostgresqlSink, name) for name in ("_prepare", "_create_staging", "_commit")]
    return [(postgresql, "copy_rows"), (psycopg.Connection, "execute"), *methods]
