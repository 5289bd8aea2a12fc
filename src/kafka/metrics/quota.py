"""`Quota`: a bound of a metric."""

from __future__ import annotations


class Quota:
    """A bound that the value of a metric may not pass.

    Arguments:
        bound: the last value that is allowed.
        is_upper: whether larger values are forbidden; else smaller ones are.
    """

    __slots__ = ("_bound", "_upper")

    def __init__(self, bound: float, is_upper: bool) -> None:
        self._bound = bound
        self._upper = is_upper

    @staticmethod
    def upper_bound(upper_bound: float) -> Quota:
        """A bound that forbids larger values.

        Arguments:
            upper_bound: the largest value that is allowed.
        """
        return Quota(upper_bound, True)

    @staticmethod
    def lower_bound(lower_bound: float) -> Quota:
        """A bound that forbids smaller values.

        Arguments:
            lower_bound: the smallest value that is allowed.
        """
        return Quota(lower_bound, False)

    def is_upper_bound(self) -> bool:
        """Whether larger values are forbidden."""
        return self._upper

    @property
    def bound(self) -> float:
        """The last value that is allowed."""
        return self._bound

    def is_acceptable(self, value: float) -> bool:
        """Whether a value is allowed."""
        return value <= self._bound if self._upper else value >= self._bound

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quota):
            return NotImplemented
        return (self._bound, self._upper) == (other._bound, other._upper)

    def __hash__(self) -> int:
        return hash((self._bound, self._upper))
