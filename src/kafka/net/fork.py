"""Protection for resources that a forked child must not share with its parent: sockets, and the loop's selector.

In the child, /dev/null replaces every inherited socket. If the child wrote to the real socket or shut it down, it would
corrupt the parent's stream. And while the child kept the socket open, the broker would not notice that the parent had
closed it.
"""

import asyncio
import os
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from kafka.errors import ForkedClientError, KafkaError


class SocketOwner(Protocol):
    """The part of a connection that this module uses."""

    loop: asyncio.AbstractEventLoop

    def abort(self, error: KafkaError) -> None:
        """Close the connection immediately."""


_sockets: "weakref.WeakKeyDictionary[SocketOwner, Any]" = weakref.WeakKeyDictionary()
_after_fork: list[Callable[[], None]] = []
_kept_alive: list[object] = []


def close_in_children(owner: SocketOwner, sock: Any) -> None:
    """Disconnect ``sock`` in forked children, for as long as ``owner`` exists."""
    if sock is not None:
        _sockets[owner] = sock


def owners_on(loop: asyncio.AbstractEventLoop) -> list[SocketOwner]:
    """Return the owners whose sockets ``loop`` watches."""
    return [owner for owner in list(_sockets) if owner.loop is loop]


def after_fork(callback: Callable[[], None]) -> None:
    """Call ``callback`` in each forked child, in the child's only thread, before anything else runs there."""
    _after_fork.append(callback)


def forked_client_error(kind: str) -> ForkedClientError:
    """Return the error to raise in a child process.

    Arguments:
        kind: the type of object that the parent created, such as "producer".
    """
    return ForkedClientError(
        f"this {kind} was created before the process forked, and its connections belong to the parent; create a new "
        f"one in this process (pid {os.getpid()}), for example in gunicorn's post_fork or when a Celery task first "
        "needs it"
    )


def keep_alive(thing: object) -> None:
    """Keep ``thing`` alive in this process, because its finalizer would affect resources that the parent uses."""
    _kept_alive.append(thing)


def _in_child() -> None:
    inherited = list(_sockets.items())
    _sockets.clear()
    null = os.open(os.devnull, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    try:
        for owner, sock in inherited:
            keep_alive(owner)
            descriptor = sock.fileno()
            if descriptor >= 0:
                os.dup2(null, descriptor, inheritable=False)
    finally:
        os.close(null)
    for callback in _after_fork:
        callback()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
