"""Hints about filters that match nothing: fields that a record lacks, with the most similar fields that it has.

JSON has no schema, so a misspelt field is not an error. After a search without a result, callers show `missing_fields`
for one of the records that were examined.
"""

from collections.abc import Mapping
from typing import Any

from kafka.filters.errors import closest
from kafka.filters.evaluation import Filter
from kafka.filters.record_fields import MISSING, FilterRecord
from kafka.filters.syntax_tree import Field

_MOST_NAMES = 8


def missing_fields(condition: Filter, record: FilterRecord) -> list[str]:
    """Return a sentence for each field of a filter that a record does not have.

    Arguments:
        condition: the filter.
        record: a record that did not match.
    """
    return [hint for field in condition.nested_fields if (hint := _hint(field, record)) is not None]


def _hint(field: Field, record: FilterRecord) -> str | None:
    steps: tuple[str | int, ...] = field.steps
    if field.root == "headers":
        if record.header(str(steps[0])) is MISSING:
            return f"no header {steps[0]!r}{_there([name for name, _ in record.headers], str(steps[0]), 'headers.')}"
        return None
    data = getattr(record, field.root)
    if data is None:
        return f"the {field.root} is null, so there is no {field.text}"
    at: Any = record.document(field.root, data)
    if at is MISSING:
        return f"the {field.root} is not JSON, so there is no {field.text}; typed data needs its format"
    path = field.root
    for step in steps:
        if isinstance(step, int):
            if not isinstance(at, list | tuple) or not -len(at) <= step < len(at):
                return f"no {field.text}"
            at, path = at[step], f"{path}[{step}]"
        elif isinstance(at, Mapping):
            if step not in at:
                return f"no {path}.{step}{_there([str(name) for name in at], step, f'{path}.')}"
            at, path = at[step], f"{path}.{step}"
        else:
            return f"no {field.text}: {path} is not an object"
    return None


def _there(names: list[str], wanted: str, prefix: str) -> str:
    """Name the field that was probably meant, or the fields that exist."""
    near = closest(wanted, names) or next((each for each in names if each.lower() == wanted.lower()), None)
    if near is not None:
        return f"; did you mean {prefix}{near}?"
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"; it has {', '.join(prefix + each for each in names[:_MOST_NAMES])}{more}" if names else ""
