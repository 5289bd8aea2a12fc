"""Access rules, made and asked for: what the script does where the broker has no authorizer.

    python acl_script.py localhost:9092 shop

Apache only: the embedded broker has no access rules.
"""

import sys

from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import IllegalArgumentError, SecurityDisabledError


def main(servers, prefix):
    admin = KafkaAdminClient(bootstrap_servers=servers)
    topic = ResourcePattern(ResourceType.TOPIC, prefix + "-secret")
    rule = ACL(
        principal="User:alice",
        host="*",
        operation=ACLOperation.READ,
        permission_type=ACLPermissionType.ALLOW,
        resource_pattern=topic,
    )
    print("rule:", rule.principal, rule.operation.name, rule.permission_type.name, topic.pattern_type.name)
    print("same:", rule == ACL("User:alice", "*", ACLOperation.READ, ACLPermissionType.ALLOW, topic), len({rule, rule}))
    made = admin.create_acls([rule])
    print("made:", made["succeeded"])
    for entry, error in made["failed"]:
        print("failed:", entry == rule, type(error).__name__, isinstance(error, SecurityDisabledError))

    everything = ACLFilter(
        principal=None,
        host=None,
        operation=ACLOperation.ANY,
        permission_type=ACLPermissionType.ANY,
        resource_pattern=ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
    )
    try:
        found, error = admin.describe_acls(everything)
        print("found:", found, error)
    except SecurityDisabledError as error:
        print("not found:", type(error).__name__, error.errno)
    for wanted, matching, error in admin.delete_acls([everything]):
        print("deleted:", wanted == everything, matching, error.__name__)

    for arguments in (
        {"operation": ACLOperation.ANY},
        {"permission_type": ACLPermissionType.ANY},
        {"resource_pattern": everything.resource_pattern},
    ):
        parts = {"operation": ACLOperation.READ, "permission_type": ACLPermissionType.DENY, "resource_pattern": topic}
        try:
            ACL(principal="User:bob", host="*", **{**parts, **arguments})
        except IllegalArgumentError:
            print("refused:", sorted(arguments))
    print("values:", [each.value for each in (ACLOperation.ALL, ACLOperation.IDEMPOTENT_WRITE, ResourceType.GROUP)])
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
