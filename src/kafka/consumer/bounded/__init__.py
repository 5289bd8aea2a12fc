"""Bounded reads: what topics hold at the moment of the call, and then the end. `kafka.read` and `kafka.read_async`.

`bounds.py` has what a start and an end may be, `_async/read.py` (with its twin
`_sync/read.py`) finds the offsets and has the reads, `losses.py` what is gone before it was read;
`display/progress.py` tells how far they are. They stand on the public calls of the consumers.
"""
