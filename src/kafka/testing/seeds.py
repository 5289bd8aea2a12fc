"""Runs seeds side by side, each in a process of its own.

The processes are forked from one that has done nothing but import, where the system can do that. So a seed does not
depend on what ran before it.
"""

import dataclasses
import functools
import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence

from kafka.testing.simulation import Report, run_seed

_SERVER = "forkserver"


def reports(seeds: Sequence[int], jobs: int, told: bool = False) -> Iterator[Report]:
    """Run seeds, and return their reports in the order of the seeds, without the stories.

    Arguments:
        seeds: which.
        jobs: how many run at a time.
        told: print the stories as they happen.
    """
    if _SERVER in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context(_SERVER)
        context.set_forkserver_preload([Report.__module__])
    else:
        context = multiprocessing.get_context("spawn")
    with context.Pool(min(jobs, len(seeds)), _leave_interrupts_alone, maxtasksperchild=1) as pool:
        yield from pool.imap(functools.partial(_report, told=told), seeds)


def _leave_interrupts_alone() -> None:
    """Ctrl-C reaches every process of a terminal, and the one that shares out the seeds ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _report(seed: int, told: bool) -> Report:
    """Run a seed, and tell its story while it runs, or keep none."""
    report = run_seed(seed, told)
    sys.stdout.flush()
    return dataclasses.replace(report, story=[])
