"""Filter expressions for records, such as ``value.status = 'PAID' and value.amount > 10``.

The command line (``kafka consume --where``) and the web UI share this language. Nothing outside the standard library
is imported, and no other package of this project. docs/COMMAND_LINE.md describes the language for users.

    condition = Filter("value.status = 'PAID' and headers.source is not null")
    condition.matches(FilterRecord(topic="orders", value=b'{"status": "PAID"}', headers=[("source", b"shop")]))

To add an operator, add its symbol or keyword to `tokens` and `parser`, a node to `syntax_tree`, and its meaning to
`evaluation`. To add a field of records, add it to `syntax_tree.ROOTS` and to `record_fields.FilterRecord`.

| module | content |
|---|---|
| `errors` | `FilterError`, with the position and a caret |
| `tokens` | splits an expression |
| `syntax_tree` | the fields, and the nodes of a parsed expression |
| `parser` | the grammar, the checks of types, and the limits on length and depth |
| `record_fields` | `FilterRecord` and the lookup of fields in it |
| `comparisons` | compares two values; unknown if they have different types |
| `patterns` | ``like`` and ``matches`` |
| `linear_patterns` | regular expressions in time proportional to the length of the text |
| `times` | dates, times and durations |
| `evaluation` | `Filter`, and `RecordField` for a single field |
| `hints` | the fields that a record lacks, for searches without a result |
"""

from kafka.filters.errors import FilterError
from kafka.filters.evaluation import Filter, RecordField
from kafka.filters.hints import missing_fields
from kafka.filters.record_fields import MISSING, FilterRecord, Missing, parsed_json
from kafka.filters.syntax_tree import ROOTS
from kafka.filters.type_hints import differing_types

__all__ = [
    "MISSING",
    "ROOTS",
    "Filter",
    "FilterError",
    "FilterRecord",
    "Missing",
    "RecordField",
    "differing_types",
    "missing_fields",
    "parsed_json",
]
"""The public names. Other modules of this package are internal."""
