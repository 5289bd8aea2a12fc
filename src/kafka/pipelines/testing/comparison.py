"""Compares what a pipeline did with what a test case expects, and describes the differences as lines of text."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from kafka.pipelines.testing.case_files import Case, DeadRow, OutputRow
from kafka.pipelines.testing.embedded_run import DeadLetter, Observed, OutputRecord

_CLOSE = 1e-9
"""Relative difference up to which numbers with fractions are equal."""


def differences(case: Case, observed: Observed) -> list[str]:
    """Return the differences between the expectations of a case and what happened; [] if there are none.

    A line that begins with ``-`` contains what was expected but did not happen, and one with ``+`` what happened but
    was not expected.
    """
    if observed.failure is not None or case.fails is not None:
        return _failure(case, observed)
    return [
        *_output(case, observed.output),
        *_dead(case, observed.dead),
        *(
            []
            if observed.dropped == case.dropped
            else [f"dropped rows: expected {case.dropped}, got {observed.dropped}"]
        ),
    ]


def _failure(case: Case, observed: Observed) -> list[str]:
    if observed.failure is None:
        return [f"the run did not fail; expected an error with {case.fails!r}"]
    if case.fails is None:
        return [f"the run failed: {observed.failure}"]
    if case.fails in observed.failure:
        return []
    return [f"the run failed, but without {case.fails!r} in the error: {observed.failure}"]


def _output(case: Case, found: Sequence[OutputRecord]) -> list[str]:
    if case.expect is None:
        return []
    missing, unexpected = _unmatched(case.expect, found)
    if missing or unexpected:
        return _rows_text(missing, unexpected)
    if case.ordered and not all(_fits(want, got) for want, got in zip(case.expect, found, strict=True)):
        lines = ["the rows of the sink are in another order; they are:"]
        return [*lines, *[f"  {_shown(each.value)}" for each in found]]
    return []


def _unmatched(
    expected: Sequence[OutputRow], found: Sequence[OutputRecord]
) -> tuple[list[OutputRow], list[OutputRecord]]:
    """Match each expected row with a record; return the rows and records that remain."""
    missing, left = [], list(found)
    for want in expected:
        at = next((index for index, got in enumerate(left) if _fits(want, got)), None)
        if at is None:
            missing.append(want)
        else:
            del left[at]
    return missing, left


def _rows_text(missing: Sequence[OutputRow], unexpected: Sequence[OutputRecord]) -> list[str]:
    lines = ["rows of the sink differ:"]
    left = list(unexpected)
    for want in missing:
        closest = min(left, key=lambda got: len(_paths(want, got)), default=None)
        lines.append(f"- {_row_text(want)}")
        if closest is not None and len(_paths(want, closest)) <= max(1, _size(want.value) // 2):
            left.remove(closest)
            lines.append(f"+ {_row_text(closest, like=want)}")
            lines += [f"    {each}" for each in _paths(want, closest)]
    lines += [f"+ {_row_text(each)}" for each in left]
    return lines


def _row_text(row: OutputRow | OutputRecord, like: OutputRow | None = None) -> str:
    shows_key = row.key is not None if isinstance(row, OutputRow) else like is not None and like.key is not None
    return f"key {_shown(row.key)}: {_shown(row.value)}" if shows_key else _shown(row.value)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, Mapping) else 1


def _fits(want: OutputRow, got: OutputRecord) -> bool:
    return not _paths(want, got)


def _paths(want: OutputRow, got: OutputRecord) -> list[str]:
    """Return a line for each difference between an expected row and a record."""
    found = list(_differing(want.value, got.value, ""))
    if want.key is not None and not _is_key(want.key, got.key):
        found.append(f"key: expected {_shown(want.key)}, got {_shown(got.key)}")
    for name, text in want.headers.items():
        if name not in got.headers or got.headers[name] != text:
            found.append(f"header {name}: expected {_shown(text)}, got {_shown(got.headers.get(name))}")
    return found


def _is_key(want: Any, got: str | None) -> bool:
    return got == (want if isinstance(want, str) else json.dumps(want))


def _differing(want: Any, got: Any, path: str) -> list[str]:
    """Return a line for each place at which two JSON values differ. Missing fields are equal to null."""
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        found: list[str] = []
        for name in dict.fromkeys([*want, *got]):
            found += _differing(want.get(name), got.get(name), f"{path}.{name}" if path else str(name))
        return found
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)) and len(want) == len(got):
        return [
            line
            for index, pair in enumerate(zip(want, got, strict=True))
            for line in _differing(*pair, f"{path}[{index}]")
        ]
    if _equal(want, got):
        return []
    return [f"{path or 'value'}: expected {_shown(want)}, got {_shown(got)}"]


def _equal(want: Any, got: Any) -> bool:
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return want == got or math.isclose(want, got, rel_tol=_CLOSE) or (math.isnan(want) and math.isnan(got))
    if isinstance(want, datetime.date) and isinstance(got, str):
        return _is_time(want, got)
    return bool(want == got)


def _is_time(want: datetime.date, got: str) -> bool:
    """Return whether text is a date or time; without a time zone, times are in UTC."""
    try:
        if not isinstance(want, datetime.datetime):
            return datetime.date.fromisoformat(got) == want
        found = datetime.datetime.fromisoformat(got)
    except ValueError:
        return False
    zoned = [each if each.tzinfo is not None else each.replace(tzinfo=datetime.UTC) for each in (want, found)]
    return zoned[0] == zoned[1]


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _dead(case: Case, found: Sequence[DeadLetter]) -> list[str]:
    """Compare the dead letters."""
    wanted = {(each.source, each.row): each for each in case.dead}
    got = {(each.source, each.row): each for each in found}
    lines = []
    for place, want in wanted.items():
        if place not in got:
            lines.append(f"- row {_place(want, case)}: expected a dead letter{_rules(want.rules)}, got none")
    for place, each in got.items():
        expected = wanted.get(place)
        if expected is None:
            lines.append(f"+ row {_place(each, case)}: dead letter{_rules(each.rules)}: {each.cause}")
        elif expected.rules is not None and set(expected.rules) != set(each.rules):
            rules = f"expected a dead letter{_rules(expected.rules)}, got one{_rules(each.rules)}"
            lines.append(f"  row {_place(each, case)}: {rules}")
    if len(found) > len(got):
        lines.append(f"+ {len(found) - len(got)} dead letters of the same rows")
    return ["dead letters differ:", *lines] if lines else []


def _place(each: DeadRow | DeadLetter, case: Case) -> str:
    return str(each.row) if len(case.rows) == 1 else f"{each.row} of {each.source}"


def _rules(rules: Sequence[str] | None) -> str:
    return f" for {', '.join(map(repr, rules))}" if rules else ""
