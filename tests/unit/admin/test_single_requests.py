"""Calls with a single request: its contents, the result, and retries."""

import uuid

import pytest

from kafka import KafkaAdminClient
from kafka.admin import (
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigResource,
    DelegationToken,
    NewTopic,
    RaftVoterEndpoint,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
)
from kafka.admin.config_resource import with_names
from kafka.broker import EmbeddedBroker
from kafka.cluster import RetryPolicy
from kafka.errors import (
    BrokerIdNotRegisteredError,
    DelegationTokenAuthDisabledError,
    DelegationTokenNotFoundError,
    DuplicateVoterError,
    IllegalArgumentError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NoError,
    SecurityDisabledError,
    ThrottlingQuotaExceededError,
    UnsupportedVersionError,
    VoterNotFoundError,
)
from kafka.wire.api import create_delegation_token as create
from kafka.wire.api import delete_acls as deletions
from kafka.wire.api import describe_acls as acls
from kafka.wire.api import describe_configs as configs
from kafka.wire.api import describe_delegation_token as describe
from kafka.wire.api import describe_user_scram_credentials as users
from kafka.wire.api.add_raft_voter import AddRaftVoterResponse
from kafka.wire.api.create_topics import CreatableTopicResult, CreateTopicsResponse
from kafka.wire.api.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from kafka.wire.api.describe_acls import DescribeAclsResponse
from kafka.wire.api.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from kafka.wire.api.expire_delegation_token import ExpireDelegationTokenResponse
from kafka.wire.api.list_config_resources import ConfigResource as Listed
from kafka.wire.api.list_config_resources import ListConfigResourcesResponse
from kafka.wire.api.remove_raft_voter import RemoveRaftVoterResponse
from kafka.wire.api.renew_delegation_token import RenewDelegationTokenResponse
from kafka.wire.api.unregister_broker import UnregisterBrokerResponse
from kafka.wire.api.unregister_controller import UnregisterControllerResponse
from unit.admin.conftest import INSTANCE
from unit.admin.test_admin import answer_everywhere, asked, reconnect
from unit.net.scripted import HANG_UP

DIRECTORY = uuid.UUID("0123456789abcdef0123456789abcdef")


def in_turn(*answers):
    left = iter(answers)
    return lambda *_: next(left)


async def test_a_token_is_created_for_an_owner_and_its_secret_is_not_shown(admin, cluster):
    answer = create.CreateDelegationTokenResponse(
        principal_type="User",
        principal_name="bob",
        token_requester_principal_type="User",
        token_requester_principal_name="alice",
        issue_timestamp_ms=1,
        expiry_timestamp_ms=2,
        max_timestamp_ms=3,
        token_id="id",
        hmac=b"secret",
    )
    answer_everywhere(cluster, "CreateDelegationToken", lambda *_: answer)
    token = await admin.create_delegation_token(["User:carol"], max_lifetime_ms=60_000, owner="User:bob")
    assert token == DelegationToken("id", b"secret", "User:bob", "User:alice", 1, 2, 3, ("User:carol",))
    assert "secret" not in repr(token)
    (request,) = asked(cluster, "CreateDelegationToken")
    assert (request.owner_principal_name, request.max_lifetime_ms) == ("bob", 60_000)
    assert [(each.principal_type, each.principal_name) for each in request.renewers] == [("User", "carol")]
    with pytest.raises(IllegalArgumentError, match="User:alice"):
        await admin.create_delegation_token(owner="alice")


async def test_an_interrupted_token_creation_is_not_repeated(admin, cluster):
    answer_everywhere(cluster, "CreateDelegationToken", lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError):
        await admin.create_delegation_token()
    assert len(asked(cluster, "CreateDelegationToken")) == 1


async def test_old_brokers_create_tokens_only_for_the_caller(admin, cluster):
    for broker in cluster.brokers:
        broker.versions[38] = (0, 2)
    await reconnect(admin, cluster)
    answer_everywhere(cluster, "CreateDelegationToken", lambda *_: create.CreateDelegationTokenResponse(error_code=61))
    with pytest.raises(UnsupportedVersionError):
        await admin.create_delegation_token(owner="User:bob")
    with pytest.raises(DelegationTokenAuthDisabledError):
        await admin.create_delegation_token()


