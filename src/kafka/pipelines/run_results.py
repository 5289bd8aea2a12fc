"""What a run did, and the errors with which it ends."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator

from kafka.errors import KafkaError
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event
from kafka.pipelines.rules import FAILED_ROW
from kafka.pipelines.run_events import NEWEST, RunEvents
from kafka.pipelines.run_history import Totals


class PipelineFailedError(KafkaError):
    """A pipeline ended with an error. The message contains the cause, such as the record that fails a rule."""


class StartStoppedError(PipelineFailedError):
    """The start of a pipeline was stopped before its stream began."""


class TooManyRejectedError(PipelineFailedError):
    """A micro-batch rejected a larger fraction of its rows than `max_bad` allows."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did.

    Arguments:
        events: the newest events of the run (at most `run_events.NEWEST`), oldest first.
        directory: the pipeline's directory.
        is_complete: False for a replay or backfill that was stopped before its end.
        totals: the sums of all micro-batches.
    """

    events: tuple[Event, ...] = dataclasses.field(repr=False)
    directory: PipelineDirectory
    is_complete: bool = True
    totals: Totals = dataclasses.field(default_factory=Totals)

    @property
    def rows(self) -> int:
        """Number of rows read."""
        return self.totals.rows

    @property
    def out(self) -> int | None:
        """Number of rows that the query returned; None if Spark did not report it."""
        return self.totals.out

    @property
    def dead(self) -> int:
        """Number of dead letters."""
        return self.totals.dead

    @property
    def dropped(self) -> int:
        """Number of rows that rules dropped."""
        return self.totals.dropped

    def by_rule(self) -> dict[str, int]:
        """Return the number of rows that fail each rule, by the rule's name."""
        return self.totals.rules

    def followed_by(self, later: RunResult) -> RunResult:
        """Return the result of this run and a later one together, which is complete if the later one is."""
        events = (*self.events, *later.events)[-NEWEST:]
        return RunResult(events, self.directory, later.is_complete, self.totals + later.totals)


def result_of(events: RunEvents, directory: PipelineDirectory, *, is_complete: bool = True) -> RunResult:
    """Return the result of a run that has ended.

    Arguments:
        events: the events of the run.
        directory: the pipeline's directory.
        is_complete: False for a replay or backfill that was stopped before its end.
    """
    return RunResult(tuple(events.newest), directory, is_complete, events.totals)


@contextlib.contextmanager
def recorded_run(declaration: Declaration, events: RunEvents) -> Iterator[None]:
    """Record the start and the end of a bounded run. Raises `PipelineFailedError` for an error of Spark."""
    events.start()
    error: BaseException | None = None
    try:
        yield
    except KafkaError as raised:
        error = raised
        raise
    except Exception as raised:
        error = failure_of(declaration, raised)
        raise error from None
    finally:
        events.end(error)


def failure_of(declaration: Declaration, error: Exception) -> PipelineFailedError:
    """Return the error of a run, with the cause that Spark reports."""
    if isinstance(error, PipelineFailedError):
        return error
    return PipelineFailedError(f"pipeline {declaration.pipeline}: {advised(spark_cause(error), str(error))}")


_ADVICE = (
    (
        re.compile(r"STATE_STORE_(KEY|VALUE)_SCHEMA|STATE_STORE_INVALID_|STATEFUL_OPERATOR_NOT_MATCH"),
        "The state of the stream does not fit the changed query. Undo it, or start over with 'kafka pipeline reset'",
    ),
    (
        re.compile(r"(\w+\.)*PrefixInUseError: "),
        "If the pipeline's directory was deleted or replaced, 'kafka pipeline reset' makes the pipeline start over",
    ),
    (
        re.compile(r"(\w+\.)*DataLossError: "),
        "For a pipeline, this is an option of the source; 'kafka pipeline reset' starts over",
    ),
)
"""What to do about errors whose own advice is for queries without a pipeline, by a pattern of the error."""


def advised(cause: str, error: str) -> str:
    """Add what to do to an error that happens after a change of the query, the directory or a topic.

    Arguments:
        cause: what happened, as from `spark_cause`.
        error: the whole error, which names the exception's class.
    """
    for pattern, advice in _ADVICE:
        if pattern.search(error):
            return f"{cause.rstrip('. ')}. {advice}"
    return cause


_BEFORE_CAUSE = (
    re.compile(r"^\[STREAM_FAILED\] Query \[.*?\] terminated with exception: ", re.DOTALL),
    re.compile(r"^An error occurred while calling \S+\s*: "),
    re.compile(r"^(\[\w+\] )?Job aborted due to stage failure: .*?: Lost task .*? \(TID \d+\) \([^)]*\): ", re.DOTALL),
    re.compile(r"^([a-z]\w*\.)+[A-Z][\w$]*(Exception|Error): "),
)
"""What Spark and Py4J put before the cause of an error: the query, the call, the task and the Java class."""
_AFTER_CAUSE = re.compile(r"\n\s*at [\w.$]+\(|\n\n?(Driver|JVM) stacktrace:|\s*SQLSTATE: \w{5}")
_FAILED_ROW = re.compile(re.escape(FAILED_ROW) + r" [^\s/]+/\d+/\d+ fails rules")
"""The error for a row with the outcome fail. Any error of a stream can contain the expression that creates this text,
because Spark adds the query's plan; there, no position follows."""
_OF_SPARK = re.compile(r"^pyspark(\.\w+)+: (?=\[)")
"""What Python puts before an error of Spark that a function for micro-batches has not caught: the exception's class."""
_TRACEBACK = "Traceback (most recent call last):"


def spark_cause(error: BaseException) -> str:
    """Return the part of a Spark error that says what happened, in a line.

    This is the error for a row with the outcome fail, or the message without the stack traces, and without the parts
    that only say which query and which task failed.
    """
    text = str(error).strip()
    if failed := _FAILED_ROW.search(text):
        text = text[failed.start() :]
        return re.sub(r"(\s*SQLSTATE: \w{5})+$", "", text.split("\n", 1)[0]).strip()
    for prefix in _BEFORE_CAUSE:
        text = prefix.sub("", text, count=1)
    text = _AFTER_CAUSE.split(text, maxsplit=1)[0] if _TRACEBACK not in text else _python_cause(text)
    return text.strip().split("\n", 1)[0]


def _python_cause(text: str) -> str:
    """Return the error at the end of the first traceback of Python in a text."""
    lines = text[text.index(_TRACEBACK) :].split("\n")[1:]
    found = next((line for line in lines if line and not line.startswith((" ", "\t"))), lines[0])
    return _OF_SPARK.sub("", _AFTER_CAUSE.split(found, maxsplit=1)[0], count=1)
