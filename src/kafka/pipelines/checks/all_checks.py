"""Checks a pipeline: `check` for a declaration, `check_file` for a YAML file. Neither needs Spark.

The brokers and the schema registry are asked at the same time. To add a check: a function that takes `Findings`, and
its call in `check`.
"""

from __future__ import annotations

import dataclasses
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from kafka.errors import KafkaError
from kafka.pipelines.checks import declared_options, permissions, positions, topics, value_schemas
from kafka.pipelines.checks.cluster_state import Cluster
from kafka.pipelines.checks.columns import KAFKA, Column, Columns
from kafka.pipelines.checks.expressions import check_condition
from kafka.pipelines.checks.problem import Findings, Place, Places, Problem, Report, report_of
from kafka.pipelines.checks.queries import HasTable, aggregates, check_query, no_tables
from kafka.pipelines.checks.registries import quick, reaches
from kafka.pipelines.checks.sinks import check_sink
from kafka.pipelines.declaration import FUNCTION, Declaration, InvalidDeclaration, Location, Sink, Source, declare
from kafka.pipelines.directories import directory_of
from kafka.pipelines.field_types import selects
from kafka.pipelines.start_checks import check_owner
from kafka.pipelines.step_checks import time_column
from kafka.pipelines.targets.target import CHECK_S
from kafka.pipelines.yaml_file import read

if TYPE_CHECKING:
    from kafka.spark.options.parsing import ReadOptions, WriteOptions

LIMIT_S = 10.0
"""Default time limit for all answers of servers, in seconds. It is generous for busy machines."""
_ANSWER_S = 3.0
"""Default time limit for the connection to a server, and for each answer, in seconds."""


def check_file(
    path: str | Path,
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    *,
    servers: bool = True,
    limit_s: float = LIMIT_S,
) -> Report:
    """Check the pipeline in a YAML file.

    Arguments:
        path: the YAML file.
        change: changes the content of the file before it is checked, such as the addresses of servers.
        servers: whether to connect to servers: the brokers, the schema registry and the server of the sink.
        limit_s: time limit for the answers of servers, in seconds.

    Returns all problems. An invalid declaration is among them, and then the only one that is checked.
    """
    path = Path(path)
    try:
        content, line = read(path)
    except InvalidDeclaration as error:
        return Report(tuple(_problem_of(each, path) for each in str(error).split("\n")))
    places = Places(content, str(path), line)
    changed = change(content) if change is not None else content
    locations: list[Location] = []

    def place(location: Location) -> str:
        locations.append(location)
        return ""

    try:
        declaration = declare(changed, place, path.absolute().parent)
    except InvalidDeclaration as error:
        lines = str(error).split("\n")
        return Report(
            tuple(
                Problem(Place(here.key, here.file, here.line), text.removeprefix(f"{here.key}: "))
                for location, text in zip(locations, lines, strict=True)
                for here in [places(*location)]
            )
        )
    return check(declaration, places=places, servers=servers, limit_s=limit_s)


def check(
    declaration: Declaration,
    *,
    places: Places | None = None,
    servers: bool = True,
    limit_s: float = LIMIT_S,
    is_patient: bool = False,
    has_table: HasTable = no_tables,
) -> Report:
    """Check a declaration.

    Arguments:
        declaration: the declaration, in its canonical form.
        places: creates the places of problems; None for keys without a file.
        servers: whether to connect to servers: the brokers, the schema registry and the server of the sink.
        limit_s: time limit for all answers of servers, in seconds.
        is_patient: whether to wait longer for each answer: for a start, where a late answer would be an error.
        has_table: returns whether Spark has a table or a view of a name, for queries that use others than the sources.

    Returns all problems, and what is as it should be.
    """
    findings = Findings(places or Places())
    topics.check_names(findings, declaration)
    try:
        check_owner(declaration, directory_of(declaration))
    except InvalidDeclaration as error:
        findings.error(("checkpoint",), str(error).removeprefix("checkpoint: "))
    sources = {name: declared_options.checked_source(findings, declaration, name) for name in declaration.all_sources}
    sink = declared_options.checked_sink(findings, declaration)
    if not isinstance(declaration.sink, Sink) and (servers or not declaration.sink.is_remote):
        for problem in declaration.sink.check(limit_s / 2 if is_patient else CHECK_S):
            findings.error(("sink",), problem)
    until = time.monotonic() + limit_s
    answer_s = limit_s / 2 if is_patient else min(limit_s * 0.6, _ANSWER_S)
    brokers = _InBackground(findings, lambda found: _check_brokers(found, declaration, sources, sink, answer_s))
    registry = _InBackground(
        findings, lambda found: _check_schemas(found, declaration, sources, sink, servers, answer_s, has_table)
    )
    if servers and (sink is not None or any(sources.values())):
        brokers.start()
    registry.start()
    registry.wait(until, ("registry",), f"the schema registry did not answer within {limit_s:g} s")
    brokers.wait(until, ("kafka", "bootstrap.servers"), f"the brokers did not answer within {limit_s:g} s")
    return report_of(findings)


