"""The names of a pipeline's rules, and the error for a name that none of them has.

The commands that select dead letters by a rule use it: ``kafka pipeline dead`` and ``kafka pipeline replay``. Change
the message of the error in `check_rule`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka.config.option import nearest
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.directories import directory_of
from kafka.pipelines.events import read_events
from kafka.pipelines.rules import all_rules


def check_rule(declaration: Declaration, name: str, others: Iterable[str] = ()) -> None:
    """Check that a name is that of a rule, so that a misspelt one does not select nothing.

    Arguments:
        declaration: the pipeline.
        name: the name of the rule.
        others: other names to accept, such as those that the dead letters contain.

    Raises `InvalidDeclaration` unless the pipeline declares the rule, or earlier runs had it, or it is in ``others``.
    """
    declared = list(_declared(declaration))
    if name in declared:
        return
    known = list(dict.fromkeys((*declared, *_of_runs(declaration), *others)))
    if name not in known:
        hint = nearest(name, known)
        rules = f"the rules are {', '.join(map(repr, known))}" if known else "it has no rules"
        raise InvalidDeclaration(
            f"--rule: pipeline {declaration.pipeline} has no rule {name!r}{hint}{' (' if hint else '; '}{rules}"
            f"{')' if hint else ''}"
        )


def _declared(declaration: Declaration) -> Iterator[str]:
    """Yield the names of the declared and of the built-in rules."""
    for source in declaration.all_sources.values():
        yield from (rule.name for rule in all_rules(declaration, source))


def _of_runs(declaration: Declaration) -> Iterator[str]:
    """Yield the names of the rules that earlier runs have counted, which the declaration may not contain any more."""
    for event in read_events(directory_of(declaration).events):
        for counts in event.sources.values():
            yield from counts.rules
