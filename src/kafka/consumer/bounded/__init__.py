"""Bounded reads: what topics hold at the moment of the call, and then the end. `kafka.read` and `kafka.read_async`.

`bounds.py` has what a start and an end may be, `async_read.py` (and its twin `sync_read.py`) the reads;
`display/progress.py` tells how far they are. They stand on the public calls of the consumers.
"""
