"""States shown by a colour and a word: of groups, transactions and the cluster.

The style sheet has the colours: "good", "warn", "bad" and "off".
"""

from typing import Literal

from kafka.display.page_elements import Html, html
from kafka.ui.snapshot import GroupState

Level = Literal["good", "warn", "bad", "off"]

_GROUPS: dict[str, Level] = {
    "stable": "good",
    "assigning": "warn",
    "reconciling": "warn",
    "preparingrebalance": "warn",
    "completingrebalance": "warn",
    "notready": "warn",
    "empty": "off",
    "dead": "bad",
}
_WORDS = {
    "preparingrebalance": "Rebalancing",
    "completingrebalance": "Rebalancing",
    "notready": "Not ready",
}


def state(level: Level, word: str, explanation: str = "") -> Html:
    """Return a word with a colour.

    Arguments:
        explanation: shown as a tooltip.
    """
    title = html(' title="{}"', explanation) if explanation else Html("")
    return html('<span class="state {}"{}>{}</span>', level, title, word)


BEYOND_END = state("warn", "beyond the end", "The partition ends before the committed offset.")
"""What is shown with a lag of zero if the committed offset does not exist."""


def level_of(group: GroupState) -> Level:
    """Return how serious the state of a group is. A group without members is in trouble if it has a lag."""
    level = _GROUPS.get(group.state.replace("_", "").lower(), "off")
    return "bad" if level == "off" and group.lag else level


def group_state(group: GroupState) -> Html:
    """Return the state of a group. "Empty" alone would not show that records are waiting without a reader."""
    name = group.state.replace("_", "").lower()
    word = _WORDS.get(name, group.state or "Unknown")
    if name == "empty" and group.lag:
        return state("bad", "Empty, lagging", "The group has no members, so no consumer reads the waiting records.")
    if name == "dead":
        return state("bad", "Dead", "The group has no members and is being removed.")
    return state(level_of(group), word, group.state if word != group.state else "")