async def test_tokens_are_renewed_expired_and_described(admin, cluster):
    answer_everywhere(
        cluster,
        "RenewDelegationToken",
        in_turn(RenewDelegationTokenResponse(error_code=14), RenewDelegationTokenResponse(expiry_timestamp_ms=9)),
    )
    assert await admin.renew_delegation_token(b"secret", 5) == 9
    assert [(each.hmac, each.renew_period_ms) for each in asked(cluster, "RenewDelegationToken")] == [
        (b"secret", 5)
    ] * 2
    answer_everywhere(cluster, "ExpireDelegationToken", lambda *_: ExpireDelegationTokenResponse(error_code=62))
    token = DelegationToken("id", b"secret", "User:bob", "", 1, 2, 3)
    with pytest.raises(DelegationTokenNotFoundError):
        await admin.expire_delegation_token(token)
    (request,) = asked(cluster, "ExpireDelegationToken")
    assert (request.hmac, request.expiry_time_period_ms) == (b"secret", -1)
    with pytest.raises(IllegalArgumentError, match="hmac"):
        await admin.expire_delegation_token("secret")
    told = describe.DescribedDelegationToken(
        principal_type="User",
        principal_name="bob",
        token_id="id",
        hmac=b"secret",
        issue_timestamp=1,
        expiry_timestamp=2,
        max_timestamp=3,
    )
    answer_everywhere(
        cluster, "DescribeDelegationToken", lambda *_: describe.DescribeDelegationTokenResponse(tokens=[told])
    )
    assert await admin.describe_delegation_tokens(["User:bob"]) == [token]
    (request,) = asked(cluster, "DescribeDelegationToken")
    assert [(each.principal_type, each.principal_name) for each in request.owners] == [("User", "bob")]
    assert await admin.describe_delegation_tokens() == [token]
    assert [request.owners for request in asked(cluster, "DescribeDelegationToken")].count(None) == 1


async def test_adding_and_removing_voters_is_not_retried(admin, cluster):
    answer_everywhere(cluster, "AddRaftVoter", lambda *_: AddRaftVoterResponse(error_code=126, error_message="known"))
    with pytest.raises(DuplicateVoterError, match="adding voter 3: known"):
        await admin.add_raft_voter(3, DIRECTORY, [("CONTROLLER", "h", 9093)], cluster_id="c")
    (request,) = asked(cluster, "AddRaftVoter")
    assert (request.voter_id, request.voter_directory_id, request.cluster_id) == (3, DIRECTORY, "c")
    assert [(each.name, each.host, each.port) for each in request.listeners] == [("CONTROLLER", "h", 9093)]
    answer_everywhere(cluster, "RemoveRaftVoter", lambda *_: RemoveRaftVoterResponse(error_code=127))
    with pytest.raises(VoterNotFoundError):
        await admin.remove_raft_voter(3, "ASNFZ4mrze8BI0VniavN7w")
    assert [each.voter_directory_id for each in asked(cluster, "RemoveRaftVoter")] == [DIRECTORY]
    answer_everywhere(cluster, "AddRaftVoter", lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError):
        await admin.add_raft_voter(3, str(DIRECTORY), [RaftVoterEndpoint("CONTROLLER", "h", 9093)])
    assert len(asked(cluster, "AddRaftVoter")) == 2
    for endpoints in ([7], [("a", "b")]):
        with pytest.raises(IllegalArgumentError, match="endpoints"):
            await admin.add_raft_voter(3, DIRECTORY, endpoints)
    with pytest.raises(IllegalArgumentError, match="voter_directory_id"):
        await admin.remove_raft_voter(3, "?" * 21)


async def test_unregistering_nodes_is_retried_after_transient_errors(admin, cluster):
    answer_everywhere(
        cluster, "UnregisterBroker", in_turn(UnregisterBrokerResponse(error_code=7), UnregisterBrokerResponse())
    )
    assert await admin.unregister_broker(9) is None
    assert [each.broker_id for each in asked(cluster, "UnregisterBroker")] == [9, 9]
    answer_everywhere(cluster, "UnregisterController", lambda *_: UnregisterControllerResponse(error_code=102))
    with pytest.raises(BrokerIdNotRegisteredError, match="controller 9"):
        await admin.unregister_controller(9)


async def test_the_client_instance_id_is_requested_once(admin, cluster):
    assert await admin.client_instance_id() == await admin.client_instance_id() == INSTANCE
    assert len(asked(cluster, "GetTelemetrySubscriptions")) == 1


