"""The list of all programs."""

from __future__ import annotations

from spark_trials import faults, reads, sinks, streams
from spark_trials.trial import Program

PROGRAMS: tuple[Program, ...] = (*reads.programs(), *streams.programs(), *sinks.programs(), *faults.programs())
