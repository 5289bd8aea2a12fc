"""Admin calls of users who are logged in, on one Apache Kafka with an authorizer and delegation tokens."""

from __future__ import annotations

import time
import uuid

import pytest

from integration.admin.admin_faces import FACES, opened
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ConfigResource,
    KafkaAdminClient,
    OffsetSpec,
    ResourcePattern,
    ResourceType,
)
from kafka.errors import (
    DelegationTokenNotFoundError,
    DelegationTokenRequestNotAllowedError,
    TopicAuthorizationFailedError,
)
from kafka.structs import TopicPartition

pytestmark = [
    pytest.mark.apache,
    pytest.mark.needs(broker=(4, 0), why="KRaft"),
]
PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
    "delegation.token.secret.key": "the-key-of-the-tests",
}


@pytest.fixture(scope="module")
def kafka(java_tools, tmp_path_factory):
    from harness.apache import ApacheKafka

    folder, listeners = tmp_path_factory.mktemp("apache-kafka-access"), ("plaintext", "sasl")
    with ApacheKafka(folder, version=java_tools.version, listeners=listeners, properties=PROPERTIES) as kafka:
        yield kafka


@pytest.fixture(scope="module", params=FACES)
def admin(request, kafka):
    with opened(request.param, bootstrap_servers=kafka.bootstrap_servers) as client:
        yield client


@pytest.fixture
def topic(admin):
    name = f"admin-{uuid.uuid4().hex[:12]}"
    admin.create_topics({name: {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
    return name


def until(found):
    """Wait until the broker has heard of a change: the controller answers first."""
    deadline = time.monotonic() + 60
    while not (answer := found()):
        assert time.monotonic() < deadline, "not seen after 60 s"
    return answer


@pytest.fixture
def alice(kafka, admin):
    """An admin client of a user who is logged in; of the same face as `admin`."""
    face = "sync" if isinstance(admin, KafkaAdminClient) else "async"
    with opened(face, bootstrap_servers=kafka.bootstrap("sasl"), **login("alice", "alice-secret")) as client:
        yield client


def login(user, password, mechanism="PLAIN"):
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }


def test_delegation_tokens_are_created_renewed_described_and_expired(admin, alice):
    token = alice.create_delegation_token(["User:bob"], max_lifetime_ms=600_000)
    assert (token.owner, token.requester, token.renewers) == ("User:alice", "User:alice", ("User:bob",))
    assert token.issue_timestamp_ms < token.expiry_timestamp_ms <= token.max_timestamp_ms
    assert until(lambda: alice.describe_delegation_tokens(["User:alice"])) == [token]
    renewed = alice.renew_delegation_token(token, 60_000)
    assert token.issue_timestamp_ms < renewed < token.max_timestamp_ms
    until(lambda: [each.expiry_timestamp_ms for each in alice.describe_delegation_tokens()] == [renewed])
    assert alice.expire_delegation_token(token.hmac) > 0
    until(lambda: alice.describe_delegation_tokens() == [])
    with pytest.raises(DelegationTokenNotFoundError):
        alice.renew_delegation_token(token)
    with pytest.raises(DelegationTokenRequestNotAllowedError):
        admin.create_delegation_token()


def test_what_a_user_may_not_do_is_named_and_hides_nothing_else(admin, alice, topic):
    name = f"forbidden-{topic}"
    admin.create_topics({name: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    pattern = ResourcePattern(ResourceType.TOPIC, name)
    acl = ACL("User:alice", "*", ACLOperation.ALL, ACLPermissionType.DENY, pattern)
    assert admin.create_acls([acl])["succeeded"] == [acl]
    wanted = [ConfigResource("topic", topic), ConfigResource("topic", name)]
    until(lambda: alice.describe_configs(wanted, raise_errors=False)[0].resources[1][0] == 29)
    (told,) = alice.describe_configs(wanted, raise_errors=False, include_documentation=True)
    assert [each["error_code"] for each in told["results"]] == [0, 29]
    assert all(each["documentation"] for each in told["results"][0]["configs"])
    with pytest.raises(TopicAuthorizationFailedError):
        alice.describe_configs(wanted)
    offsets = {TopicPartition(topic, 0): OffsetSpec.LATEST, TopicPartition(name, 0): OffsetSpec.LATEST}
    found = alice.list_partition_offsets(offsets, raise_errors=False)
    assert found[TopicPartition(topic, 0)].offset == 0
    assert isinstance(found[TopicPartition(name, 0)], TopicAuthorizationFailedError)
    assert admin.delete_acls([ACLFilter("User:alice", "*", acl.operation, acl.permission_type, pattern)])[0][1] == [acl]
