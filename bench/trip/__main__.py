"""`python -m bench.trip`: what one record costs on its way to the broker and back. See the package for how."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext

from bench.trip import limits, timing
from bench.trip.broker import broker_process
from bench.trip.count import Counts, Variant, count, variants
from bench.trip.programs import STYLES
from bench.trip.report import functions, table


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.trip", description=__doc__)
    parser.add_argument("--trips", type=int, default=150, help="how many trips count (default: 150)")
    parser.add_argument(
        "--style", action="append", choices=list(STYLES), help="only this API (may be given again; default: all)"
    )
    parser.add_argument(
        "--variant",
        action="append",
        choices=["compiled", "plain"],
        help="only this variant (may be given again; default: those that exist)",
    )
    parser.add_argument(
        "--functions",
        type=int,
        nargs="?",
        const=15,
        metavar="MOST",
        help="also print the functions of each stage that are called most (default: 15 of each)",
    )
    parser.add_argument(
        "--bootstrap-servers", help="a running broker, instead of the small server (bench/trip/replay.py)"
    )
    parser.add_argument(
        "--late-ms",
        type=float,
        default=2,
        help="how long after its acknowledgement the consumer gets a record, so that it waits for it; 0: at once, so "
        "that clients often read both together (default: 2)",
    )
    about_limits = parser.add_mutually_exclusive_group()
    about_limits.add_argument(
        "--limits",
        action="store_true",
        help="compare with the limits of the unit test (bench/trip/limits.json), and exit with 1 if a count has grown "
        "or has fallen far below its limit",
    )
    about_limits.add_argument("--write-limits", action="store_true", help="replace the limits by what is counted now")
    parser.add_argument("--time", action="store_true", help="take the time of trips, against the peers of make bench")
    parser.add_argument(
        "--row", action="append", choices=list(timing.ROWS), help="with --time: only this row (may be given again)"
    )
    parser.add_argument(
        "--server",
        action="append",
        choices=[timing.REPLAY, timing.BROKER],
        help="with --time: only against this server (default: first the small one, then a real broker)",
    )
    parser.add_argument(
        "--rounds", type=int, default=timing.ROUNDS, help="with --time: runs of each client (default: 5)"
    )
    return parser.parse_args()


def compare(chosen: Sequence[Variant], write: bool) -> int:
    """Compare what a trip costs now with the limits, or replace these. Returns the exit code."""
    with broker_process("bench.trip.replay", "--late-ms", str(limits.LATE_MS)) as bootstrap_servers:
        counts = {each: limits.measured(each, bootstrap_servers)[0] for each in chosen}
    if write:
        limits.save(counts)
        print(f"written to {limits.FILE}")
        return 0
    found = limits.compared(counts)
    print("\n".join(found) or f"within the limits of {limits.FILE}")
    return 1 if found else 0


def main() -> int:
    """Count and print. Returns the exit code."""
    options = arguments()
    if options.limits or options.write_limits:
        return compare(options.variant or variants(), options.write_limits)
    if options.time:
        servers = options.server or [timing.REPLAY, timing.BROKER]
        for line in timing.measure(options.row or list(timing.ROWS), servers, options.rounds, lambda text: None):
            print(line, flush=True)
        return 0
    given, late_ms = options.bootstrap_servers, str(options.late_ms)
    counts: list[Counts] = []
    with (
        nullcontext(given) if given else broker_process("bench.trip.replay", "--late-ms", late_ms) as bootstrap_servers
    ):
        for variant in options.variant or variants():
            counts += count(variant, options.style or list(STYLES), bootstrap_servers, options.trips)
    print("\n".join(table(counts)))
    for each in counts if options.functions else ():
        print()
        print("\n".join(functions(each, options.functions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
