"""What one record costs on its way to the broker and back, counted rather than timed.

`python -m bench.trip` runs the programs of `make bench`'s round trips, one record under way at a time, with the broker
in another process, and prints the calls, allocations, system calls and loop iterations of one trip. The counts are
medians over trips. They hardly depend on the machine or on what else runs there, so a test limits them
(`limits`). `python -m bench.trip --time` takes the time of the same trips.

- `programs`: the trips, with a mark after each
- `calls`: what the interpreter calls in between; `stages`: the table that assigns functions to stages
- `allocations`, `system_calls`: what Python asks of its allocators, and the process of the kernel
- `child`: one measurement in a process; `count`: all of them; `report`: the tables
- `replay`: the small server that the trips run against, with its `answers`; `limits`: what a trip may cost
- `timing`: the time of trips, and of other small requests, against the peers
"""
