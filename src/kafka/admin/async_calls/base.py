"""What the methods of the admin client share."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from kafka.admin.requests import AdminRequests

T = TypeVar("T")


class AsyncAdminCalls:
    """Methods that run a coroutine on the loop and wait for it."""

    _requests: AdminRequests

    async def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError
