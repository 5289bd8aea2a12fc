"""What has happened on the loop, for the thread that polls: answers to requests, metadata, connections."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

Event = Callable[[], Any]
"""Completes a future, or the like, in the thread that polls; gives the response, None if it is not about one."""


class Completions:
    """A queue of events; any thread may add to it.

    Attributes:
        notify: called after each event, in the thread that adds it, where somebody else's waiting is to end too.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.notify: Callable[[], object] | None = None

    def put(self, event: Event) -> None:
        """Add an event."""
        self._queue.put(event)
        if self.notify is not None:
            self.notify()

    def wake(self) -> None:
        """Let whoever waits look at the world anew."""
        self.put(lambda: None)

    def take(self, timeout_s: float) -> list[Any]:
        """Wait for an event, carry out all that are there, and give the responses among them."""
        responses = []
        try:
            event = self._queue.get(timeout=timeout_s) if timeout_s > 0 else self._queue.get_nowait()
            while True:
                response = event()
                if response is not None:
                    responses.append(response)
                event = self._queue.get_nowait()
        except queue.Empty:
            return responses