async def test_fenced_brokers_are_included_if_brokers_support_it(admin, cluster):
    brokers = [DescribeClusterBroker(broker_id=1, host="h", port=1), DescribeClusterBroker(broker_id=2, is_fenced=True)]

    def answer(_, request):
        return DescribeClusterResponse(brokers=brokers[: 2 if request.include_fenced_brokers else 1])

    for broker in cluster.brokers:
        broker.versions[60] = (0, 2)
    await reconnect(admin, cluster)
    answer_everywhere(cluster, "DescribeCluster", answer)
    assert [each["is_fenced"] for each in (await admin.describe_cluster())["brokers"]] == [False]
    told = await admin.describe_cluster(include_fenced_brokers=True)
    assert [each["is_fenced"] for each in told["brokers"]] == [False, True]
    for broker in cluster.brokers:
        broker.versions[60] = (0, 1)
    await reconnect(admin, cluster)
    with pytest.raises(UnsupportedVersionError):
        await admin.describe_cluster(include_fenced_brokers=True)
    assert len((await admin.describe_cluster())["brokers"]) == 1


async def test_a_resource_named_twice_is_described_once_with_documentation(admin, cluster):
    def answer(_, request):
        results = [
            configs.DescribeConfigsResult(
                resource_type=each.resource_type,
                resource_name=each.resource_name,
                configs=[
                    configs.DescribeConfigsResourceResult(name=name, documentation="about it")
                    for name in each.configuration_keys
                ],
            )
            for each in request.resources
        ]
        return configs.DescribeConfigsResponse(results=results)

    answer_everywhere(cluster, "DescribeConfigs", answer)
    twice = [ConfigResource("topic", "t", ["a"]), ConfigResource("topic", "t", ["b"])]
    (told,) = await admin.describe_configs(twice, include_documentation=True, config_filter="all")
    assert [each["name"] for each in told["results"][0]["configs"]] == ["a", "b"]
    assert told["results"][0]["configs"][0]["documentation"] == "about it"
    assert all(request.include_documentation for request in asked(cluster, "DescribeConfigs"))
    with pytest.raises(IllegalArgumentError, match="topic 't' once"):
        await admin.alter_configs([ConfigResource("topic", "t", {"a": 1}), ConfigResource("topic", "t", {"b": 1})])


async def test_metrics_subscriptions_are_listed(admin, cluster):
    listed = [Listed(resource_name="m", resource_type=16)]
    answer_everywhere(cluster, "ListConfigResources", lambda *_: ListConfigResourcesResponse(config_resources=listed))
    assert await admin.list_client_metrics_resources() == ["m"]


async def test_unknown_resource_types_are_listed_as_unknown(admin, cluster):
    listed = [Listed(resource_name="m", resource_type=64), Listed(resource_name="t", resource_type=2)]
    answer_everywhere(cluster, "ListConfigResources", lambda *_: ListConfigResourcesResponse(config_resources=listed))
    assert await admin.list_config_resources() == {"unknown": ["m"], "topic": ["t"]}
    credential = users.CredentialInfo(mechanism=3, iterations=4096)
    described = users.DescribeUserScramCredentialsResult(user="u", credential_infos=[credential])
    answer_everywhere(
        cluster,
        "DescribeUserScramCredentials",
        lambda *_: users.DescribeUserScramCredentialsResponse(results=[described]),
    )
    told = await admin.describe_user_scram_credentials(["u"])
    assert told["u"]["credential_infos"] == [{"mechanism": ScramMechanism.UNKNOWN, "iterations": 4096}]


async def test_reads_are_retried_after_retriable_errors(admin, cluster):
    from kafka.admin import ACLFilter, ACLOperation, ACLPermissionType, ACLResourcePatternType, ResourcePatternFilter
    from kafka.admin import ResourceType as Kind

    pattern = ResourcePatternFilter(Kind.ANY, None, ACLResourcePatternType.ANY)
    anything = ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, pattern)
    answer_everywhere(
        cluster, "DescribeAcls", in_turn(DescribeAclsResponse(error_code=7), DescribeAclsResponse(error_code=54))
    )
    with pytest.raises(SecurityDisabledError):
        await admin.describe_acls(anything)
    assert len(asked(cluster, "DescribeAcls")) == 2


