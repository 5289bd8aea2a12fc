"""Ends transactions that other processes have written: the second phase of a two-phase commit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from kafka.cluster import Backoff, ClusterClient
from kafka.cluster.protocols import ClusterAccess
from kafka.config import parse_admin
from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.net import LoopThread
from kafka.producer.transactions.state_machine import TransactionIdentity, failure_of
from kafka.producer.transactions.transaction_requests import TransactionRequests

Outcome = dict[TransactionIdentity, KafkaError | None]


def end_transactions(
    transactions: Iterable[TransactionIdentity], *, commit: bool, timeout_ms: float = 60_000, **configs: Any
) -> Outcome:
    """Commit or abort transactions by their identities, from any process.

    The identities come from `KafkaProducer.prepare_transaction`; the producers need not be running anymore. The
    transactions are ended concurrently. The call can be repeated, even from another process, until the producer's next
    transaction begins.

    Arguments:
        transactions: the identities of the transactions; plain tuples are also accepted.
        commit: True to commit the transactions, False to abort them.
        timeout_ms: maximum wait in milliseconds.
        configs: options of a `KafkaAdminClient`, such as `bootstrap_servers`.

    For each identity, returns None if the transaction was ended as requested; otherwise the error.
    `ProducerFencedError`: a newer producer with that name has started and aborted the open transaction, or the
    transaction was open for longer than `transaction_timeout_ms`. `InvalidTxnStateError`: the transaction had already
    ended differently (committed, aborted, timed out), or nothing was ever written in it. `KafkaTimeoutError`: the
    outcome is unknown; call again.

    Raises `KafkaConfigurationError`, and `NoBrokersAvailable` if no server responds.
    """
    ending = end_transactions_async(transactions, commit=commit, timeout_ms=timeout_ms, **configs)
    return LoopThread.shared().run(ending)


async def end_transactions_async(
    transactions: Iterable[TransactionIdentity], *, commit: bool, timeout_ms: float = 60_000, **configs: Any
) -> Outcome:
    """End transactions like `end_transactions`, on the running event loop."""
    identities = [TransactionIdentity(*each) for each in transactions]
    config = parse_admin(configs)
    cluster = ClusterClient(config.connection, config.security)
    backoff = Backoff(config.connection.retry_backoff_ms, config.connection.retry_backoff_max_ms)
    try:
        await cluster.start()
        return await end_all(cluster, identities, commit, timeout_ms, backoff)
    finally:
        await cluster.close()


async def end_all(
    cluster: ClusterAccess,
    transactions: Iterable[TransactionIdentity],
    commit: bool,
    timeout_ms: float,
    backoff: Backoff,
) -> Outcome:
    """End transactions concurrently, with a started cluster client; see `end_transactions`."""

    async def end(transaction: TransactionIdentity) -> KafkaError | None:
        requests = TransactionRequests(cluster, transaction.transactional_id, 0, backoff)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await requests.end(transaction, commit)
        except TimeoutError:
            error = KafkaTimeoutError(
                f"the transaction of {transaction.transactional_id!r} did not end within {timeout_ms:g} ms and its "
                "outcome is unknown; check again" + ("" if requests.last is None else f" (EndTxn: {requests.last})")
            )
            error.__cause__ = requests.last
            return error
        except KafkaError as refusal:
            failure, is_fenced = failure_of(refusal, "init")
            return failure if is_fenced else refusal
        return None

    identities = list(dict.fromkeys(transactions))
    return dict(zip(identities, await asyncio.gather(*map(end, identities)), strict=True))