class _InBackground:
    """Runs a check in a thread, so that servers that do not answer cannot delay the others.

    Arguments:
        findings: gets the results when the check has ended in time.
        run: the check.
    """

    def __init__(self, findings: Findings, run: Callable[[Findings], None]) -> None:
        self._findings = findings
        self._own = Findings(findings.places)
        self._run = run
        self._thread = threading.Thread(target=self._checked, name="kafka-pipeline-check", daemon=True)
        self._error: BaseException | None = None

    def start(self) -> None:
        """Start the check."""
        self._thread.start()

    def _checked(self) -> None:
        try:
            self._run(self._own)
        except BaseException as error:  # raised again by wait()
            self._error = error

    def wait(self, until: float, location: Location, late: str) -> None:
        """Wait for the end, and add the results; add a problem if the time is up. Raises the error of the check."""
        if self._thread.ident is None:
            return
        self._thread.join(max(until - time.monotonic(), 0.0))
        is_late = self._thread.is_alive()
        if self._error is not None:
            raise self._error
        self._findings.problems += self._own.problems
        self._findings.passed_checks += self._own.passed_checks
        if is_late:
            self._findings.error(location, late, is_outage=True)


def _check_schemas(
    findings: Findings,
    declaration: Declaration,
    sources: Mapping[str, ReadOptions | None],
    sink: WriteOptions | None,
    servers: bool,
    answer_s: float,
    has_table: HasTable,
) -> None:
    """Check everything that depends on the columns: rules, the query and the sink."""
    registries = [each.typed.registry for each in (*sources.values(), sink) if each is not None and each.typed.registry]
    has_registry = bool(registries) and servers and reaches(findings, quick(registries[0], answer_s))
    columns: dict[str, Columns | None] = {}
    is_twice = declaration.dead_letters is not None and _keeps_state(declaration)
    for name, options in sources.items():
        source = declaration.all_sources[name]
        columns[name] = None
        if options is not None:
            fast = dataclasses.replace(options, typed=_quick_typed(options.typed, answer_s))
            columns[name] = value_schemas.columns(findings, name, source, fast, has_registry=has_registry)
        for index, rule in enumerate(source.rules):
            if isinstance(rule.holds, str):
                at = ("sources", name, "rules", index, "holds")
                check_condition(findings, at, rule.holds, columns[name], is_twice=is_twice)
        columns[name] = _with_time(columns[name], source)
    result = None
    if declaration.query is not None and declaration.query != FUNCTION:  # the columns of a function are not known
        result = check_query(findings, declaration.query, columns, has_table)
    elif declaration.query is None:
        (only,) = columns.values()
        result = None if only is None else Columns(each for each in only if each.name.lower() != KAFKA)
    if sink is not None:
        fast_sink = dataclasses.replace(sink, typed=_quick_typed(sink.typed, answer_s))
        check_sink(findings, declaration, fast_sink, result, has_registry=has_registry)


def _with_time(columns: Columns | None, source: Source) -> Columns | None:
    """Return the columns for the query. A declared step adds one if its time is a field, such as `kafka.timestamp`."""
    steps = [each.time for each in (source.watermark, source.dedupe) if each is not None and each.time is not None]
    added = [time_column(each) for each in dict.fromkeys(steps) if "." in each]
    if columns is None or not added:
        return columns
    time_type = exp.DataType.build("timestamp", dialect="spark")
    return Columns([*columns, *(Column(each, time_type) for each in added if each not in columns)])


def _keeps_state(declaration: Declaration) -> bool:
    """Return whether the query certainly keeps state; False for what only Spark knows, such as a function."""
    sources = declaration.all_sources
    if len(sources) > 1 or any(each.dedupe is not None for each in sources.values()):
        return True
    query = declaration.query
    return query is not None and query != FUNCTION and aggregates(query)


def _quick_typed(typed: Any, answer_s: float) -> Any:
    if not typed.registry:
        return typed
    return dataclasses.replace(typed, registry=quick(typed.registry, answer_s))


def _check_brokers(
    findings: Findings,
    declaration: Declaration,
    sources: Mapping[str, ReadOptions | None],
    sink: WriteOptions | None,
    answer_s: float,
) -> None:
    """Check everything that only the brokers know."""
    configs = next(each.configs for each in (*sources.values(), sink) if each is not None)
    at = ("kafka", "bootstrap.servers")
    names = {each for source in declaration.all_sources.values() for each in topics.names_of(source)}
    if declaration.topic_sink is not None:
        names.add(declaration.topic_sink.topic)
    if declaration.dead_letters is not None:
        names.add(declaration.dead_letters.topic)
    patterns = [each.pattern for each in declaration.all_sources.values() if each.pattern is not None]
    groups = list(permissions.groups_of(declaration))
    try:
        with Cluster(configs, round(answer_s * 1000)) as cluster:
            findings.passed(at, "the brokers answer")
            state = cluster.state(
                names,
                lambda topic: any(selects(each, topic) for each in patterns),
                groups,
                permissions.transactional_id_of(declaration),
            )
            topics.check_topics(findings, declaration, state)
            permissions.check_permissions(findings, declaration, state)
            topics.check_clock(findings, state)
            has_run = positions.check_resume(findings, declaration, sources, state)
            for name, options in sources.items():
                source = declaration.all_sources[name]
                if options is not None and not has_run:
                    pattern = source.pattern
                    read = [each for each in state.topics if each in topics.names_of(source)]
                    if pattern is not None:
                        read = [each for each in state.topics if selects(pattern, each)]
                    positions.check_start(findings, name, source, options, read, state, cluster.offsets_at)
    except KafkaError as error:
        findings.error(at, f"the brokers cannot be checked: {error}", is_outage=True)


def _problem_of(text: str, path: Path) -> Problem:
    """Return the problem in a line of an `InvalidDeclaration` that has no locations, as for text that is not YAML."""
    found = re.fullmatch(rf"{re.escape(str(path))}(?::(\d+))?: (.*)", text, re.DOTALL)
    if found is None:
        return Problem(Place("", str(path)), text)
    return Problem(Place("", str(path), int(found[1]) if found[1] else None), found[2])
