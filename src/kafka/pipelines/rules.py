"""Rules: which rows of a pipeline pass, and what happens to the others.

A row passes a rule only if the rule's expression is true. It fails the rule if the expression is false or NULL, or
raises an error. Each row therefore either passes or fails, and no error in an expression stops the query. Spark
evaluates the rules of a source together; the result for each row is a number with a bit for each failed rule
(`Evaluation`). `built_in_rules` creates the rules that each source has, and `rule_counts` counts failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka.pipelines.built_in_rules import CURRENT, built_in, cause
from kafka.pipelines.declaration import DECODES, Declaration, Otherwise, Rule, Source
from kafka.pipelines.rule_counts import Counts, counts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["CURRENT", "SETTINGS", "Counts", "Evaluation", "all_rules", "built_in", "cause", "counts", "failed_row"]

SETTINGS = {"spark.sql.codegen.hugeMethodLimit": "8000"}
"""Settings for sessions that evaluate rules. Java does not compile methods of more than 8000 bytes. With this limit,
Spark generates shorter methods for more than about 25 rules; without it, such rules take ten times as long."""
_TOGETHER = 16
"""Maximum number of rules that are first evaluated together. The code for more rules would be too long for Java."""


def all_rules(declaration: Declaration, source: Source, now: str = CURRENT) -> tuple[Rule, ...]:
    """Return the built-in rules of a source of a canonical declaration, and then its own rules.

    Arguments:
        declaration: the pipeline.
        source: the source.
        now: SQL for the current time, with which the built-in rule for times compares.
    """
    return (*built_in(source, declaration.built_in_outcome, now), *source.rules)


class Evaluation:
    """Columns with the outcome of the rules for each row.

    Arguments:
        rules: the rules of a source, built-in ones included, in the order of their bits in `failures`; at most 63.
        offset: a numeric column that is never NULL and never negative, and that Spark cannot prove to be so, such as
            the offset of the record. Expressions are only evaluated on condition that it is not negative. Without a
            condition, Spark would first evaluate a subexpression that two rules have in common, and an error in the
            subexpression would stop the query. For a row in which the column is NULL or negative, the rules are
            evaluated as if each expression, except that of `DECODES`, raised an error.
    """

    def __init__(self, rules: Sequence[Rule], offset: Column) -> None:
        self.rules = tuple(rules)
        self._offset = offset

    def add_to(self, frame: DataFrame, name: str) -> DataFrame:
        """Add the column of `failures` to a DataFrame whose columns the rules refer to.

        This costs less than adding the column yourself. Spark would merge the projection of the rules with the one that
        extracts the fields of the value, and would then extract a field again for each rule. Spark also does not move
        filters on the new column before it, which would evaluate the rules twice.

        Arguments:
            frame: the DataFrame, in which the fields of the value are columns.
            name: the name of the new column.
        """
        from pyspark.sql import functions as f

        # Spark neither merges nor moves projections with a nondeterministic column. This one costs nothing.
        barrier = f"{name}_barrier"
        separate = frame.withColumn(barrier, f.spark_partition_id())
        condition = (f.col(barrier) >= 0) & (f.spark_partition_id() >= 0) & (self._offset >= 0)
        return separate.withColumn(name, self._failures(condition)).drop(barrier)

    def failures(self) -> Column:
        """Return a bigint column with the bit ``1 << i`` set if a row fails rule i; 0 if the row passes all rules.

        A row that fails the rule `DECODES` fails no other rule, because rules cannot check values that do not decode.
        A session needs the `SETTINGS` if there are many rules.
        """
        return self._failures(self._offset >= 0)

    def _failures(self, condition: Column) -> Column:
        from pyspark.sql import functions as f

        rules = [(index, rule) for index, rule in enumerate(self.rules) if rule.name != DECODES]
        failures = _number(0)
        if rules:
            bits = [f.when(_holds([rule]), _number(0)).otherwise(_number(1 << index)) for index, rule in rules]
            failed = _any_bit(bits)
            if len(rules) <= _TOGETHER:  # most rows pass all rules, so that this costs less
                failed = f.when(_holds([rule for _, rule in rules]), failures).otherwise(failed)
            every = _number(sum(1 << index for index, _ in rules))
            failures = f.when(condition, failed).otherwise(every)
        for index, rule in enumerate(self.rules):
            if rule.name == DECODES:
                failures = f.when(f.expr(rule.expression), failures).otherwise(_number(1 << index))
        return failures

    def has_outcome(self, failures: Column, outcome: Otherwise) -> Column:
        """Return a Boolean column that is true for rows with this outcome. Rows that pass all rules have no outcome."""
        stricter = [each for each in Otherwise if list(Otherwise).index(each) > list(Otherwise).index(outcome)]
        is_failed = self._any(failures, [outcome])
        return is_failed & ~self._any(failures, stricter) if stricter else is_failed

    def is_processed(self, failures: Column) -> Column:
        """Return a Boolean column that is true for rows that the query processes.

        These are the rows that pass all rules, or fail only rules with the outcome keep.
        """
        return ~self._any(failures, [Otherwise.DROP, Otherwise.DEAD_LETTER, Otherwise.FAIL])

    def failed_names(self, failures: Column) -> Column:
        """Return an array column with the names of the rules that a row fails, in the order of the rules."""
        from pyspark.sql import functions as f

        if not self.rules:
            return f.array().cast("array<string>")
        return f.filter(
            f.array(*[f.when(_has(failures, 1 << i), f.lit(rule.name)) for i, rule in enumerate(self.rules)]),
            lambda name: name.isNotNull(),
        )

    def stopping(self, failures: Column, position: Column, cause: Column) -> Column:
        """Return the column `failures`; its evaluation raises an error for a row with the outcome fail.

        Spark does not evaluate columns that a query does not use. Therefore use the result wherever the failures decide
        what happens to a row, such as in the condition of a filter.

        Arguments:
            failures: the column of `failures`.
            position: a text column with the position of the record, such as ``flights/0/17``.
            cause: a text column such as that of `cause`.
        """
        from pyspark.sql import functions as f

        if not any(rule.otherwise is Otherwise.FAIL for rule in self.rules):
            return failures
        message = failed_row(position, f.array_join(self.failed_names(failures), ", "), cause)
        error = f.raise_error(message).cast("bigint")
        return f.when(self._any(failures, [Otherwise.FAIL]), error).otherwise(failures)

    def _any(self, failures: Column, outcomes: Sequence[Otherwise]) -> Column:
        return _has(failures, sum(1 << i for i, rule in enumerate(self.rules) if rule.otherwise in outcomes))


FAILED_ROW = "The record at TOPIC/PARTITION/OFFSET"
"""The beginning of the error for a row with the outcome fail."""


def failed_row(position: Column, names: Column, cause: Column) -> Column:
    """Return a text column with the error for a row with the outcome fail.

    Arguments:
        position: the position of the record, such as ``flights/0/17``.
        names: the names of the rules that the row fails.
        cause: why the row fails.
    """
    from pyspark.sql import functions as f

    return f.concat(
        f.lit(f"{FAILED_ROW} "),
        position,
        f.lit(" fails rules, at least one with the outcome 'fail': "),
        names,
        f.lit(". Cause: "),
        cause,
    )


def _holds(rules: Sequence[Rule]) -> Column:
    """Return a Boolean column without NULL: whether a row passes all of several rules. It raises no errors.

    `try_to_binary` catches all errors in the evaluation of its argument. Spark has no function that does only this, and
    of the functions that do, this one costs the least.
    """
    from pyspark.sql import functions as f

    conditions = [
        f.coalesce(f.expr(rule.holds) if isinstance(rule.holds, str) else rule.holds, f.lit(rule.keep_null))
        for rule in rules
    ]
    all_hold = conditions[0]
    for condition in conditions[1:]:
        all_hold = all_hold & condition
    return f.try_to_binary(f.when(all_hold, f.lit("")), f.lit("hex")).isNotNull()


def _any_bit(numbers: Sequence[Column]) -> Column:
    """Combine the bits of several numbers."""
    combined = numbers[0]
    for number in numbers[1:]:
        combined = combined.bitwiseOR(number)
    return combined


def _has(failures: Column, bits: int) -> Column:
    return failures.bitwiseAND(_number(bits)) != 0


def _number(value: int) -> Column:
    from pyspark.sql import functions as f

    return f.lit(value).cast("bigint")
