"""What the report shows of a declaration: topics, rules, the query, the sink and the dead letters.

It reads the mapping that `Event.declaration` contains or `Declaration.model_dump` returns, and ignores what it does not
know, because the events may come from another version. Sources and rules that only occur in counts are added.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from kafka.pipelines.run_history import History

_PLACES = ("topic", "topics", "pattern", "table", "path", "foreach_batch", "url")
_BUILT_IN = "built-in"


@dataclasses.dataclass(frozen=True, slots=True)
class RuleParts:
    """A rule.

    Arguments:
        name: the name of the rule.
        holds: its expression; "" if it is built in.
        otherwise: what happens to a row that fails it; "" if unknown.
    """

    name: str
    holds: str = ""
    otherwise: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class SourceParts:
    """A source: its name, the topics that it reads, and its rules."""

    name: str
    topic: str
    rules: tuple[RuleParts, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class PipelineParts:
    """A pipeline. Texts are "" if they are unknown.

    Arguments:
        sources: the sources.
        query: the SQL query; "" for all columns of the source.
        sink: the topic or another target.
        dead_letters: the topic of the dead letters.
    """

    sources: tuple[SourceParts, ...]
    query: str = ""
    sink: str = ""
    dead_letters: str = ""

    def otherwise(self, source: str, rule: str) -> str:
        """Return what happens to a row that fails a rule; "" if unknown."""
        return next(
            (
                each.otherwise
                for parts in self.sources
                if parts.name == source
                for each in parts.rules
                if each.name == rule
            ),
            "",
        )


def declared_parts(declaration: Any, found: History) -> PipelineParts:
    """Return the parts of a pipeline.

    Arguments:
        declaration: a `Declaration`, a mapping with its keys, or None for the declaration in the events.
        found: the history of the pipeline.
    """
    dump = getattr(declaration, "model_dump", None)
    given = _mapping(dump() if dump is not None else declaration or found.declaration)
    counted = {name: list(counts.rules) for totals in found.totals.values() for name, counts in totals.sources.items()}
    declared = {**({"source": given["source"]} if given.get("source") else {}), **_mapping(given.get("sources"))}
    shared = given.get("rules") or () if len(declared) == 1 else ()
    sources = []
    for name in [*declared, *(name for name in counted if name not in declared)]:
        source = _mapping(declared.get(name))
        rules = [_rule(_mapping(each)) for each in (*(source.get("rules") or ()), *shared)]
        known = {each.name for each in rules}
        extra = [RuleParts(each, "", _BUILT_IN) for each in counted.get(name, ()) if each not in known]
        sources.append(
            SourceParts(str(name), _place(source), (*(extra if declared else [_unknown(e) for e in extra]), *rules))
        )
    return PipelineParts(
        tuple(sources),
        query=str(given.get("query") or ""),
        sink=_place(_mapping(given.get("sink"))),
        dead_letters=_place(_mapping(given.get("dead_letters"))),
    )


def _unknown(rule: RuleParts) -> RuleParts:
    return dataclasses.replace(rule, otherwise="")


def _rule(given: Mapping[str, Any]) -> RuleParts:
    return RuleParts(str(given.get("name", "")), str(given.get("holds", "")), str(given.get("otherwise", "")))


def _place(given: Mapping[str, Any]) -> str:
    """Return the topic, or whatever else names the target."""
    for name in _PLACES:
        value = given.get(name)
        if isinstance(value, list | tuple):
            return ", ".join(map(str, value))
        if value:
            return str(value)
    return next((str(value) for value in given.values() if isinstance(value, str) and value), "")


def _mapping(given: Any) -> Mapping[str, Any]:
    """Return a mapping unchanged, a model as a mapping, and an empty mapping for other values."""
    if isinstance(given, Mapping):
        return given
    dump = getattr(given, "model_dump", None)
    return dump() if dump is not None else {}
