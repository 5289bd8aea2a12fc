"""The pages for ACLs, users, quotas and transactions."""

import time
from typing import Any

import pytest

from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourceType,
    ScramMechanism,
    TransactionState,
    UserScramCredentialUpsertion,
)
from kafka.admin.transactions import TransactionDescription, TransactionListing
from kafka.errors import ClusterAuthorizationFailedError, NoError, SecurityDisabledError, UnsupportedVersionError
from kafka.structs import TopicPartition
from unit.ui.ui_support import HOSTILE, Pages, rows_of, text_of

pytestmark = pytest.mark.once


def answering(monkeypatch: pytest.MonkeyPatch, pages: Pages, name: str, answer: Any) -> None:
    """Replace a call of the admin client by one that returns or raises an answer."""

    async def call(*_: object, **__: object) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(pages.ui.admin, name, call)


async def test_acls_are_searched_and_sorted(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    def acl(principal: str, permission: ACLPermissionType, name: str, pattern: ACLResourcePatternType) -> ACL:
        return ACL(principal, "*", ACLOperation.READ, permission, ResourcePattern(ResourceType.TOPIC, name, pattern))

    found = [
        acl("User:bob", ACLPermissionType.DENY, HOSTILE, ACLResourcePatternType.LITERAL),
        acl("User:alice", ACLPermissionType.ALLOW, "shop.", ACLResourcePatternType.PREFIXED),
    ]
    answering(monkeypatch, pages, "describe_acls", (found, NoError))
    page = await pages.get("/acls")
    assert rows_of(page, "ACLs") == [
        ["User:alice", "allow", "read", "topic", "shop.", "prefixed", "*"],
        ["User:bob", "deny", "read", "topic", HOSTILE, "literal", "*"],
    ]
    assert "<img" not in page
    assert [row[0] for row in rows_of(await pages.get("/acls", q="deny topic"), "ACLs")] == ["User:bob"]
    answering(monkeypatch, pages, "describe_acls", ([], ClusterAuthorizationFailedError))
    assert "did not list all ACLs: ClusterAuthorizationFailedError" in await pages.get("/acls")
    answering(monkeypatch, pages, "describe_acls", SecurityDisabledError("no"))
    assert "The cluster has no authorizer, so it has no ACLs." in await pages.get("/acls")


async def test_users_have_scram_credentials(pages: Pages) -> None:
    assert rows_of(await pages.get("/users"), "Users") == [["No user has SCRAM credentials."]]
    credential = UserScramCredentialUpsertion("alice", ScramMechanism.SCRAM_SHA_512, "hunter2", iterations=8192)
    await pages.ui.admin.alter_user_scram_credentials([credential])
    page = await pages.get("/users")
    assert rows_of(page, "Users") == [["alice", "SCRAM-SHA-512", "8,192"]]
    assert "hunter2" not in page


async def test_quotas_name_their_entities(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "The cluster does not list its quotas" in text_of(await pages.get("/quotas"))
    found = [
        {"entity": {"user": "alice", "client-id": None}, "values": {"producer_byte_rate": 1048576.0}},
        {"entity": {"ip": HOSTILE}, "values": {"connection_creation_rate": 12.5}},
    ]
    answering(monkeypatch, pages, "describe_client_quotas", found)
    page = await pages.get("/quotas", sort="-limit")
    assert rows_of(page, "Quotas") == [
        ["client-id (default), user alice", "producer_byte_rate", "1,048,576 B/s"],
        [f"ip {HOSTILE}", "connection_creation_rate", "12.5 connections/s"],
    ]
    assert "<img" not in page


async def test_transactions_show_how_long_they_are_open(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {
        1: [
            TransactionListing("done", 7, TransactionState.COMPLETE_COMMIT),
            TransactionListing(HOSTILE, 8, TransactionState.ONGOING),
            TransactionListing("fresh", 9, TransactionState.ONGOING),
        ],
        2: ClusterAuthorizationFailedError("not for you"),
    }
    now_ms = round(time.time() * 1000)

    def described(seconds: int) -> TransactionDescription:
        start, places = now_ms - seconds * 1000, {TopicPartition("orders", 0), TopicPartition("orders", 1)}
        return TransactionDescription(1, TransactionState.ONGOING, 8, 0, 60_000, start, places)

    answering(monkeypatch, pages, "list_transactions", listed)
    answering(monkeypatch, pages, "describe_transactions", {HOSTILE: described(7_200), "fresh": described(1)})
    page = await pages.get("/transactions")
    rows = rows_of(page, "Transactions")
    assert [row[:2] for row in rows] == [
        [HOSTILE, "Ongoing, overdue"],
        ["fresh", "Ongoing"],
        ["done", "Complete commit"],
    ]
    assert rows[0][2].startswith("2 h")
    assert rows[0][4:] == ["orders", "8", "1"]
    assert "Broker 2" in text_of(page)
    assert "not for you" in text_of(page)
    assert len(rows_of(await pages.get("/transactions", closed="hide"), "Transactions")) == 2
    answering(monkeypatch, pages, "list_transactions", ClusterAuthorizationFailedError("not for <b>you</b>"))
    assert "not for <b>you</b>" in text_of(await pages.get("/transactions"))
    answering(monkeypatch, pages, "list_transactions", {1: UnsupportedVersionError("requires Kafka 3.0")})
    told = text_of(await pages.get("/transactions"))
    assert "Broker 1: requires Kafka 3.0" in told
    assert "No producer has used" not in told


async def test_transactions_of_the_cluster_are_listed(pages: Pages) -> None:
    assert rows_of(await pages.get("/transactions"), "Transactions") == [
        ["No producer has used a transactional id recently."]
    ]
