"""The target Delta: a Delta table that has each row once, or the latest row for each key.

The library is ``deltalake``, which needs no JAR; Delta's own one for Spark is a JAR that has to match the version of
Spark. Spark's tasks write the Parquet files (`task_files`), and the driver commits them, so that the driver's memory
does not limit a batch. With a key, the driver merges the files of the batch into the table; the merge streams the
batch, but rewrites the files of the table that have its keys.

The commit contains the number of the batch as a transaction of the application (``txn``) with the name of the run. Such
a number survives checkpoints and the cleanup of the log. If it is in the table already, the batch is complete. Two
processes cannot both commit it: Delta rejects the second commit. Files of an interrupted batch are not part of the
table; Delta's ``vacuum`` deletes them.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from kafka.pipelines.targets.arrow_types import arrow_schema, misfits, raise_misfits, restricted
from kafka.pipelines.targets.storage import Directory, is_remote, local_problems
from kafka.pipelines.targets.target import (
    CHECK_S,
    Columns,
    Secrets,
    StoragePath,
    TargetError,
    TargetModel,
    Text,
    check_key,
    file_name,
    first_line,
    in_time,
    latest_rows,
    missing_columns,
    needs,
    revealed,
)
from kafka.pipelines.targets.task_files import TaskFile, Writing, write_files

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable
    from pyspark.sql import DataFrame

_ATTEMPTS = 5
"""Maximum number of attempts to commit, if other writers commit at the same time."""


class DeltaSink(TargetModel):
    """A Delta table."""

    delta: StoragePath = Field(description="Table: a path, or a URI such as s3://bucket/path.")
    key: Columns = Field(
        default=(), description="Columns that identify a row; the table then contains the latest row for each key."
    )
    order: Text | None = Field(
        default=None,
        description="Column that determines which of the rows with a key is the latest; an older row never replaces "
        "a newer one.",
    )
    partition_by: Columns = Field(
        default=(), description="Partition columns of the table, if it has to be created: date, text or integers."
    )
    options: Secrets = Field(
        default={}, repr=False, description="Options for the storage, such as AWS_REGION; by default, the environment."
    )

    @model_validator(mode="after")
    def _check(self) -> DeltaSink:
        check_key(self.key, self.order)
        return self

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        table = self._table() or self._create(frame)
        if self._is_complete(table, run, batch):
            return
        schema = self._schema(frame, table)
        partitions = tuple(table.metadata().partition_columns)
        staging = f"_staging/{file_name(run)}" if self.order is not None else ""
        if staging:
            self._directory.delete_directory(staging)
        in_files = [name for name in schema.names if staging or name not in partitions]
        files = write_files(
            frame if self.order is None else latest_rows(frame, self.key, self.order),
            Writing(
                storage=self._directory,
                folder=staging or f"{file_name(run)}-{batch}-{uuid.uuid4().hex[:8]}",
                schema=restricted(schema, in_files),
                partitions=() if staging else partitions,
                present=self.key,
                reason=f"{self._what}: expected a value in each column of key ({', '.join(self.key)})",
            ),
        )
        if files:
            self._commit(table, schema, files, run, batch)
        if staging:
            self._directory.delete_directory(staging)

    @property
    def is_remote(self) -> bool:
        return is_remote(self.delta)

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        def look() -> list[str]:
            table = self._table()
            if table is None:
                return local_problems(self.delta)
            names = (*self.key, *((self.order,) if self.order else ()))
            columns = [field.name for field in table.schema().fields]
            return [f"{self._what}: {each}" for each in missing_columns(names, columns, "the table")]

        return in_time(self._what, look, limit_s, "deltalake")

    @property
    def _what(self) -> str:
        return f"sink delta {self.delta}"

    @property
    def _directory(self) -> Directory:
        return Directory(self.delta, revealed(self.options))

    def _table(self) -> DeltaTable | None:
        """Return the current version of the table, or None if the table does not exist."""
        try:
            from deltalake import DeltaTable
            from deltalake.exceptions import TableNotFoundError
        except ModuleNotFoundError as error:
            raise needs("deltalake", "delta") from error
        try:
            return DeltaTable(self.delta, storage_options=revealed(self.options))
        except TableNotFoundError:
            return None

    def _create(self, frame: DataFrame) -> DeltaTable:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        for names, what in (((*self.key, self.order or ""), "key and order"), (self.partition_by, "partition_by")):
            if missing := missing_columns([name for name in names if name], frame.columns, "the query"):
                raise TargetError(f"{self._what}: {what}: {missing[0]}")
        try:
            return DeltaTable.create(
                self.delta,
                arrow_schema(frame.schema, self._what),
                partition_by=list(self.partition_by),
                storage_options=revealed(self.options),
            )
        except DeltaError as error:
            if (created := self._table()) is not None:  # by another writer
                return created
            raise TargetError(f"{self._what}: the table cannot be created: {first_line(error)}") from error

    def _schema(self, frame: DataFrame, table: DeltaTable) -> pa.Schema:
        """Return the table's types of the frame's columns. Raise a `TargetError` if they do not fit."""
        import pyarrow as pa

        if missing := missing_columns([*self.key, *([self.order] if self.order else [])], frame.columns, "the query"):
            raise TargetError(f"{self._what}: {missing[0]}")
        deltas: Any = table.schema().to_arrow()  # another library's schema, which converts itself
        found = pa.schema(deltas)
        rows = arrow_schema(frame.schema, self._what)
        raise_misfits(self._what, misfits(rows, found), "alter the table or the query")
        partitions = table.metadata().partition_columns
        raise_misfits(self._what, missing_columns(partitions, rows.names, "the query"), "add the partition columns")
        return restricted(found, rows.names)

    @staticmethod
    def _is_complete(table: DeltaTable, run: str, batch: int) -> bool:
        stored = table.transaction_version(run)
        return stored is not None and stored >= batch

    def _commit(self, table: DeltaTable, schema: pa.Schema, files: Sequence[TaskFile], run: str, batch: int) -> None:
        """Commit the files. If another writer has committed meanwhile, look again whether the batch is complete."""
        from deltalake import CommitProperties, Transaction
        from deltalake.exceptions import CommitFailedError, DeltaError

        properties = CommitProperties(
            custom_metadata={"kafka.run": run, "kafka.batch": str(batch)},
            app_transactions=[Transaction(run, batch)],
        )
        for attempt in range(_ATTEMPTS):
            try:
                if self.order is None:
                    self._append(table, files, properties)
                else:
                    self._merge(table, schema, files, properties)
                return
            except CommitFailedError as error:
                table.update_incremental()
                if self._is_complete(table, run, batch):
                    return
                if attempt + 1 == _ATTEMPTS:
                    raise TargetError(f"{self._what}: the commit failed: {first_line(error)}") from error
            except DeltaError as error:
                raise TargetError(f"{self._what}: {first_line(error)}") from error

    @staticmethod
    def _append(table: DeltaTable, files: Sequence[TaskFile], properties: CommitProperties) -> None:
        from deltalake.transaction import AddAction, RemoveAction

        partitions = table.metadata().partition_columns
        actions: list[AddAction | RemoveAction] = [
            AddAction(
                path=each.path,
                size=each.size,
                partition_values=dict(zip(partitions, each.partition, strict=True)),
                modification_time=int(time.time() * 1000),
                data_change=True,
                stats=json.dumps({"numRecords": each.rows}),
            )
            for each in files
        ]
        table.create_write_transaction(
            actions, "append", table.schema(), partition_by=partitions, commit_properties=properties
        )

    def _merge(
        self, table: DeltaTable, schema: pa.Schema, files: Sequence[TaskFile], properties: CommitProperties
    ) -> None:
        from pyarrow import dataset

        assert self.order is not None
        filesystem, base = self._directory.filesystem
        paths = [f"{base}/{each.path}" for each in files]
        batch: Any = dataset.dataset(paths, schema=schema, filesystem=filesystem, format="parquet")
        order = _quoted(self.order)
        columns = {name: f"source.{_quoted(name)}" for name in schema.names}
        (
            table.merge(
                batch.scanner().to_reader(),
                predicate=" and ".join(f"target.{_quoted(name)} = source.{_quoted(name)}" for name in self.key),
                source_alias="source",
                target_alias="target",
                commit_properties=properties,
            )
            .when_matched_update(columns, predicate=f"target.{order} is null or source.{order} >= target.{order}")
            .when_not_matched_insert(columns)
            .execute()
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
