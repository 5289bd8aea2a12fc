"""Rules: which rows of a pipeline pass, and what happens to the others.

A row passes a rule only if the rule's expression is true. It fails the rule if the expression is false or NULL, or
raises an error. Each row therefore either passes or fails, and no error in an expression stops the query. Spark
evaluates the rules of a source together; the result for each row is a number with a bit for each failed rule
(`Evaluation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka.pipelines.declaration import Otherwise, Rule

if TYPE_CHECKING:
    from pyspark.sql import Column


class Evaluation:
    """Columns with the outcome of the rules for each row.

    Arguments:
        rules: the rules of a source, at most `MAX_RULES`, in the order of their bits in `failures`.
        present: a column without NULL that Spark cannot prove to be constant, such as the offset. Expressions are only
            evaluated on condition that this column is not NULL. Without a condition, Spark would first evaluate a
            subexpression that two rules have in common, and an error in the subexpression would stop the query.
    """

    def __init__(self, rules: Sequence[Rule], present: Column) -> None:
        self.rules = tuple(rules)
        self._present = present

    def failures(self) -> Column:
        """Return a bigint column with the bit ``1 << i`` set if a row fails rule i; 0 if the row passes all rules.

        All rules are evaluated together. They are evaluated one by one only for rows in which a rule raises an error.
        """
        from pyspark.sql import functions as f

        if not self.rules:
            return f.lit(0).cast("bigint")
        bits = [_bit(rule, index) for index, rule in enumerate(self.rules)]
        together = _sum(bits)
        one_by_one = _sum(
            [f.coalesce(self._attempt(bit), f.lit(1 << index).cast("bigint")) for index, bit in enumerate(bits)]
        )
        return f.coalesce(self._attempt(together), one_by_one)

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

    def _any(self, failures: Column, outcomes: Sequence[Otherwise]) -> Column:
        return _has(failures, sum(1 << i for i, rule in enumerate(self.rules) if rule.otherwise in outcomes))

    def _attempt(self, number: Column) -> Column:
        """Evaluate a column of numbers; the result is NULL for rows in which the evaluation raises an error.

        `try_to_binary` catches all errors in the evaluation of its argument. Spark has no function that only does this.
        """
        from pyspark.sql import functions as f

        attempted = f.try_to_binary(number.cast("string"), f.lit("utf-8"))
        return f.when(self._present.isNotNull(), attempted).cast("string").cast("bigint")


def _bit(rule: Rule, index: int) -> Column:
    """Return a column that is 0 for rows that pass the rule, and the rule's bit for others. Errors propagate."""
    from pyspark.sql import functions as f

    holds = f.expr(rule.holds) if isinstance(rule.holds, str) else rule.holds
    return f.when(f.coalesce(holds, f.lit(rule.keep_null)), f.lit(0)).otherwise(f.lit(1 << index)).cast("bigint")


def _sum(numbers: Sequence[Column]) -> Column:
    total = numbers[0]
    for number in numbers[1:]:
        total = total + number
    return total


def _has(failures: Column, bits: int) -> Column:
    from pyspark.sql import functions as f

    return failures.bitwiseAND(f.lit(bits).cast("bigint")) != 0
