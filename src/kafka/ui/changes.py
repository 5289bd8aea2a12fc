"""Changes in two steps: a preview, which asks the cluster whether the change would succeed, and the change itself.

To add a change, write a function that returns a `Change`, and route it with `confirmed_change` in `web_server.py`. The
form of the second step repeats the fields of the first one, so that what was previewed is what is done.
"""

import asyncio
import dataclasses
import functools
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from kafka.display.page_elements import Html, address, html, joined, link, sent_back
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, RequestTimedOutError, error_text
from kafka.ui.access.audit_log import DONE, FAILED
from kafka.ui.page_frame import page, trouble
from kafka.ui.shared_state import Ui

T = TypeVar("T")

UNCONFIRMED = "The cluster did not confirm the change, which may have taken effect"
UNANSWERED = (KafkaConnectionError, KafkaTimeoutError, RequestTimedOutError)
"""Errors after which a change may have taken effect."""


@dataclasses.dataclass(frozen=True)
class Change:
    """A change that the cluster would accept.

    Arguments:
        title: the title of its pages, such as "Delete topic orders".
        what: what is changed, for the audit log.
        preview: what would change, as HTML.
        apply: makes the change. Raises `KafkaError`.
        done: the page's text after the change.
        fields: the fields of the form that confirms it.
        typed: the name that the user has to type to confirm a change that cannot be undone; "" for other changes.
    """

    title: str
    what: Mapping[str, Any]
    preview: Html
    apply: Callable[[], Awaitable[object]]
    done: Html
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    typed: str = ""


async def attempted(ui: Ui, action: str, what: Mapping[str, Any], change: Awaitable[T]) -> T:
    """Await a change, and record in the audit log if it is cut short, for example because the server stops.

    Arguments:
        action: the name of the change in the audit log.
        what: what is changed, for the audit log.
    """
    try:
        return await change
    except asyncio.CancelledError:
        ui.record(action, what, FAILED, f"the request was cancelled. {UNCONFIRMED}")
        raise


Prepared = Callable[[Ui, Mapping[str, str]], Awaitable[Change]]
Answer = Callable[[Ui, Mapping[str, str]], Awaitable[Html]]
Result = Callable[[Ui, Mapping[str, str]], Coroutine[Any, Any, tuple[Html, bool]]]


def takes_effect_once(path: str) -> Callable[[Result], Answer]:
    """Decorate the function that answers a form, so that a form that is sent twice gets the same page twice.

    The function returns the page, and whether it is final; otherwise, the form may be sent again.

    Arguments:
        path: where the form is sent.
    """

    def decorated(make: Result) -> Answer:
        @functools.wraps(make)
        async def answer(ui: Ui, given: Mapping[str, str]) -> Html:
            return await ui.submissions.once(path, given, lambda: make(ui, given))

        return answer

    return decorated


def confirmed_change(path: str, current: str, action: str, prepare: Prepared) -> Answer:
    """Return the function that answers the form of a change.

    Arguments:
        path: the path of the form, such as "/delete-topic".
        current: the path of the menu entry.
        action: the name of the change in the audit log, such as "delete topic".
        prepare: returns the change for the fields of a form. Raises `ValueError` and `KafkaError` if it is impossible.
    """

    @takes_effect_once(path)
    async def answer(ui: Ui, given: Mapping[str, str]) -> tuple[Html, bool]:
        """Return the page, and whether the change was made."""
        what: Mapping[str, Any] = {"name": given.get("name", "")}
        is_confirmed = given.get("confirmed") == "yes"
        failed = "Nothing was changed"
        try:
            change = await prepare(ui, given)
            what = change.what
            if not is_confirmed:
                form = _confirm(ui, path, current, given, change)
                return page(ui, change.title, current, joined([change.preview, form])), False
            if change.typed and given.get("typed") != change.typed:
                wrong = trouble(f"Nothing was changed: type the name {change.typed} to confirm.")
                form = _confirm(ui, path, current, given, change)
                return page(ui, change.title, current, joined([wrong, change.preview, form])), False
            failed = UNCONFIRMED
            await attempted(ui, action, what, change.apply())
        except (KafkaError, ValueError, TypeError, OverflowError) as error:
            if is_confirmed:
                ui.record(action, what, FAILED, error_text(error))
            text = f"{failed}: {error_text(error)}"
            back = html("<p>{}</p>", _back(current, given.get("name", "")))
            return page(ui, action.capitalize(), current, joined([trouble(text), back])), False
        ui.record(action, what, DONE)
        await ui.poller.refreshed()
        return page(ui, change.title, current, html('<div role="status">{}</div>', change.done)), True

    return answer


def _back(current: str, name: str, text: str = "") -> Html:
    """Return the link back to the page of the topic or group."""
    if current == "/groups":
        return link(text or "Back to the group", "/group", id=name)
    return link(text or "Back to the topic", "/topic", name=name)


def _confirm(ui: Ui, path: str, current: str, given: Mapping[str, str], change: Change) -> Html:
    """Return the form of the second step. Its address has the name, because browsers change line endings in fields."""
    hidden = joined(
        html('<input type="hidden" name="{}" value="{}">', name, sent_back(value))
        for name, value in (*change.fields.items(), ("token", ui.forms.token), ("confirmed", "yes"))
    )
    typed = html(
        '<label>Type the name to confirm<input name="typed" required autocomplete="off" placeholder="{}"></label>',
        change.typed,
    )
    return html(
        '<form method="post" action="{}">{}{}{}<button>{}</button>{}</form>',
        *(address(path, name=given.get("name", "")), hidden, ui.submissions.field()),
        *(typed if change.typed else Html(""), change.title, _back(current, given.get("name", ""), "Cancel")),
    )


def first_step(ui: Ui, path: str, name: str, fields: Html, button: str) -> Html:
    """Return the form that leads to the preview of a change.

    Arguments:
        fields: the form's fields, as HTML.
    """
    return html(
        '<form method="post" action="{}"><input type="hidden" name="token" value="{}">{}<button>{}</button></form>',
        *(address(path, name=name), ui.forms.token, fields, button),
    )
