# Written by scripts/twins.py from kafka/admin/_async/__init__.py: change that file, not this one.
"""The methods of `KafkaAdminClient`, one module per subject.

Each method checks and copies its arguments, and awaits an operation. `scripts/twins.py` generates `kafka.admin._sync`
from these modules.
"""

from collections.abc import Coroutine
from typing import Any, TypeVar

from kafka.admin.admin_requests import AdminRequests

T = TypeVar("T")


class AdminCalls:
    """Base class for classes whose methods run a coroutine on the loop and wait for its result."""

    _requests: AdminRequests

    def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError
