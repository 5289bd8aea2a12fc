"""What must become of each planted record: the dead letters that the trial expects, and those that are good by now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .planted_records import RULES, Kind, Version
from .readers import Letter, Original


class Expected:
    """The state of each bad record.

    Arguments:
        kinds: the kind of each, by its number.
    """

    def __init__(self, kinds: dict[int, Kind]) -> None:
        self.kinds = dict(kinds)
        self.good: set[int] = set()
        """The numbers that a replay has brought into the sink."""
        self._attempts = dict.fromkeys(kinds, 1)
        self._more: Counter[tuple[int, int]] = Counter()

    def pending(self, found: Iterable[Letter]) -> list[Letter]:
        """Return the dead letters that no replay has processed."""
        return [each for each in found if each.number not in self.good and each.attempt == self._attempts[each.number]]

    def replay(self, numbers: Iterable[int], version: Version) -> int:
        """Replay the records with some numbers, with a version of the pipeline; return how many there are."""
        count = 0
        for number in numbers:
            count += 1
            if self.kinds[number] in version.accepts:
                self.good.add(number)
            else:
                self._attempts[number] += 1
        return count

    def add(self, kinds: dict[int, Kind], version: Version) -> set[int]:
        """Add records that the stream reads with a version of the pipeline; return those that are good in it."""
        good = {number for number, kind in kinds.items() if kind in version.accepts}
        for number, kind in kinds.items():
            if number not in good:
                self.kinds[number] = kind
                self._attempts[number] = 1
        return good

    def add_again(self, numbers: Iterable[int]) -> None:
        """Add the dead letters of a backfill, which are the first of their records once more."""
        self._more.update((number, 1) for number in numbers)

    def letters(self) -> Counter[tuple[int, int]]:
        """Return the number and the attempt of each dead letter."""
        found = Counter((number, attempt) for number, last in self._attempts.items() for attempt in range(1, last + 1))
        return found + self._more

    def faults(self, found: list[Letter], originals: dict[int, Original]) -> list[str]:
        """Compare dead letters with those expected, and their bytes with the originals; [] if all is right."""
        wanted, seen = self.letters(), Counter((each.number, each.attempt) for each in found)
        faults = [f"missing {each}" for each in (wanted - seen).elements()]
        faults += [f"unexpected {each}" for each in (seen - wanted).elements()]
        for each in found:
            if each.original != originals[each.number]:
                faults.append(f"{each.number}: {each.original} instead of {originals[each.number]}")
            rule = RULES.get(self.kinds[each.number])
            if not each.rules or (rule is not None and rule not in each.rules):
                faults.append(f"{each.number}: rules {each.rules} instead of {rule}")
        return faults
