"""Calls the handlers of requests, with the faults that were asked for; what a handler raises becomes an answer."""

import logging

from kafka.broker.api import Answer, Api, Handler
from kafka.broker.codes import ConnectionFault, code_of
from kafka.broker.context import Broker, RequestContext
from kafka.broker.faults import Action, Faults
from kafka.wire import Message, Request

log = logging.getLogger(__name__)


class RequestHandling:
    """The handlers that a connection has used, and the faults of its broker."""

    def __init__(self, broker: Broker, faults: Faults) -> None:
        self._broker = broker
        self._faults = faults
        self._handlers: dict[int, Handler] = {}

    @property
    def may_fail(self) -> bool:
        """Whether there are faults. Rules come from other threads: ask once for a request."""
        return bool(self._faults.rules)

    def handle(self, api: Api, request: Message, context: RequestContext) -> Answer:
        """The answer, now or later; raises `ConnectionFault` where there can be none."""
        handler = self._handlers.get(api.key)
        if handler is None:
            handler = self._handlers[api.key] = api.handler()
        try:
            return handler(self._broker, request, context)
        except ConnectionFault:
            raise
        except Exception as error:
            return self.failed(request, context, error)

    def handle_with_faults(self, api: Api, request: Message, context: RequestContext) -> tuple[Answer, int | None]:
        """The same, as a fault says; with how many bytes are still sent, where the connection is to be cut."""
        from kafka.broker.fault_serving import facts_of, serve_with_fault

        rule = self._faults.for_request(facts_of(self._broker, api.name, request, context))
        if rule is None:
            return self.handle(api, request, context), None
        answer = serve_with_fault(rule, lambda given: self.handle(api, given, context), self._broker, request, context)
        return answer, rule.nbytes if rule.action is Action.CUT else None

    @staticmethod
    def failed(request: Message, context: RequestContext, error: BaseException) -> Message:
        """The answer to a request whose handling has failed; `ConnectionFault` where it has no place for an error."""
        from kafka.broker.error_answers import error_answer, has_error
        from kafka.wire.api.produce import ProduceRequest

        name = type(request).NAME
        log.error("%s version %d of %s failed", name, context.version, context.client_id, exc_info=error)
        wants_none = isinstance(request, ProduceRequest) and request.acks == 0
        if wants_none or not isinstance(request, Request) or not has_error(request.RESPONSE):
            raise ConnectionFault(f"{name} could not be answered") from error
        return error_answer(request, context.version, code_of(error))
