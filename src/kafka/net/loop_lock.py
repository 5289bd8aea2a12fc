"""Locks that the loop takes too, and that a thread may have when a signal's handler, or a finalizer, begins in it.

Such a function may wait for the loop, as `close()` does, and the loop for the lock: both for ever, and all clients of
the process with them. So whoever waits lets go of these locks meanwhile. They are re-entrant: wherever a handler may
begin, what they guard has to be fit to be changed anyway.
"""

import threading
import weakref
from typing import Any, TypeAlias

from kafka.net.fork import after_fork

_Held: TypeAlias = list[tuple[Any, Any]]

_locks: "dict[weakref.ref[threading.RLock], None]" = {}


def loop_lock() -> threading.RLock:
    """A new one. In a forked child nobody has it: the thread that had it may have stayed in the parent."""
    lock = threading.RLock()
    _locks[weakref.ref(lock, _forget)] = None
    return lock


def let_go() -> _Held:
    """Release what this thread has of them, for `take_again`."""
    held: _Held = []
    for reference in list(_locks):  # in one step: other threads make locks
        lock: Any = reference()  # threading's own conditions call these methods too
        if lock is not None and lock._is_owned():
            held.append((lock, lock._release_save()))
    return held


def take_again(held: _Held) -> None:
    """Have again what `let_go` has released, as often as before."""
    for lock, state in held:
        lock._acquire_restore(state)


def _forget(reference: "weakref.ref[threading.RLock]") -> None:
    _locks.pop(reference, None)


def _in_child() -> None:
    for reference in list(_locks):
        lock: Any = reference()
        if lock is not None and not lock._is_owned():
            lock._at_fork_reinit()


after_fork(_in_child)
