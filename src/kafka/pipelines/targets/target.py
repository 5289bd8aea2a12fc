"""What all targets have in common: the protocol, the base of their models, their errors, and their checks.

A target is a frozen model: the value of the key ``sink`` of a declaration. To add a target, subclass `TargetModel` in a
module of its own, and add it to `targets.choice` and `targets.constructors`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, TypeVar, runtime_checkable

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SecretStr,
    StringConstraints,
    ValidationInfo,
)

from kafka.errors import KafkaError
from kafka.pipelines.field_types import DIRECTORY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHECK_S = 0.9
"""Default time limit for `Target.check`, in seconds."""
_SHOWN_CHARACTERS = 500
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class TargetError(KafkaError):
    """A target cannot write a batch. Nothing of the batch counts as written; the same batch can be repeated."""

    remedy = "Correct what the message names, and start the pipeline again: it repeats the batch."


class RejectedRowError(TargetError):
    """A row cannot be written to the target, for example because its date or its key is NULL."""

    remedy = "Add a rule that rejects such rows, such as `ts is not null`, or filter them in the query."


@runtime_checkable
class Target(Protocol):
    """Where the rows of a query go, if not to a topic."""

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        """Write the rows of a batch.

        A repeated call with the same run and batch has the effect of one call, also after the first call was killed:
        each row is written exactly once. Only one process at a time may write batches of the same run.

        Arguments:
            frame: the rows. A repeated call gets the same rows, possibly in other partitions.
            run: text that identifies the writer, such as ``flights/stream`` or ``flights/replay/3``.
            batch: number of the batch, which increases within the run.

        Raises `RejectedRowError` if a row cannot be written, and `TargetError` if the target does not fit the rows or
        cannot be reached.
        """

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        """Return a text for each problem that can be found without Spark.

        Arguments:
            limit_s: maximum duration in seconds. It is a problem if a server takes longer.
        """


class TargetModel(BaseModel):
    """Base class of the models of targets."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
    needs_position: ClassVar[bool] = False
    """Whether `write` needs the struct column ``kafka`` with the position of each row."""

    @property
    def is_remote(self) -> bool:
        """Whether `check` connects to a server."""
        return True

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        """Write a batch exactly once; see `Target.write`."""
        raise NotImplementedError

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        """Return the problems found without Spark; see `Target.check`."""
        raise NotImplementedError


def _texts(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _secret(value: Any) -> Any:
    """Convert numbers and Booleans to text, because YAML reads an unquoted password of digits as a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def resolved(path: str, info: ValidationInfo) -> str:
    """Make a relative path start from the directory in the validation context, if there is one."""
    directory = (info.context or {}).get(DIRECTORY)
    return path if directory is None or _URI.match(path) else str(Path(directory) / path)


Text = Annotated[str, StringConstraints(min_length=1)]
StoragePath = Annotated[Text, AfterValidator(resolved)]
"""A path or a URI. In a YAML file, a relative path starts from the directory of the file."""
Columns = Annotated[tuple[Text, ...], BeforeValidator(_texts)]
"""Names of columns; a single name may stand alone."""
Secret = Annotated[SecretStr, BeforeValidator(_secret)]
Secrets = dict[str, Secret]
"""Options by name. They are secret because they may contain passwords and tokens."""


def revealed(options: Secrets) -> dict[str, str]:
    """Return the options as plain text, for the library that needs them."""
    return {name: value.get_secret_value() for name, value in options.items()}


def check_key(key: Sequence[str], order: str | None) -> None:
    """Raise a `ValueError` unless `key` and `order` are both given or both missing."""
    if bool(key) != (order is not None):
        given, missing = ("key", "order") if key else ("order", "key")
        raise ValueError(
            f"expected key and order together, or neither; got {given} without {missing}: key names the columns that "
            "identify a row, and order the column that tells which row is the latest"
        )
    if order in key:
        raise ValueError(f"order: expected a column that is not in key, got {order!r}")
    if repeated := [name for name in key if key.count(name) > 1]:
        raise ValueError(f"key: expected each column once, got {repeated[0]!r} twice")


def missing_columns(wanted: Sequence[str], found: Sequence[str], what: str) -> list[str]:
    """Return a problem for each wanted column that is missing.

    Arguments:
        wanted: names of columns, such as the key.
        found: names of the existing columns.
        what: what has these columns, such as "the query".
    """
    columns = ", ".join(found) or "none"
    return [f"expected a column {name!r}, but {what} has {columns}" for name in wanted if name not in found]


def file_name(run: str) -> str:
    """Return a text for names of files and tables that is unique for the run: letters, digits, ``_`` and ``-``."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", run).strip("-")[:40]
    return f"{readable}-{hashlib.sha256(run.encode()).hexdigest()[:10]}"


def shown_row(row: dict[str, Any]) -> str:
    """Return the values of a row as text of limited length, for errors."""
    text = ", ".join(f"{name}={value!r}" for name, value in row.items())
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."


def latest_rows(frame: DataFrame, key: Sequence[str], order: str) -> DataFrame:
    """Return the latest row for each key: the one with the highest `order`; NULL is the lowest."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rank = "_kafka_rank"
    latest_first = Window.partitionBy(*[column(name) for name in key]).orderBy(f.col(quoted(order)).desc_nulls_last())
    return frame.withColumn(rank, f.row_number().over(latest_first)).where(f.col(rank) == 1).drop(rank)


def quoted(name: str) -> str:
    """Return the name of a column in Spark's backquotes."""
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Any:
    """Return the Spark column with exactly this name, which may contain dots."""
    from pyspark.sql import functions as f

    return f.col(quoted(name))


Found = TypeVar("Found")


def in_time(
    what: str, look: Callable[[], list[str]], limit_s: float, *libraries: str, may_take_longer: bool = False
) -> list[str]:
    """Run a check in a thread, and return its problems, or one problem if it takes too long.

    Arguments:
        what: what is checked, such as "PostgreSQL at localhost:5432", for the message.
        look: returns the problems. If it raises an error, the error is a problem.
        limit_s: maximum duration in seconds.
        libraries: modules that the check needs. They are imported first, without a limit, since this can take long.
        may_take_longer: whether it is no problem if the check takes longer.
    """
    problems: list[str] = []
    for each in libraries:
        with contextlib.suppress(ImportError):
            importlib.import_module(each)

    def run() -> None:
        try:
            problems.extend(look())
        except (ModuleNotFoundError, TargetError) as error:
            problems.append(str(error))
        except Exception as error:  # each library has errors of its own
            problems.append(f"{what}: {type(error).__name__}: {first_line(error)}")

    thread = threading.Thread(target=run, name="kafka-target-check", daemon=True)
    thread.start()
    thread.join(limit_s)
    if not thread.is_alive():
        return problems
    return [] if may_take_longer else [f"{what}: no answer within {limit_s:g} s"]


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return next(iter(str(error).strip().splitlines()), "")


def needs(package: str, extra: str) -> ModuleNotFoundError:
    """Return the error for a package that is not installed.

    Arguments:
        package: the package, as imported.
        extra: the extra of this distribution that installs it.
    """
    return ModuleNotFoundError(f"this sink needs {package}: pip install 'kafka-columnar[{extra}]'", name=package)
