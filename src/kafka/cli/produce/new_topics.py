"""Topics that sending creates: many clusters create a topic when the first record is sent, also a misspelt one.

``kafka produce`` reports such a topic with the most similar name of those that existed before. Change the condition in
`new_topic`.
"""

from typing import NamedTuple

from kafka.cli.session import Session
from kafka.config.option import nearest
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError

_SIMILAR = 0.8
"""How similar a name must be to be suggested, up to 1: the user may well have wanted a new topic."""


class NewTopic(NamedTuple):
    """A topic that does not exist yet.

    Arguments:
        name: its name.
        hint: "; did you mean ...?" with the most similar existing name, or "".
    """

    name: str
    hint: str


def new_topic(session: Session, name: str) -> NewTopic | None:
    """Return the topic if it does not exist yet; None if it exists, or if the user is not allowed to list topics.

    Arguments:
        session: the session of the command.
        name: the name of the topic.

    Raises `KafkaConnectionError` and `KafkaTimeoutError`.
    """
    try:
        with session.admin() as admin:
            known = admin.list_topics()
    except (KafkaConnectionError, KafkaTimeoutError):
        raise
    except KafkaError:
        return None
    return None if name in known else NewTopic(name, nearest(name, sorted(known), cutoff=_SIMILAR))
