"""Consumers of the shared loop that are still open when the program ends: they leave their groups, with a warning."""

import atexit
import functools
import logging
import time
import weakref
from typing import Protocol

from kafka.consumer.drive.thread_runner import ThreadRunner
from kafka.errors import KafkaError
from kafka.net.fork import after_fork

log = logging.getLogger(__name__)

_CLOSE_MS = 1_000
_open: "weakref.WeakKeyDictionary[Closable, tuple[ThreadRunner, str | None]]" = weakref.WeakKeyDictionary()


class Closable(Protocol):
    """The core of a consumer; see `kafka.consumer.core.ConsumerCore`."""

    closed: bool
    close_begun: bool

    async def close(self, timeout_ms: float) -> None: ...


def close_at_exit(core: Closable, runner: ThreadRunner, group_id: str | None) -> None:
    """Close a consumer when the program ends, if it is open then. Nothing is committed: what it was given may not have
    been processed."""
    _open[core] = runner, group_id


def _at_exit() -> None:
    closing = []
    for core, (runner, group_id) in list(_open.items()):
        if core.close_begun:
            if runner.last_call is not None:  # an interrupt has ended the wait for it
                closing.append(runner.last_call)
            continue
        was_closed, core.closed = core.closed, True  # but an interrupt came
        if group_id is not None and not was_closed:
            log.warning(
                "a consumer of group %r was not closed before the program ended: records received since its last "
                "commit will be read again. Call close(), or use it in a 'with' block",
                group_id,
            )
        try:
            closing.append(runner.begin(functools.partial(core.close, _CLOSE_MS)))
        except KafkaError as error:
            log.debug("closing a consumer at exit: %s", error)
    deadline = time.monotonic() + _CLOSE_MS / 1000
    for call in closing:  # they close side by side
        call.wait(max(0.0, deadline - time.monotonic()))


after_fork(_open.clear)
atexit.register(_at_exit)
