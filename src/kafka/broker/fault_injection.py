"""Applies the rules of `kafka.broker.faults` to a request."""

import asyncio
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from kafka.broker.api import Answer, NoAnswer
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ConnectionFault, RequestFailed
from kafka.broker.error_responses import error_answer, merged, split, topic_entries, topic_key
from kafka.broker.faults import Action, FaultRule, RequestFacts
from kafka.wire import Message
from kafka.wire.api.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from kafka.wire.api.metadata import MetadataRequest, MetadataResponse

Serve = Callable[[Message], Answer]

_FETCH_IDS_SINCE: Final = 13
_SESSION_ERRORS: Final = frozenset({70, 71, 106})
"""Fetch session errors, which apply to the whole response."""


def facts_of(broker: Broker, api: str, request: Any, context: RequestContext) -> RequestFacts:
    """Return the properties of a request that are matched against fault rules."""
    topics = {_name(broker, key) for _, entries in topic_entries(request, context.version) for key in _keys(entries)}
    if isinstance(request, FetchRequest):
        topics.update(_name(broker, key) for (key, _), _ in broker.sessions.partitions(request.session_id))
    return RequestFacts(api, topics, context.client_id)


def _keys(entries: list[Any]) -> list[str | UUID]:
    return [key for entry in entries if (key := topic_key(entry)) is not None]


def _name(broker: Broker, key: str | UUID) -> str:
    if isinstance(key, str):
        return key
    try:
        return broker.topics.by_id(key).name
    except RequestFailed:
        return str(key)


def serve_with_fault(rule: FaultRule, serve: Serve, broker: Broker, request: Any, context: RequestContext) -> Answer:
    """Serve a request according to a rule; raises `ConnectionFault` to close its connection."""
    if rule.action is Action.ERROR:
        return _failed(rule, serve, broker, request, context)
    if rule.action is Action.DELAY:
        return _delayed(rule, serve, broker, request)
    if rule.action is Action.CUT:
        return serve(request)
    if rule.handled:
        serve(request)
    if rule.action is Action.CLOSE:
        raise ConnectionFault("a fault rule closes it")
    return NoAnswer(loop=asyncio.get_running_loop())


# -- delayed responses ------------------------------------------------------------------------------------------------


def _delayed(rule: FaultRule, serve: Serve, broker: Broker, request: Message) -> Answer:
    late: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()

    def finish() -> None:
        if not late.done():
            try:
                _follow(serve(request), late)
            except Exception as error:  # handled like an exception in a request without a delay
                late.set_exception(error)

    if rule.handled:
        answer = serve(request)
        broker.clock.call_later(rule.seconds, lambda: _follow(answer, late))
    else:
        broker.clock.call_later(rule.seconds, finish)
    return late


def _follow(answer: Answer, late: "asyncio.Future[Message | None]") -> None:
    """Set a future's result to a response, now or when the response arrives."""
    if not isinstance(answer, asyncio.Future):
        if not late.done():
            late.set_result(answer)
        return

    def arrived(done: "asyncio.Future[Any]") -> None:
        if late.done() or done.cancelled():
            return
        error = done.exception()
        if error is None:
            late.set_result(done.result())
        else:
            late.set_exception(error)

    if answer.done():
        arrived(answer)
    else:
        answer.add_done_callback(arrived)
        late.add_done_callback(lambda _: answer.cancel())


# -- errors -----------------------------------------------------------------------------------------------------------


def _failed(rule: FaultRule, serve: Serve, broker: Broker, request: Any, context: RequestContext) -> Answer:
    version = context.version

    def matches(key: str | UUID) -> bool:
        return rule.topic is None or _name(broker, key) == rule.topic

    if isinstance(request, FetchRequest):
        return _failed_fetch(rule, serve, broker, request, version, matches)
    if isinstance(request, MetadataRequest):
        return _failed_metadata(rule, serve, request)
    if rule.topic is None:
        return error_answer(request, version, rule.error)
    about, rest = split(request, version, matches)
    refused = error_answer(about, version, rule.error)
    if rest is None:
        return refused
    answer = serve(rest)
    # Of all requests that contain topics, only Fetch can be a long poll.
    return None if answer is None else merged(answer, refused)


def _failed_metadata(rule: FaultRule, serve: Serve, request: MetadataRequest) -> Answer:
    """Fail the topics in the response but keep the brokers: without brokers clients would see an empty cluster."""
    request.allow_auto_topic_creation = False
    answer = serve(request)
    assert isinstance(answer, MetadataResponse)
    for topic in answer.topics:
        if rule.topic is None or topic.name == rule.topic:
            topic.error_code, topic.partitions = rule.error, []
    return answer


def _failed_fetch(
    rule: FaultRule,
    serve: Serve,
    broker: Broker,
    request: FetchRequest,
    version: int,
    matches: Callable[[str | UUID], bool],
) -> Answer:
    if rule.error in _SESSION_ERRORS and rule.topic is None:
        return FetchResponse(error_code=rule.error)
    request.max_wait_ms = 0
    answer = serve(request)
    assert isinstance(answer, FetchResponse)
    wanted: dict[str | UUID, set[int]] = {}
    for topic in request.topics:
        key = topic.topic_id if version >= _FETCH_IDS_SINCE else topic.topic
        wanted.setdefault(key, set()).update(one.partition for one in topic.partitions)
    for (name, number), state in broker.sessions.partitions(answer.session_id):
        wanted.setdefault(name, set()).add(number)
        if matches(name):
            # The client gets the error instead of the offsets in this response.
            state.told_high_watermark = -1
    kept = [one for one in answer.responses if not matches(one.topic_id if version >= _FETCH_IDS_SINCE else one.topic)]
    answer.responses = kept + [_refused(key, numbers, rule.error) for key, numbers in wanted.items() if matches(key)]
    return answer


def _refused(key: str | UUID, numbers: set[int], code: int) -> FetchableTopicResponse:
    refused = FetchableTopicResponse(
        partitions=[
            PartitionData(
                partition_index=number, error_code=code, high_watermark=-1, aborted_transactions=[], records=b""
            )
            for number in sorted(numbers)
        ]
    )
    if isinstance(key, str):
        refused.topic = key
    else:
        refused.topic_id = key
    return refused
