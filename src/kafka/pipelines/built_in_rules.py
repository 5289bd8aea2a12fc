"""The rules that each source has: values decode, required columns are present, times are within bounds.

`built_in` creates them as ordinary rules, which come before the rules of the declaration. `cause` explains why a row
fails its rules. To add a built-in rule: its name in `source_declaration`, its expression in `built_in`, its cause
in `_cause_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka.pipelines.field_types import RECORD_TIMESTAMP
from kafka.pipelines.source_declaration import DECODES, REQUIRED, TIMES, Otherwise, Rule, Source, TimeBounds

if TYPE_CHECKING:
    from pyspark.sql import Column

LONGEST = 1000
"""Maximum number of characters of the cause of one rule."""


CURRENT = "current_timestamp()"
"""SQL for the time with which times are compared."""


def built_in(source: Source, otherwise: Otherwise = Otherwise.DEAD_LETTER, now: str = CURRENT) -> tuple[Rule, ...]:
    """Return the built-in rules of a source.

    Their expressions refer to the columns of the value, to the column `kafka`, and to the columns `value_error` and
    `key_error` of a read with ``valueErrors=column`` and ``keyErrors=column``. Times are compared with
    `current_timestamp`, which Spark evaluates once for each micro-batch, also when it runs the micro-batch again.

    Arguments:
        source: the source.
        otherwise: the outcome of the rules; see `Declaration.built_in_outcome`.
        now: SQL for the current time.
    """
    rules = []
    if columns := error_columns(source):
        rules.append(Rule(name=DECODES, holds=" and ".join(f"{name} is null" for name in columns), otherwise=otherwise))
    if required := required_columns(source):
        holds = " and ".join(f"{_quoted(name)} is not null" for name in required)
        rules.append(Rule(name=REQUIRED, holds=holds, otherwise=otherwise))
    if source.times:
        holds = " and ".join(_within(each, f"cast({_quoted(each.column)} as timestamp)", now) for each in source.times)
        rules.append(Rule(name=TIMES, holds=holds, otherwise=otherwise))
    return tuple(rules)


def required_columns(source: Source) -> tuple[str, ...]:
    """Return the columns that must not be null: the declared ones, and those with the times of steps.

    Steps and windows drop rows without a time, and Spark does not count them. Columns whose bounds are checked are left
    out, because the rule `TIMES` fails for null, too.
    """
    times = [step.time for step in (source.watermark, source.dedupe) if step is not None and step.time is not None]
    checked = {*source.required, *(each.column for each in source.times), RECORD_TIMESTAMP}
    return (*source.required, *dict.fromkeys(each for each in times if each not in checked))


def error_columns(source: Source) -> tuple[str, ...]:
    """Return the columns with the errors of keys and values that cannot be decoded. Bytes are not decoded."""
    return tuple(f"{name}_error" for name in ("value", "key") if getattr(source, name).format != "bytes")


def cause(rules: Sequence[Rule], failures: Column, source: Source) -> Column:
    """Return a text column that says why a row fails its rules, for the header `record_headers.CAUSE`.

    It contains, for each rule that the row fails, the name and the reason, joined by "; ". It is "" for a row that
    passes all rules.

    Arguments:
        rules: the rules of the source, in the order of their bits.
        failures: the column of `Evaluation.failures`.
        source: the source.
    """
    from pyspark.sql import functions as f

    texts = [
        f.when(
            failures.bitwiseAND(f.lit(1 << index).cast("bigint")) != 0,
            f.concat(f.lit(f"{rule.name}: "), f.substring(_cause_of(rule, source), 1, LONGEST)),
        )
        for index, rule in enumerate(rules)
    ]
    return f.concat_ws("; ", *texts) if texts else f.lit("")


def _cause_of(rule: Rule, source: Source) -> Column:
    """Return a text column without NULL. It is only evaluated for rows that fail the rule, and raises no errors."""
    from pyspark.sql import functions as f

    if rule.name == DECODES:
        return f.concat_ws("; ", *[f.col(f"{name}.cause") for name in error_columns(source)])
    if rule.name == REQUIRED:
        absent = [f.when(f.expr(f"{_quoted(name)} is null"), f.lit(name)) for name in required_columns(source)]
        return f.concat(f.concat_ws(", ", *absent), f.lit(" is null"))
    if rule.name == TIMES:
        return f.concat_ws(", ", *[_outside(each) for each in source.times])
    return f.lit(f"{rule.expression} is not true")


def _outside(bounds: TimeBounds) -> Column:
    """Return a text column with a time and its bounds if it is NULL or out of bounds; otherwise NULL."""
    from pyspark.sql import functions as f

    time = _quoted(bounds.column)
    moment = f"try_cast({time} as timestamp)"
    reason = f.when(f.expr(f"{time} is null"), f.lit("")).when(f.expr(f"{moment} is null"), f.lit(", not a time"))
    if bounds.past is not None:
        reason = reason.when(f.expr(f"{moment} < {_earliest(bounds)}"), f.lit(f", more than {bounds.past} ago"))
    found = f.coalesce(f.expr(f"cast({time} as string)"), f.lit("null"))
    text = f.concat(f.lit(f"{bounds.column} is "), found, reason.otherwise(f.lit(f", more than {bounds.future} ahead")))
    return f.when(f.expr(f"not coalesce({_within(bounds, moment)}, false)"), text)


def _within(bounds: TimeBounds, time: str, now: str = CURRENT) -> str:
    """Return the SQL condition that a time is within its bounds; it is NULL if the time is."""
    conditions = [f"{time} >= {_earliest(bounds, now)}"] if bounds.past is not None else []
    if bounds.future is not None:
        conditions.append(f"{time} <= {now} + interval {bounds.future}")
    return " and ".join(conditions or [f"{time} is not null"])


def _earliest(bounds: TimeBounds, now: str = CURRENT) -> str:
    return f"{now} - interval {bounds.past}"


def _quoted(column: str) -> str:
    """Quote a column or a field of a struct for SQL, so that it can be a keyword, such as ``order``."""
    return ".".join(f"`{part}`" for part in column.split("."))
