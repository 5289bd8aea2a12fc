"""The declaration of the demo's pipeline, and the correction of its wrong rule.

The first version of the rule `PLAUSIBLE` forgets that a cancelled flight has no delay: NULL is not true, so that real
flights become dead letters.
"""

import difflib
import json
import pathlib

from kafka.cli.demo.names import CHECKPOINT, Names

PLAUSIBLE = "delay is plausible"
"""The rule that the demo corrects."""
OURS = "airport is in New York"
NO_TEST = "not a test flight"
ON_TIME = "arrives within two hours of the plan"
NUMBERED = "has a number"

_WRONG = "dep_delay between -60 and 1440"
_RIGHT = "dep_delay is null or dep_delay between -60 and 1440"

_TEXT = """\
# The pipeline of `kafka demo`
pipeline: {pipeline}
description: Flights that left New York in 2013, and the minutes that each made up in the air
kafka: {{bootstrap.servers: {servers}}}
registry: {{url: {registry}}}

source:
  topic: {source}
  value: {{format: avro}}
  required: [carrier, flight]
  times: [departure]
  max_offsets_per_trigger: {most}

rules:
  - {{name: {plausible}, holds: {holds}}}
  - {{name: {ours}, holds: "origin in ('EWR', 'JFK', 'LGA')"}}
  - {{name: {no_test}, holds: flight > 0, otherwise: drop}}
  - {{name: {on_time}, holds: arr_delay <= 120, keep_null: true, otherwise: keep}}
  - {{name: {numbered}, holds: id >= 0, otherwise: fail}}

query: >
  select id, departure, carrier, flight, origin, dest, dep_delay, dep_delay - arr_delay as made_up
  from source

sink: {{topic: {sink}, key: carrier, value: {{format: avro}}, exactly_once: true}}
dead_letters: {{topic: {dead}}}
max_bad: 0.5
checkpoint: {checkpoint}
"""


def write_declaration(names: Names, offsets_per_trigger: int) -> str:
    """Write the declaration to its file, with the wrong rule, and return its text.

    Arguments:
        names: the names in it.
        offsets_per_trigger: maximum number of offsets in a micro-batch.
    """
    text = _TEXT.format(
        pipeline=names.pipeline,
        servers=json.dumps(names.bootstrap_servers),
        registry=json.dumps(names.registry_url),
        source=names.source,
        sink=names.sink,
        dead=names.dead_letters,
        most=offsets_per_trigger,
        checkpoint=CHECKPOINT,
        plausible=PLAUSIBLE,
        holds=_WRONG,
        ours=OURS,
        no_test=NO_TEST,
        on_time=ON_TIME,
        numbered=NUMBERED,
    )
    names.file.write_text(text, encoding="utf-8")
    return text


def correct_rule(file: pathlib.Path) -> list[str]:
    """Correct the wrong rule in the file, and return the lines that differ, as in a diff."""
    before = file.read_text(encoding="utf-8")
    after = before.replace(_WRONG, _RIGHT)
    file.write_text(after, encoding="utf-8")
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
