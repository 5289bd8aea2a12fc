"""Actions that the UI offers if writes are allowed: creating a topic and resetting a group's offsets."""

from collections.abc import Mapping
from typing import Any

from kafka.admin import OffsetSpec
from kafka.display.page_elements import Html, address, count, html, joined, link, sent_back, table
from kafka.errors import KafkaError, NoError, error_text
from kafka.ui.access.audit_log import DONE, FAILED
from kafka.ui.changes import UNANSWERED, UNCONFIRMED, attempted, takes_effect_once
from kafka.ui.page_frame import page, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.topic_changes import offsets_field, offsets_of

_EDGES = {"earliest": OffsetSpec.EARLIEST, "latest": OffsetSpec.LATEST}


@takes_effect_once("/topics")
async def create_topic(ui: Ui, given: Mapping[str, str]) -> tuple[Html, bool]:
    """Create a topic; return a page with the result, and whether the topic was created."""
    name, title = given.get("name", "").strip(), "Create a topic"
    try:
        wanted = {
            ours: _whole_number(field, given.get(field, ""))
            for field, ours in (("partitions", "num_partitions"), ("replicas", "replication_factor"))
            if given.get(field, "").strip()
        }
        created = ui.admin.create_topics({name: wanted}, wait_for_metadata=True)
        await attempted(ui, "create topic", {"topic": name, **wanted}, created)
    except (KafkaError, ValueError, TypeError) as error:
        ui.record("create topic", {"topic": name}, FAILED, error_text(error))
        failed = UNCONFIRMED if isinstance(error, UNANSWERED) else "The topic was not created"
        back = html("<p>{}</p>", link("Back to the topics", "/"))
        return page(ui, title, "/", joined([trouble(f"{failed}: {error_text(error)}"), back])), False
    ui.record("create topic", {"topic": name, **wanted}, DONE)
    return page(ui, title, "/", html("<p>Topic {} was created.</p>", link(name, "/topic", name=name))), True


def _whole_number(field: str, text: str) -> int:
    text = text.strip()
    if not text.isascii() or not text.isdecimal() or not 0 < len(text) <= 5:
        raise ValueError(f"expected a number of {field}, got {text!r:.60}")
    return int(text)


async def reset_group(ui: Ui, given: Mapping[str, str]) -> Html:
    """Show the new offsets of a group or, if the form is confirmed, reset the group to the offsets shown."""
    group, topic, text = given.get("id", ""), given.get("topic", ""), given.get("to", "").strip()
    confirmed, title = given.get("confirmed") == "yes", f"Reset the offsets of {group}"
    try:
        position = ui.settings.parse_position(text)
        target: Any = _EDGES.get(position) if isinstance(position, str) else position
        wanted: dict[Any, Any] = offsets_of(topic, given.get("offsets", "")) if confirmed else {topic: target}
        asked = ui.admin.reset_group_offsets(group, wanted, dry_run=not confirmed)
        what = {"group": group, "topic": topic, "to": text}
        before = {} if confirmed else (await ui.admin.list_group_offsets([group]))[group]
        moved = await (attempted(ui, "reset group", what, asked) if confirmed else asked)
    except (KafkaError, ValueError, TypeError, OverflowError) as error:
        if confirmed:
            ui.record("reset group", {"group": group, "topic": topic, "to": text}, FAILED, error_text(error))
        failure = UNCONFIRMED if confirmed and isinstance(error, UNANSWERED) else "The group was not reset"
        back = html("<p>{}</p>", link("Back to the group", "/group", id=group))
        return page(ui, title, "/groups", joined([trouble(f"{failure}: {error_text(error)}"), back]))
    rows = [
        [
            *(tp.topic, tp.partition),
            *(() if confirmed else (count(before[tp].offset if tp in before else None),)),
            *(count(each["offset"]), "" if each["error"] is NoError else each["error"].__name__),
        ]
        for tp, each in sorted(moved.items())
    ]
    titles: tuple[str, ...] = ("topic", "partition", *(() if confirmed else ("now",)), "new offset", "error")
    if all(each["error"] is NoError for each in moved.values()):
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    places = table(titles, rows, ("partition", "now", "new offset"), "New offsets")
    back = html("<p>{}</p>", link("Back to the group", "/group", id=group))
    if confirmed:
        failed = any(each["error"] is not NoError for each in moved.values())
        offsets = {str(tp.partition): each["offset"] for tp, each in moved.items() if each["error"] is NoError}
        result, note = (FAILED, "not all partitions were reset") if failed else (DONE, "")
        ui.record("reset group", {**what, "offsets": offsets}, result, note)
        told = trouble("Not all partitions were reset.") if failed else html("<p>The group was reset.</p>")
        return page(ui, title, "/groups", joined([told, places, back]))
    fixed = {tp: each["offset"] for tp, each in moved.items() if each["error"] is NoError}
    confirm = html(
        '<form method="post" action="{}"><input type="hidden" name="token" value="{}">'
        '<input type="hidden" name="topic" value="{}"><input type="hidden" name="to" value="{}">'
        '<input type="hidden" name="offsets" value="{}"><input type="hidden" name="confirmed" value="yes">'
        "<button{}>Reset offsets</button>{}</form>",
        *(address("/reset-group", id=group), ui.forms.token, sent_back(topic), sent_back(text), offsets_field(fixed)),
        *("" if fixed else Html(" disabled"), link("Cancel", "/group", id=group)),
    )
    return page(ui, title, "/groups", joined([places, confirm]))