async def test_only_topics_that_exceed_a_quota_are_sent_again(admin, cluster, monkeypatch):
    codes = in_turn({"b": 89}, {"b": 89}, {})

    def answer(_, request):
        refused = codes()
        topics = [CreatableTopicResult(name=each.name, error_code=refused.get(each.name, 0)) for each in request.topics]
        return CreateTopicsResponse(topics=topics[::-1], throttle_time_ms=0)

    answer_everywhere(cluster, "CreateTopics", answer)
    result = await admin.create_topics([NewTopic("a", 1, 1), NewTopic("b", 1, 1)])
    assert [each[:2] for each in result.topic_errors] == [("a", 0), ("b", 0)]
    sent = [[each.name for each in request.topics] for request in asked(cluster, "CreateTopics")]
    assert sent == [["a", "b"], ["b"], ["b"]]
    answer_everywhere(
        cluster,
        "DeleteTopics",
        lambda _, request: DeleteTopicsResponse(
            responses=[DeletableTopicResult(name=each, error_code=89) for each in request.topic_names]
        ),
    )
    monkeypatch.setattr(RetryPolicy, "pause_s", lambda policy, failures: 3_600.0)  # longer than the time limit
    with pytest.raises(ThrottlingQuotaExceededError, match="'a'"):
        await admin.delete_topics(["a"], timeout_ms=30)


async def test_internal_topics_can_be_left_out(admin, cluster):
    cluster.leaders["__consumer_offsets"] = [(1, 0)]
    plain = cluster._topic

    def topic(name):
        described = plain(name)
        described.is_internal = name.startswith("__")
        return described

    cluster._topic = topic
    assert await admin.list_topics() == ["t", "__consumer_offsets"]
    assert await admin.list_topics(include_internal=False) == ["t"]


async def test_values_of_later_kafka_versions_are_unknown(admin, cluster):
    entry = {"principal": "User:a", "host": "*"}
    described = acls.DescribeAclsResource(
        resource_type=100,
        resource_name="r",
        pattern_type=101,
        acls=[acls.AclDescription(**entry, operation=102, permission_type=103)],
    )
    answer_everywhere(cluster, "DescribeAcls", lambda *_: DescribeAclsResponse(resources=[described]))
    anything = ACLFilter(
        None,
        None,
        ACLOperation.ANY,
        ACLPermissionType.ANY,
        ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
    )
    (acl,), error = await admin.describe_acls(anything)
    assert (acl.principal, acl.host, acl.resource_pattern.resource_name, error) == ("User:a", "*", "r", NoError)
    assert (acl.operation, acl.permission_type) == (ACLOperation.UNKNOWN, ACLPermissionType.UNKNOWN)
    pattern = acl.resource_pattern
    assert (pattern.resource_type, pattern.pattern_type) == (ResourceType.UNKNOWN, ACLResourcePatternType.UNKNOWN)
    assert "UNKNOWN" in repr(acl)
    gone = deletions.DeleteAclsMatchingAcl(
        **entry, resource_type=100, resource_name="r", pattern_type=101, operation=102, permission_type=103
    )
    result = deletions.DeleteAclsFilterResult(matching_acls=[gone])
    answer_everywhere(cluster, "DeleteAcls", lambda *_: deletions.DeleteAclsResponse(filter_results=[result]))
    [(_, [matched], _)] = await admin.delete_acls([anything])
    assert (matched, matched.error) == (acl, NoError)
    setting = configs.DescribeConfigsResourceResult(
        name="a",
        value="1",
        config_source=99,
        config_type=98,
        synonyms=[configs.DescribeConfigsSynonym(name="a", value="1", source=97)],
    )
    answer_everywhere(
        cluster,
        "DescribeConfigs",
        lambda *_: configs.DescribeConfigsResponse(
            results=[configs.DescribeConfigsResult(resource_type=2, resource_name="t", configs=[setting])]
        ),
    )
    found = await admin.describe_configs([ConfigResource("topic", "t")], config_filter="all")
    shown = with_names(found.of(ConfigResource("topic", "t"))["a"])
    assert (shown["config_source"], shown["config_type"], shown["synonyms"][0]["source"]) == ("UNKNOWN",) * 3
    answer = ListConfigResourcesResponse(config_resources=[Listed(resource_name="x", resource_type=64)])
    answer_everywhere(cluster, "ListConfigResources", lambda *_: answer)
    assert await admin.list_config_resources() == {"unknown": ["x"]}


def test_a_timeout_names_the_request():
    with EmbeddedBroker() as broker:
        options = {"request_timeout_ms": 100, "retry_backoff_ms": 1}
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, **options) as admin:
            broker.faults.hang_up(api="Metadata")
            with pytest.raises(KafkaTimeoutError, match=r"^(\[Error \d+\] \w+: )?Metadata: (timed out|the time is up)"):
                admin.list_topics()
