"""What is tried again and what is said of it, in virtual time."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

import pytest

from kafka.cluster import Backoff, LogLimiter, RetryPolicy, anything_unexpected
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.log_limiter import _MAX_CAUSES
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NotControllerError,
    NotLeaderForPartitionError,
    TopicAlreadyExistsError,
)
from unit.virtual_loop import simulate

LOG = logging.getLogger("retry")


def policy(**more: Any) -> RetryPolicy:
    return RetryPolicy(Backoff(100, 1_000, random.Random(1)), LOG, **more)


class Operation:
    """Gives its outcomes one after the other, and the last of them for ever."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes, self.calls = list(outcomes), 0

    async def __call__(self) -> Any:
        self.calls += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def test_transient_errors_are_retried_with_growing_pauses() -> None:
    async def scenario() -> None:
        operation = Operation(*[KafkaConnectionError("gone")] * 3, "done")
        started = asyncio.get_running_loop().time()
        assert await policy().run("asking", operation, 30_000) == "done"
        passed = asyncio.get_running_loop().time() - started
        assert 0.7 * 0.8 <= passed <= 0.7 * 1.2  # 0.1, 0.2, 0.4

    simulate(scenario)


def test_permanent_errors_are_raised_immediately() -> None:
    async def scenario() -> None:
        operation = Operation(TopicAlreadyExistsError("t"))
        with pytest.raises(TopicAlreadyExistsError):
            await policy().run("creating", operation, 30_000)
        assert operation.calls == 1

    simulate(scenario)


def test_a_timeout_names_the_last_error_and_the_number_of_attempts() -> None:
    async def scenario() -> None:
        with pytest.raises(KafkaTimeoutError, match=r"asking: timed out after [34] failed tries.*refused") as caught:
            await policy().run("asking", Operation(KafkaConnectionError("refused")), 1_000)
        assert isinstance(caught.value.__cause__, KafkaConnectionError)

    simulate(scenario)


def test_a_hanging_operation_ends_at_the_deadline() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        with pytest.raises(KafkaTimeoutError, match="no answer yet"):
            await policy().run("asking", hang, 1_000)

    simulate(scenario)


def test_a_timeout_names_other_failing_operations() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        policies = policy()
        policies.tell_failure("refreshing metadata", KafkaConnectionError("127.0.0.1:1 refused"), 1)
        with pytest.raises(KafkaTimeoutError, match=r"no answer yet; meanwhile refreshing metadata failed: .*refused"):
            await policies.run("asking", hang, 1_000)

    simulate(scenario)


def test_a_timeout_inside_the_operation_is_an_ordinary_failure() -> None:
    async def scenario() -> None:
        assert await policy().run("asking", Operation(TimeoutError("own"), "done"), 30_000) == "done"

    simulate(scenario)


