"""Count what a trip costs, for each API and each variant that this checkout has, in processes of their own."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench import ROOT
from bench.trip.allocations import CannotCountError
from bench.trip.calls import Calls
from bench.trip.child import WARM_UP, Kind, Measurement
from bench.trip.programs import Style
from bench.trip.system_calls import count_system_calls
from harness.topics import create_topic, new_topic_name

Variant = Literal["compiled", "plain"]
CHILD_TIMEOUT_S = 120


@dataclass(frozen=True)
class Counts:
    """What one trip costs. Where something was not counted, a text says why.

    Arguments:
        style: the API that the program uses.
        variant: of this package.
        calls: functions called, by stage.
        allocations: how often memory was asked for.
        system_calls: by name.
    """

    style: Style
    variant: Variant
    calls: Calls
    allocations: float | str
    system_calls: dict[str, float] | str


def environment_of(variant: Variant) -> dict[str, str]:
    """Return the environment variables of a process that uses a variant."""
    inherited = {name: value for name, value in os.environ.items() if name != "KAFKA_PURE"}
    return inherited | ({"KAFKA_PURE": "1"} if variant == "plain" else {})


def variants() -> list[Variant]:
    """Return the variants that this checkout has."""
    command = [sys.executable, "-c", "import kafka, kafka._variant as v; print(v.variant())"]
    done = subprocess.run(command, env=environment_of("compiled"), capture_output=True, text=True, check=True)
    return ["compiled", "plain"] if done.stdout.strip() == "compiled" else ["plain"]


def measure_in_child(variant: Variant, wanted: Sequence[Measurement]) -> list[Any]:
    """Measure in one process, and return the results in the same order.

    Raises:
        RuntimeError: the process failed.
    """
    done = subprocess.run(
        [sys.executable, *_arguments(wanted)],
        cwd=ROOT,
        env=environment_of(variant),
        capture_output=True,
        text=True,
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"measuring the {variant} variant failed: {done.stderr.strip()[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _arguments(wanted: Sequence[Measurement]) -> list[str]:
    return ["-m", "bench.trip.child", json.dumps([dataclasses.asdict(each) for each in wanted])]


def prepared(kind: Kind, style: Style, bootstrap_servers: str, trips: int) -> Measurement:
    """Return a measurement on a new topic."""
    topic = new_topic_name("bench-trip")
    create_topic(bootstrap_servers, topic, 1)
    return Measurement(kind, style, bootstrap_servers, topic, trips)


def count(variant: Variant, styles: Sequence[Style], bootstrap_servers: str, trips: int) -> list[Counts]:
    """Count what a trip costs.

    Arguments:
        variant: of this package.
        styles: the APIs to measure.
        bootstrap_servers: the broker.
        trips: how many trips count.
    """
    # Allocations last: the counter stays in place.
    wanted = [prepared("calls", style, bootstrap_servers, trips) for style in styles]
    calls = [Calls(**each) for each in measure_in_child(variant, wanted)]
    allocations = [
        measure_in_child(variant, [prepared("allocations", style, bootstrap_servers, trips)])[0] for style in styles
    ]
    system_calls = [_system_calls(variant, style, bootstrap_servers, trips) for style in styles]
    return [
        Counts(style, variant, *each) for style, *each in zip(styles, calls, allocations, system_calls, strict=True)
    ]


def _system_calls(variant: Variant, style: Style, bootstrap_servers: str, trips: int) -> dict[str, float] | str:
    wanted = prepared("system calls", style, bootstrap_servers, trips)
    try:
        return count_system_calls(_arguments([wanted]), environment_of(variant), WARM_UP)
    except CannotCountError as error:
        return str(error)
