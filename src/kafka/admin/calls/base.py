# Written by scripts/twins.py from kafka/admin/async_calls/base.py: change that file, not this one.
"""What the methods of the admin client share."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from kafka.admin.requests import AdminRequests

T = TypeVar("T")


class AdminCalls:
    """Methods that run a coroutine on the loop and wait for it."""

    _requests: AdminRequests

    def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError
