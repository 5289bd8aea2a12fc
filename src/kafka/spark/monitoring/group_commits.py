"""Commits the offsets of finished micro-batches to an ordinary group (`commitGroup`), for tools that monitor lag.

Reading does not depend on the group, because the checkpoint determines where a query resumes. Failed commits therefore
do not affect the query: they are retried, and each cause of failure is logged once.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from kafka.errors import BrokerResponseError, KafkaError
from kafka.spark.client_cache import admin_configs
from kafka.spark.options.parsing import ReadOptions
from kafka.spark.planning.checkpoint_layout import Offsets
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

log = logging.getLogger(__name__)

SPACING_S = 0.5
"""Minimum time between commits, in seconds. A query can finish ten micro-batches per second."""
RENEWAL_S = 600.0
"""Seconds after which unchanged offsets are committed again, since Kafka deletes offsets of groups without members."""
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0


class Committer(Protocol):
    """Commits offsets for `GroupCommits`, which uses this object only in its own thread."""

    def send(self, offsets: Offsets) -> Mapping[TopicPartition, type[BrokerResponseError]]:
        """Commit offsets; return an error class for each partition (`NoError` for success), or raise `KafkaError`."""

    def close(self) -> None:
        """Release resources when the thread ends."""


class GroupCommits:
    """Commits the newest offsets in a separate thread. All methods are thread-safe.

    Arguments:
        group: the name of the group, for the log.
        committer: sends the commits.
        clock: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        group: str,
        committer: Committer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._group = group
        self._committer = committer
        self._clock = clock
        self._changed = threading.Condition()
        self._wanted: Offsets = {}
        self._committed: Offsets | None = None
        self._not_before = 0.0
        self._renew_at = 0.0
        self._pause_s = 0.0
        self._hurry = False
        self._closing = False
        self._thread: threading.Thread | None = None
        self._warned: set[str] = set()

    def finished(self, offsets: Offsets) -> None:
        """Schedule a commit of these offsets; all records before them have been processed. Returns immediately."""
        with self._changed:
            self._wanted = dict(offsets)
            if self._thread is None and offsets and not self._closing:
                self._begin()
            self._changed.notify_all()

    def _begin(self) -> None:
        thread = threading.Thread(target=self._work, name="kafka-spark-commit", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            # too many threads, or the interpreter is exiting: the next call retries
            self._tell(str(error))
        else:
            self._thread = thread

    def flush(self, timeout_s: float) -> bool:
        """Commit the newest offsets now; return False if that fails or takes too long."""
        with self._changed:
            if self._thread is not None and self._committed != self._wanted:
                self._hurry = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._hurry, timeout_s)
                self._hurry = False
            return self._committed == self._wanted

    def close(self, timeout_s: float) -> None:
        """Try to commit pending offsets within the timeout, and end the thread."""
        end = time.monotonic() + timeout_s
        self.flush(timeout_s)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))

    def _work(self) -> None:
        try:
            while True:
                offsets = self._next()
                if offsets is None:
                    break
                self._commit(offsets)
        finally:
            self._committer.close()

    def _next(self) -> Offsets | None:
        """Wait for offsets to commit; return None when closing."""
        with self._changed:
            while True:
                if self._closing:
                    return None
                now = self._clock()
                due = self._renew_at if self._committed == self._wanted else self._not_before
                if now >= due or self._hurry:
                    return dict(self._wanted)
                self._changed.wait(due - now)

    def _commit(self, offsets: Offsets) -> None:
        trouble = self._try(offsets)
        if trouble is not None:
            self._tell(trouble)
        with self._changed:
            now = self._clock()
            if trouble is None:
                self._committed, self._pause_s = offsets, 0.0
                self._not_before, self._renew_at = now + SPACING_S, now + RENEWAL_S
                self._warned.clear()
            else:
                self._pause_s = min(max(_FIRST_PAUSE_S, self._pause_s * 2), _LONGEST_PAUSE_S)
                self._not_before = now + self._pause_s
            if trouble is not None or offsets == self._wanted:
                self._hurry = False
            self._changed.notify_all()

    def _tell(self, trouble: str) -> None:
        """Log each cause of failure once, until a commit succeeds."""
        if trouble not in self._warned:
            self._warned.add(trouble)
            log.warning(
                "could not commit the offsets of the query to the group %r (option commitGroup), so monitoring tools "
                "see an old lag; the query continues and will retry: %s",
                self._group,
                trouble,
            )

    def _try(self, offsets: Offsets) -> str | None:
        """Commit offsets; return the error, or None."""
        try:
            answers = self._committer.send(offsets)
        except KafkaError as error:
            return str(error)
        except Exception as error:
            # the thread must continue: a query without commits would look stalled
            log.debug("commit failed", exc_info=True)
            return f"{type(error).__name__}: {error}"
        failed = {error for error in answers.values() if error.errno}
        return "; ".join(sorted(f"{each.__name__}: {each.description}" for each in failed)) or None


class GroupCommitter:
    """Commits to a group without members, with an admin client that connects at the first commit.

    Arguments:
        options: the options of the read.
        group: the name of the group.
    """

    def __init__(self, options: ReadOptions, group: str) -> None:
        self._configs = admin_configs(options.configs)
        self._group = group
        self._admin: KafkaAdminClient | None = None

    def send(self, offsets: Offsets) -> Mapping[TopicPartition, type[BrokerResponseError]]:
        """Commit offsets; see `Committer.send`."""
        if self._admin is None:
            from kafka import KafkaAdminClient

            self._admin = KafkaAdminClient(**self._configs)
        wanted = {each: OffsetAndMetadata(offset) for each, offset in offsets.items()}
        return self._admin.alter_group_offsets(self._group, wanted)

    def close(self) -> None:
        """Close the connections."""
        if self._admin is not None:
            self._admin.close()
            self._admin = None


def commits_of(options: ReadOptions) -> GroupCommits | None:
    """Return the `GroupCommits` of a query; None if the option `commitGroup` is not set."""
    if options.commit_group is None:
        return None
    return GroupCommits(options.commit_group, GroupCommitter(options, options.commit_group))
