"""The event loop where gevent or eventlet has replaced threads by greenlets (``patch_all()``, ``monkey_patch()``).

The clients' thread is a greenlet there, its locks and its selector let other greenlets run while it waits, and so
everything else works as it is. But asyncio remembers the running loop by the system's thread, which all greenlets
share: each of them would seem to run on the clients' loop. So that is the running loop only while its greenlet runs.
"""

import asyncio
import selectors
import sys
from typing import TYPE_CHECKING

from kafka.net.loop_times import TimedSelector

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

    Ready = list[tuple[selectors.SelectorKey, int]]


def threads_are_greenlets() -> bool:
    """Whether gevent or eventlet has patched `threading`. They are asked only if the program has imported them."""
    monkey, patcher = sys.modules.get("gevent.monkey"), sys.modules.get("eventlet.patcher")
    if monkey is not None and monkey.is_module_patched("threading"):
        return True
    return patcher is not None and bool(patcher.is_monkey_patched("thread"))


def selector_for_loop() -> selectors.BaseSelector:
    """A selector for the clients' loop."""
    return GreenSelector() if threads_are_greenlets() else TimedSelector()


class GreenSelector(selectors.BaseSelector):
    """A selector that hands back asyncio's running loop while its greenlet waits.

    What it found there, such as the loop of a program that runs asyncio in another greenlet, is put back meanwhile.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()  # gevent's or eventlet's
        self._of_others: asyncio.AbstractEventLoop | None = None

    def select(self, timeout: float | None = None) -> "Ready":
        """Wait for events; other greenlets run."""
        ours = asyncio._get_running_loop()
        asyncio._set_running_loop(self._of_others)
        try:
            return self._selector.select(timeout)
        finally:
            self._of_others = asyncio._get_running_loop()
            asyncio._set_running_loop(ours)

    def register(self, fileobj: "FileDescriptorLike", events: int, data: object = None) -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.unregister(fileobj)

    def modify(self, fileobj: "FileDescriptorLike", events: int, data: object = None) -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.modify(fileobj, events, data)

    def get_key(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.get_key(fileobj)

    def get_map(self) -> "selectors._SelectorMapping":  # type: ignore[name-defined]
        """See `selectors.BaseSelector`."""
        return self._selector.get_map()

    def close(self) -> None:
        """See `selectors.BaseSelector`."""
        self._selector.close()
