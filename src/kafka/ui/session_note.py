"""The end of each page's header: whether writes are allowed, who is logged in, and the button for logging out.

`page_frame.py` puts it into the header. Without a login, it only says whether writes are allowed. Programs that send
their password or token with each request get no button, because they have no session to end. To show more about the
user, such as the address, add it in `session_note`.
"""

from __future__ import annotations

from kafka.display.page_elements import Html, html
from kafka.ui.access.user import current_user
from kafka.ui.shared_state import Ui
from kafka.ui.view import current_view


def session_note(ui: Ui) -> Html:
    """Return the note for the current user.

    Arguments:
        ui: the cluster that the page is about, which decides whether writes are allowed.
    """
    mode = "writes allowed" if ui.may_write else "read-only"
    user = current_user()
    if ui.entrance.access is None or user.login == "none":
        return html('<span class="quiet">{}</span>', mode)
    shown = html('<span class="quiet">{}, {} ({})</span>', user.name, user.role.value, mode)
    if not is_session(user.session):
        return shown
    return html(
        '<form method="post" action="{}logout" class="session">{}<input type="hidden" name="token" value="{}">'
        '<button class="small">Log out</button></form>',
        current_view().up + ("../" if len(ui.peers) > 1 else ""),
        shown,
        ui.forms.token,
    )


def is_session(session: str) -> bool:
    """Return whether a user has a session that can be ended, rather than sending credentials with each request."""
    return bool(session) and " " not in session
