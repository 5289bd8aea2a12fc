"""How often a trip asks for memory: a small C library counts the calls of Python's allocators, in all threads.

`sys.getallocatedblocks()` and `tracemalloc` know what is alive, so that an object that is made and freed within a trip
would not count. The counter stands before the allocators of objects and of their memory instead
(`PyMem_SetAllocator`), and counts every malloc, calloc and realloc. It does not count objects that the interpreter
takes from its lists of free ones, nor memory that C libraries ask of the system. The same calls ask for the same
memory, so the count does not depend on the machine. A C compiler builds the library in a tenth of a second.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shlex
import shutil
import statistics
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.trip.allocator_library import SOURCE


class CannotCountError(RuntimeError):
    """Something is not counted on this machine; the message says what is missing."""


def begin_counting() -> Callable[[], int]:
    """Count from now on, for as long as the process lives.

    Returns:
        The function that returns the number of allocations so far.

    Raises:
        CannotCountError: there is no C compiler, or it failed.
    """
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if shutil.which(compiler[0]) is None:
        compiler = ["cc"]
    if shutil.which(compiler[0]) is None:
        raise CannotCountError("expected a C compiler (cc, or what CC names), found none")
    with tempfile.TemporaryDirectory() as folder:
        library, text = Path(folder, "allocations.so"), Path(folder, "allocations.c")
        text.write_text(SOURCE)
        command = [*compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(text)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotCountError(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")
        loaded = ctypes.CDLL(str(library))
    loaded.allocations.restype = ctypes.c_longlong
    # A library loaded by PyDLL keeps the interpreter's lock, so no thread allocates while the allocators change.
    begin = ctypes.PyDLL(None, handle=loaded._handle).begin_counting
    begin.restype = None
    begin(ctypes.pythonapi.PyMem_GetAllocator, ctypes.pythonapi.PyMem_SetAllocator)
    count: Callable[[], int] = loaded.allocations
    return count


def per_trip(counts: Sequence[int], reading: int) -> float:
    """Return the median over trips.

    Arguments:
        counts: the number of allocations at the end of each trip.
        reading: how many of them it takes to read the number.
    """
    return statistics.median(b - a - reading for a, b in itertools.pairwise(counts))
