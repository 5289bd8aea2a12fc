"""Argument types of admin calls: ACLs, credentials, enums, and topics in the forms of each generation."""

import hashlib

import pytest

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    AlterConfigOp,
    ConfigResourceType,
    ConfigSourceType,
    GroupState,
    MemberToRemove,
    NewPartitions,
    NewTopic,
    OffsetTimestamp,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.admin.acls import MatchedACL, valid_acl_operations
from kafka.admin.config_resource import ConfigResource, check_brokers
from kafka.admin.topics import new_partitions, new_topics
from kafka.errors import IllegalArgumentError, NoError

TOPIC = ResourcePattern(ResourceType.TOPIC, "t")
READ = (ACLOperation.READ, ACLPermissionType.ALLOW)


def test_acls_are_compared_by_value():
    acl = ACL("User:a", "*", *READ, TOPIC)
    assert (
        acl == ACL("User:a", "*", *READ, ResourcePattern(ResourceType.TOPIC, "t")) != ACL("User:b", "*", *READ, TOPIC)
    )
    assert len({acl, ACL("User:a", "*", *READ, TOPIC)}) == 1
    assert "User:a" in repr(acl)
    assert "TOPIC" in repr(acl)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ResourcePattern(ResourceType.ANY, "t"),
        lambda: ResourcePattern(ResourceType.TOPIC, "t", ACLResourcePatternType.MATCH),
        lambda: ResourcePatternFilter("topic", "t", ACLResourcePatternType.ANY),
        lambda: ACLFilter(None, None, 3, ACLPermissionType.ANY, TOPIC),
        lambda: ACL("User:a", "*", ACLOperation.ANY, ACLPermissionType.ALLOW, TOPIC),
        lambda: ACL("User:a", "*", ACLOperation.READ, ACLPermissionType.ANY, TOPIC),
        lambda: ACL(
            "User:a",
            "*",
            *READ,
            ResourcePatternFilter(ResourceType.TOPIC, None, ACLResourcePatternType.ANY),
        ),
        lambda: UserScramCredentialDeletion("a", "MD5"),
        lambda: UserScramCredentialUpsertion("a", ScramMechanism.UNKNOWN, "secret"),
    ],
)
def test_filter_values_and_wrong_types_are_rejected_in_acls(make):
    with pytest.raises(IllegalArgumentError):
        make()


def test_filters_accept_any():
    pattern = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    assert ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, pattern).resource_pattern == pattern


def test_a_matched_acl_is_an_acl_and_a_pair():
    matched = MatchedACL("User:a", "*", *READ, TOPIC)
    acl, error = matched
    assert acl == matched == ACL("User:a", "*", *READ, TOPIC)
    assert error is matched[1] is NoError
    assert len(matched) == 2


def test_operations_are_converted_from_numbers():
    assert valid_acl_operations([0, 1, 2, 3, 8, 99]) == {ACLOperation.READ, ACLOperation.DESCRIBE}


def test_a_password_is_hashed_for_scram():
    credential = UserScramCredentialUpsertion("a", "scram-sha-256", "secret", iterations=4096, salt=b"salt")
    assert credential.mechanism is ScramMechanism.SCRAM_SHA_256
    assert credential.salted_password == hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 4096)
    assert "secret" not in repr(vars(credential))
    assert UserScramCredentialUpsertion("a", 2, b"secret").salt != UserScramCredentialUpsertion("a", 2, b"secret").salt


@pytest.mark.parametrize("given", [AlterConfigOp.APPEND, 2, "append", " Append"])
def test_members_are_found_by_value_and_by_name(given):
    assert AlterConfigOp.build_from(given) is AlterConfigOp.APPEND
    assert AlterConfigOp.value_for(given) == 2


def test_states_are_found_in_any_spelling():
    for given in ("PreparingRebalance", "preparing-rebalance", "PREPARING_REBALANCE"):
        assert GroupState.build_from(given) is GroupState.PREPARING_REBALANCE
    with pytest.raises(ValueError, match="Unrecognized GroupState: asleep"):
        GroupState.build_from("asleep")


def test_sources_of_values():
    assert ConfigSourceType.dynamic_for_resource_type(ConfigResourceType.GROUP).is_modified()
    assert not ConfigSourceType.STATIC_BROKER_CONFIG.is_modified()


def test_members_to_remove_are_compared_by_value():
    assert MemberToRemove("m") == MemberToRemove(member_id="m") != MemberToRemove(group_instance_id="m")


def test_a_time_is_not_an_offset():
    assert OffsetTimestamp(5) == 5
    assert repr(OffsetTimestamp(5)) == "OffsetTimestamp(5)"


def test_new_topics_are_accepted_in_the_forms_of_each_generation():
    first, second = new_topics(["a", NewTopic("b", 3, 1)])
    assert (first.name, first.num_partitions, second.num_partitions) == ("a", -1, 3)
    options = {"num_partitions": 2, "replication_factor": 1, "configs": {"retention.ms": 5}}
    (third,) = new_topics({"c": options})
    assert (third.name, third.num_partitions, third.topic_configs) == ("c", 2, {"retention.ms": "5"})
    (fourth,) = new_topics({"d": {"assignments": {0: [1, 2]}}})
    assert fourth.replica_assignments == {0: [1, 2]}
    with pytest.raises(IllegalArgumentError, match="partitions"):
        new_topics({"e": {"partitions": 2}})


def test_new_partitions_are_accepted_in_the_forms_of_each_generation():
    wanted = new_partitions({"a": 4, "b": {"count": 2, "assignments": [[1]]}, "c": NewPartitions(3)})
    assert {topic: each.total_count for topic, each in wanted.items()} == {"a": 4, "b": 2, "c": 3}
    assert wanted["b"].new_assignments == [[1]]
    with pytest.raises(IllegalArgumentError, match="count"):
        new_partitions({"a": {}})


def test_a_broker_is_named_by_id_and_an_empty_name_means_all() -> None:
    check_brokers([ConfigResource("broker", ""), ConfigResource("broker", 1), ConfigResource("topic", "b1")])
    with pytest.raises(IllegalArgumentError, match="expected the id of a broker, got 'b1'"):
        check_brokers([ConfigResource("broker", "b1")])
