"""`python -m kafka.testing --seed N`: run simulations by seed, and print the event log of a single one."""

import argparse
import ctypes
import os
import sys
from collections.abc import Sequence

from kafka.testing.simulation import Report, reports

_NO_RANDOM_ADDRESSES = 0x0040000
"""Linux: ``ADDR_NO_RANDOMIZE``, see personality(2)."""
_INTERRUPTED = 130
_SHOWN = 5
"""Maximum number of problems printed per seed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if any seed revealed a problem."""
    parser = argparse.ArgumentParser(prog="python -m kafka.testing", description=__doc__)
    parser.add_argument("--seed", "--seeds", type=_seeds, required=True, help="a seed, or FIRST-LAST", dest="seeds")
    parser.add_argument("--quiet", action="store_true", help="do not print the story of a single seed")
    parser.add_argument("--jobs", type=int, default=_processors(), help="how many processes share the seeds")
    options = parser.parse_args(arguments)
    one = len(options.seeds) == 1
    failed = 0
    try:
        for report in reports(options.seeds, options.jobs, one and not options.quiet):
            _print(report)
            failed += bool(report.problems)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    if failed and not one:
        print(f"{failed} of {len(options.seeds)} seeds found problems: --seed N prints the story of one")
    return 1 if failed else 0


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a seed, or FIRST-LAST, both whole numbers; not {text!r}") from None


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print(report: Report) -> None:
    print(
        f"seed {report.seed}: {report.sent} sent, {report.acknowledged} acknowledged, {report.virtual_s:.1f} virtual "
        f"seconds, story {report.digest}, {len(report.problems)} problems",
        flush=True,
    )
    for problem in report.problems[:_SHOWN]:
        print(f"    {problem}", flush=True)
    if len(report.problems) > _SHOWN:
        print(f"    and {len(report.problems) - _SHOWN} more")


def repeatable() -> None:
    """Restart this program if the iteration order of sets could differ between runs.

    An environment variable fixes the hashes of strings. The hashes of other objects are their addresses, which are the
    same in every run if address space randomization is off (Linux). On other systems most runs of a seed are identical.
    """
    if os.environ.get("PYTHONHASHSEED") == "0":
        return
    os.environ["PYTHONHASHSEED"] = "0"
    if sys.platform == "linux":
        ctypes.CDLL(None).personality(_NO_RANDOM_ADDRESSES)
    os.execv(sys.executable, [sys.executable, "-m", "kafka.testing", *sys.argv[1:]])


if __name__ == "__main__":
    repeatable()
    sys.exit(main())
