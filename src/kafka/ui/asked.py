"""Parts of pages that are read from the cluster when a page is opened, or the reason why there is no such part.

Pages of tables that change rarely, such as ACLs and quotas, consist of one such part; `asked_page` makes them.
"""

from collections.abc import Awaitable, Callable

from kafka.display.page_elements import Html, html
from kafka.errors import KafkaError, error_text
from kafka.ui.page_frame import page, trouble
from kafka.ui.shared_state import Ui

Made = Callable[[], Awaitable[Html]]


async def asked(ui: Ui, failure: str, make: Made, is_optional: bool = False) -> Html:
    """Return a part of a page, or an error message.

    Arguments:
        failure: the beginning of the message, such as "The cluster does not list its users".
        make: asks the cluster and returns the part. Raises `KafkaError`.
        is_optional: whether clusters without this part are usual; the message is then a quiet note, and a cluster that
            does not answer is not asked again.
    """
    if is_optional and ui.poller.trouble:
        return trouble(ui.poller.trouble)
    try:
        return await make()
    except KafkaError as error:
        text = f"{failure}: {error_text(error)}"
        return html('<p class="quiet">{}</p>', text) if is_optional else trouble(text)


async def asked_page(ui: Ui, title: str, path: str, make: Made) -> Html:
    """Return a page that the cluster is asked for when it is opened.

    Arguments:
        title: the title, and the name of what the cluster lists.
        path: the path of the menu entry.
        make: as in `asked`.
    """
    await ui.poller.snapshot()
    name = title if title.isupper() or title[1:] != title[1:].lower() else title.lower()
    return page(ui, title, path, await asked(ui, f"The cluster does not list its {name}", make))
