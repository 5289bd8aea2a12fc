"""Makes a form that is submitted twice take effect once.

A double click, or a reload of the result, sends the same form again. Forms of changes have a random field, `FIELD`; a
second form with the same content waits for the first one and gets its result. To protect another form, add
`Submissions.field` to it, and decorate its function with `changes.takes_effect_once`.
"""

import asyncio
import hashlib
import json
import secrets
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from kafka.display.page_elements import Html, html
from kafka.ui.access.user import current_user

FIELD = "once"
_MOST = 500
"""Maximum number of results that are kept."""
_MOST_BYTES = 4 << 20
"""Maximum memory of the results that are kept, in bytes. The newest one is kept even if it needs more."""


class Submissions:
    """The results of the forms that were submitted last."""

    def __init__(self) -> None:
        self._results: dict[str, asyncio.Task[tuple[Html, bool]]] = {}
        self._sizes: dict[str, int] = {}
        """The memory of each result that is kept, the oldest first, in bytes."""

    @staticmethod
    def field() -> Html:
        """Return the hidden field that makes a form different from all others."""
        return html('<input type="hidden" name="{}" value="{}">', FIELD, secrets.token_urlsafe(12))

    async def once(
        self, path: str, given: Mapping[str, str], make: Callable[[], Coroutine[Any, Any, tuple[Html, bool]]]
    ) -> Html:
        """Return the page that answers a form; for a form that was submitted before, the same page again.

        The change goes on if the request is cancelled.

        Arguments:
            path: where the form was sent.
            given: the fields of the form. Without `FIELD`, the form always counts as new.
            make: makes the change; returns the page, and whether it is final. Otherwise, the form may be sent again.
        """
        if not given.get(FIELD):
            return (await make())[0]
        content = json.dumps([current_user().session, path, sorted(given.items())])
        key = hashlib.sha256(content.encode()).hexdigest()
        task = self._results.get(key)
        if task is None:
            task = self._results[key] = asyncio.get_running_loop().create_task(make())
            task.add_done_callback(lambda done: self._keep_only_final(key, done))
        return (await asyncio.shield(task))[0]

    def _keep_only_final(self, key: str, task: "asyncio.Task[tuple[Html, bool]]") -> None:
        if task.cancelled() or task.exception() is not None or not task.result()[1]:
            self._results.pop(key, None)
            return
        self._sizes[key] = sys.getsizeof(task.result()[0])
        while len(self._sizes) > _MOST or (len(self._sizes) > 1 and sum(self._sizes.values()) > _MOST_BYTES):
            oldest = next(iter(self._sizes))
            del self._sizes[oldest], self._results[oldest]