@pytest.mark.parametrize("unexpected", [OSError(9, "bad file descriptor"), ValueError("a fault"), TimeoutError("own")])
def test_a_loop_survives_unexpected_errors(unexpected: Exception, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        assert await policy().run("refreshing", Operation(*[unexpected] * 50, "done")) == "done"

    with caplog.at_level(logging.INFO, "retry"):
        simulate(scenario)
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert 1 <= len(errors) <= 3  # 50 failures in about 50 seconds, one line in 30
    assert errors[0].exc_info is not None
    assert "refreshing failed unexpectedly" in errors[0].getMessage()


def test_unexpected_errors_can_be_fatal_for_waiting_callers() -> None:
    async def scenario() -> None:
        operation = Operation(ValueError("a fault"))
        with pytest.raises(ValueError, match="a fault"):
            await policy(fatal=anything_unexpected).run("asking", operation, 30_000)
        assert operation.calls == 1

    simulate(scenario)


@pytest.mark.parametrize(
    ("error", "renewed"),
    [(NotLeaderForPartitionError("t-0"), 1), (NotControllerError("moved"), 1), (KafkaTimeoutError("slow"), 0)],
)
def test_newer_metadata_is_requested_if_it_may_help(error: KafkaError, renewed: int) -> None:
    seen: list[KafkaError] = []

    async def renew(cause: KafkaError) -> None:
        seen.append(cause)
        raise KafkaConnectionError("no broker")  # which the operation will see for itself

    async def scenario() -> None:
        assert await policy(renew=renew).run("asking", Operation(error, "done"), 30_000) == "done"

    simulate(scenario)
    assert len(seen) == renewed


def test_renewing_metadata_respects_the_deadline() -> None:
    async def renew(cause: KafkaError) -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        with pytest.raises(KafkaTimeoutError, match="one failed try"):
            await policy(renew=renew).run("asking", Operation(NotLeaderForPartitionError("t-0")), 1_000)

    simulate(scenario)


def test_failures_in_a_row_are_counted_until_a_success(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        attempts = policy(quiet=2).attempts("fetching")
        for count in (1, 2, 3):
            await attempts.failed(KafkaConnectionError(f"no {count}"))
            assert attempts.failures == count
        attempts.succeeded()
        assert (attempts.failures, attempts.last) == (0, None)
        attempts.succeeded()

    with caplog.at_level(logging.INFO, "retry"):
        simulate(scenario)
    assert [record.getMessage() for record in caplog.records] == [
        "fetching failed: no 3",
        "fetching works again",
    ]


def test_a_repeated_cause_is_logged_once_and_then_with_a_count(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        limiter = LogLimiter(LOG, every_s=30)
        for _ in range(10):
            limiter.warning("a", "a failed")
        limiter.warning("b", "b failed")
        await asyncio.sleep(31)
        limiter.warning("a", "a failed")
        limiter.over("a", "a works")
        limiter.over("a", "a works")

    with caplog.at_level(logging.INFO, "retry"):
        simulate(scenario)
    assert [record.getMessage() for record in caplog.records] == [
        "a failed",
        "b failed",
        "a failed (and 9 times more since the last line about it)",
        "a works",
    ]


def test_time_left_shrinks_and_never_reaches_zero() -> None:
    async def scenario() -> None:
        attempts = policy().attempts("asking", 1_000)
        assert attempts.left_ms == 1_000
        await asyncio.sleep(5)
        assert attempts.left_ms == 1
        assert policy().attempts("asking").left_ms is None

    simulate(scenario)


class OneSecondBackoff(Backoff):
    """Pauses of a second."""

    def seconds(self, failures: int) -> float:
        return 1.0


def test_no_attempt_begins_after_the_deadline() -> None:
    async def scenario() -> None:
        operation = Operation(KafkaConnectionError("gone"))
        with pytest.raises(KafkaTimeoutError, match="3 failed tries"):
            await RetryPolicy(OneSecondBackoff(0, 0), LOG).run("asking", operation, 3_000)
        assert operation.calls == 3

    simulate(scenario)


def test_recovery_of_an_awaited_operation_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        await policy().run("asking", Operation(KafkaConnectionError("gone"), "done"), 30_000)

    with caplog.at_level(logging.INFO):
        simulate(scenario)
    assert "asking works again" in caplog.text


def test_a_limited_number_of_causes_is_tracked(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        limiter = LogLimiter(LOG)
        for number in range(_MAX_CAUSES):
            limiter.warning(f"cause {number}", "first")
        limiter.warning("cause 0", "still known")
        limiter.warning("one more", "first")
        limiter.warning("cause 1", "still known")
        limiter.warning("cause 0", "forgotten, so told")

    with caplog.at_level(logging.WARNING):
        simulate(scenario)
    assert "still known" not in caplog.text
    assert "forgotten, so told" in caplog.text


class NoJitter(random.Random):
    """The middle of each range."""

    def uniform(self, low: float, high: float) -> float:
        return (low + high) / 2


def test_an_attempt_at_the_deadline_would_be_too_late() -> None:
    async def scenario() -> None:
        exact = RetryPolicy(Backoff(100, 1_000, NoJitter()), LOG)
        started = asyncio.get_running_loop().time()
        with pytest.raises(KafkaTimeoutError, match="after one failed try"):
            await exact.run("asking", Operation(KafkaConnectionError("refused")), 100)
        assert asyncio.get_running_loop().time() == started

    simulate(scenario)


def test_failures_to_renew_metadata_are_logged_at_debug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        renew = Operation(KafkaConnectionError("no metadata"))
        operation = Operation(NotLeaderForPartitionError("t-0"), "done")

        async def renewed(error: KafkaError) -> None:
            await renew()

        assert await policy(renew=renewed).run("asking", operation, 30_000) == "done"
        assert renew.calls == 1

    with caplog.at_level(logging.DEBUG):
        simulate(scenario)
    assert [each.levelname for each in caplog.records if "no metadata" in each.getMessage()] == ["DEBUG"]


def test_the_remaining_time_is_at_least_a_millisecond() -> None:
    async def scenario() -> None:
        attempts = policy().attempts("asking", 2_000)
        assert attempts.left_ms == pytest.approx(2_000)
        await asyncio.sleep(1.5)
        assert attempts.left_ms == pytest.approx(500)
        await asyncio.sleep(10)
        assert attempts.left_ms == 1.0
        assert policy().attempts("asking").left_ms is None

    simulate(scenario)


def test_a_success_resets_the_failure_count(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        attempts = policy().attempts("asking")
        for number in (1, 2):
            attempts.note(KafkaConnectionError("gone"))
            assert (attempts.failures, str(attempts.last)) == (number, str(KafkaConnectionError("gone")))
        attempts.succeeded()
        assert (attempts.failures, attempts.last) == (0, None)
        attempts.succeeded()

    with caplog.at_level(logging.INFO):
        simulate(scenario)
    assert caplog.text.count("asking works again") == 1


def test_log_records_have_fields(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        backoff = Backoff(100, 1_000, random.Random(1), CurrentFailures(client_id="me"))
        operation = Operation(KafkaConnectionError("away"), ValueError("odd"), "done")
        assert await RetryPolicy(backoff, LOG, fatal=lambda _: False).run("asking", operation) == "done"

    with caplog.at_level(logging.INFO, "retry"):
        simulate(scenario)
    fields = [{k: v for k, v in vars(each).items() if k.startswith("kafka_")} for each in caplog.records]
    common = {"kafka_client_id": "me", "kafka_operation": "asking"}
    assert fields == [
        common | {"kafka_error": "KafkaConnectionError", "kafka_failures": 1},
        common | {"kafka_error": "ValueError", "kafka_failures": 2},
        common,
    ]
