"""Commits batches to a plain Parquet directory, so that an interrupted batch can be finished but not written twice.

Layout::

    date=2026-11-27/RUN-BATCH-00000.parquet     the rows; without `partition_by`, files are in the directory itself
    _staging/RUN/BATCH/FILE.staged              files of a batch that is not committed
    _staging/RUN/BATCH/manifest.json            the batch is committed: where its files go
    _committed/RUN/BATCH.json                   the batch is complete: its files
    _committed/schema.json                      the columns of all batches, with their types

Readers ignore names that begin with ``_``, and staged files do not end with ``.parquet``. A batch takes these steps:

1. Tasks write staged files. If this is interrupted, the repeated batch deletes them and starts again.
2. The driver writes the manifest, with the final name of each file. The batch is now committed with these files. A
   repeated batch continues here and ignores its rows, which may be in other partitions than before.
3. The driver moves each file to its final name. Moving is atomic on file systems; in object stores, it is a copy
   followed by a deletion, which can be repeated.
4. The driver writes the list of the batch's files to ``_committed``, and deletes the batch's staging directory.

A file is visible once, under one name. What remains is this window: between the first and the last move of step 3,
readers of the directory see a part of the batch. After a kill in step 3, this lasts until the batch is repeated, which
is the first thing that a pipeline does when it starts again. Readers never see a row twice. Readers that need whole
batches read the files listed in ``_committed`` (`committed_files`). A batch that is one file has no such window.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence

from kafka.pipelines.targets.storage import Directory
from kafka.pipelines.targets.target import TargetError, file_name
from kafka.pipelines.targets.task_files import TaskFile, Values

_COMMITTED = "_committed"
_ESCAPED = re.compile(r"""[\x00-\x1f"#%'*/:=?\\\x7f{\[\]^]""")
"""Characters that Hive and Spark escape in the values of partitions."""


class ParquetLog:
    """The commit of a batch.

    Arguments:
        directory: the Parquet directory.
        run, batch: the batch, as for `Target.write`.
    """

    def __init__(self, directory: Directory, run: str, batch: int) -> None:
        self._directory = directory
        self._run = run
        self._batch = batch
        self._name = file_name(run)
        self.staging = f"_staging/{self._name}/{batch}"
        self._manifest = f"{self.staging}/manifest.json"
        self._complete = f"{_COMMITTED}/{self._name}/{batch:012}.json"

    def finish(self) -> bool:
        """Return whether the batch is committed; if so, complete it. Otherwise, delete what was staged for it."""
        is_complete = self._directory.exists(self._complete)
        manifest = None if is_complete else self._directory.read(self._manifest)
        if manifest is not None:
            self._move(json.loads(manifest))
            return True
        self._directory.delete_directory(self.staging)
        return is_complete

    def commit(self, files: Sequence[TaskFile], partitions: Sequence[str]) -> None:
        """Commit a batch.

        Arguments:
            files: the staged files.
            partitions: the names of the partition columns.
        """
        moves = []
        for index, each in enumerate(files):
            name = f"{self._name}-{self._batch:012}-{index:05}.parquet"
            moves.append(
                {"staged": each.path, "path": posixpath.join(_folder(partitions, each.partition), name)}
                | {"rows": each.rows, "size": each.size}
            )
        manifest = {"run": self._run, "batch": self._batch, "files": moves}
        self._directory.write(self._manifest, json.dumps(manifest).encode())
        self._move(manifest)

    def _move(self, manifest: dict[str, object]) -> None:
        files = manifest["files"]
        assert isinstance(files, list)
        for each in files:
            if self._directory.exists(each["staged"]):
                self._directory.move(each["staged"], each["path"])
            elif not self._directory.exists(each["path"]):
                raise TargetError(
                    f"sink parquet {self._directory.uri}: batch {self._batch} of {self._run} is committed, but its "
                    f"file {each['path']} is missing; another process has deleted it"
                )
        kept = [{name: each[name] for name in ("path", "rows", "size")} for each in files]
        self._directory.write(self._complete, json.dumps(manifest | {"files": kept}).encode())
        self._directory.delete_directory(self.staging)

    @staticmethod
    def committed_files(directory: Directory) -> list[str]:
        """Return the paths of the files of complete batches, sorted, relative to the directory."""
        found: list[str] = []
        for path in directory.files(_COMMITTED):
            if path.endswith(".json") and path != f"{_COMMITTED}/schema.json":
                found += [each["path"] for each in json.loads(directory.read(path) or b'{"files": []}')["files"]]
        return sorted(found)


def _folder(partitions: Sequence[str], values: Values) -> str:
    """Return the subdirectory for a partition, with names and values escaped as in Hive."""
    named = zip(partitions, values, strict=True)
    return "/".join(f"{name}={_ESCAPED.sub(_escape, value or '')}" for name, value in named)


def _escape(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"
