"""Rules: which rows of a pipeline pass, and what happens to the others.

A rule passes only if its expression is true. False, NULL and an error in the expression fail it, so each row either
passes or fails, and never stops the query. Spark evaluates the rules of a source together, into one number per row with
a bit for each failed rule (`Evaluation`).
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
        rules: the rules of a source, at most `MAX_RULES`; each has a bit of `failures`, in this order.
        present: a column without NULL that Spark cannot prove to be constant, such as the offset. Expressions are
            evaluated conditionally on it, because Spark would otherwise evaluate a part that two rules have in common
            first, and its error would stop the query.
    """

    def __init__(self, rules: Sequence[Rule], present: Column) -> None:
        self.rules = tuple(rules)
        self._present = present

    def failures(self) -> Column:
        """A bigint with the bit ``1 << i`` set if rule i fails; 0 for a row that passes all rules.

        All rules are evaluated together. Only for a row with an error in one of them, they are evaluated one by one.
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
        """Whether a row has this outcome. A row without any of the four passes all rules."""
        stricter = [each for each in Otherwise if list(Otherwise).index(each) > list(Otherwise).index(outcome)]
        is_failed = self._any(failures, [outcome])
        return is_failed & ~self._any(failures, stricter) if stricter else is_failed

    def is_processed(self, failures: Column) -> Column:
        """Whether the query processes a row: it passes all rules, or fails only rules with the outcome keep."""
        return ~self._any(failures, [Otherwise.DROP, Otherwise.DEAD_LETTER, Otherwise.FAIL])

    def failed_names(self, failures: Column) -> Column:
        """An array with the names of the rules that a row fails, in the order of the rules."""
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
        """Evaluate a column of numbers; NULL if that raises an error.

        `try_to_binary` evaluates its whole argument with errors caught. No function of Spark does only that.
        """
        from pyspark.sql import functions as f

        attempted = f.try_to_binary(number.cast("string"), f.lit("utf-8"))
        return f.when(self._present.isNotNull(), attempted).cast("string").cast("bigint")


def _bit(rule: Rule, index: int) -> Column:
    """0 if the rule passes, and its bit otherwise; raises the error of the rule's expression."""
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
