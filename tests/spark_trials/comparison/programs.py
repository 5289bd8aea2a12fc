"""The list of all programs."""

from __future__ import annotations

from spark_trials.comparison import faults, reads, sinks, streams
from spark_trials.comparison.trial import Program

PROGRAMS: tuple[Program, ...] = (*reads.programs(), *streams.programs(), *sinks.programs(), *faults.programs())
