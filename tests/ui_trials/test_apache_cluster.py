"""All pages of ``kafka ui`` on three brokers of Apache Kafka with an authorizer, of which one dies.

What the pages say is compared with Kafka's own tools. ``--kafka-release`` chooses the release.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    NewTopic,
    ResourcePattern,
    ResourceType,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.ui.ui_support import Pages, pages_of, rows_of, settings, text_of

if TYPE_CHECKING:
    from harness.apache import ApacheKafka
    from harness.tools import JavaTools

pytestmark = [pytest.mark.integration, pytest.mark.apache, pytest.mark.slow]
PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
TOOLS = "org.apache.kafka.tools"


@pytest.fixture(scope="module")
def kafka(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """Three brokers with a topic of three copies, a topic of one copy on broker 3, a dead group, and access rules."""
    from harness.apache import ApacheKafka

    folder = tmp_path_factory.mktemp("ui-trial")
    with ApacheKafka(folder, version=java_tools.version, nodes=3, properties=PROPERTIES) as cluster:
        servers = cluster.bootstrap_servers
        with KafkaAdminClient(bootstrap_servers=servers) as admin, KafkaProducer(bootstrap_servers=servers) as producer:
            placed = NewTopic("single", replica_assignments={0: [3]})
            admin.create_topics(
                [NewTopic("copied", 3, 3, topic_configs={"min.insync.replicas": "2"}), placed], wait_for_metadata=True
            )
            for number in range(30):
                producer.send("copied", b"%d" % number, partition=number % 3)
            producer.flush()
            admin.alter_group_offsets("dead", {TopicPartition("copied", 0): OffsetAndMetadata(4, "", None)})
            pattern = ResourcePattern(ResourceType.TOPIC, "copied")
            admin.create_acls([ACL("User:ada", "*", ACLOperation.READ, ACLPermissionType.ALLOW, pattern)])
            admin.alter_user_scram_credentials(
                [UserScramCredentialUpsertion("ada", ScramMechanism.SCRAM_SHA_256, "secret", iterations=4096)]
            )
            admin.alter_client_quotas([({"user": "ada"}, {"consumer_byte_rate": 1048576})])
        yield cluster


async def until(pages: Pages, path: str, wanted: Callable[[str], bool], patience_s: float = 60.0, **query: Any) -> str:
    """Return a page as soon as it shows something: brokers hear of changes after the controller has answered."""
    async with asyncio.timeout(patience_s):
        while True:
            page = await pages.get(path, **query)
            if wanted(page):
                return page
            await pages.ui.poller.refreshed()


async def told(kafka: ApacheKafka, tool: str, *arguments: str) -> str:
    """Return what one of Kafka's tools prints."""
    done = await asyncio.to_thread(kafka.tool, tool, "--bootstrap-server", kafka.bootstrap_servers, *arguments)
    return done.stdout


async def test_access_pages_say_what_the_tools_say(kafka: ApacheKafka) -> None:
    async with pages_of(settings(kafka.bootstrap_servers)) as pages:
        page = await until(pages, "/acls", lambda page: "User:ada" in page)
        assert rows_of(page, "ACLs") == [["User:ada", "allow", "read", "topic", "copied", "literal", "*"]]
        page = await until(pages, "/users", lambda page: "ada" in rows_of(page, "Users")[0])
        assert rows_of(page, "Users") == [["ada", "SCRAM-SHA-256", "4,096"]]
        page = await until(pages, "/quotas", lambda page: "user ada" in page)
        assert rows_of(page, "Quotas") == [["user ada", "consumer_byte_rate", "1,048,576 B/s"]]
    listed = await told(kafka, f"{TOOLS}.AclCommand", "--list")
    assert re.search(r"principal=User:ada, host=\*, operation=READ, permissionType=ALLOW", listed)
    listed = await told(kafka, "kafka.admin.ConfigCommand", "--describe", "--entity-type", "users")
    assert "SCRAM-SHA-256=iterations=4096" in listed
    assert "consumer_byte_rate=1048576" in listed


async def test_topics_groups_and_brokers_say_what_the_tools_say(kafka: ApacheKafka) -> None:
    async with pages_of(settings(kafka.bootstrap_servers)) as pages:
        page = await until(pages, "/group", lambda page: "10" in page, id="dead")
        ((topic, partition, committed, end, lag, *_),) = rows_of(page, "Partitions")
        topics = await pages.get("/topic", name="copied")
        brokers = rows_of(await pages.get("/brokers"), "Brokers")
        quorum = rows_of(await pages.get("/health"), "Metadata quorum")
    described = await told(kafka, f"{TOOLS}.consumer.group.ConsumerGroupCommand", "--describe", "--group", "dead")
    assert ["dead", topic, partition, committed, end, lag] in [line.split()[:6] for line in described.splitlines()]
    described = await told(kafka, f"{TOOLS}.TopicCommand", "--describe", "--topic", "copied")
    for row in rows_of(topics, "Partitions"):
        replicas = row[2].replace(" ", "")
        assert re.search(rf"Partition: {row[0]}\s+Leader: {row[1]}\s+Replicas: {replicas}\s", described)
    assert [row[0] for row in brokers] == ["1", "2", "3"]
    described = await told(kafka, f"{TOOLS}.MetadataQuorumCommand", "describe", "--status")
    (leader,) = [row[0] for row in quorum if row[1] == "Leader"]
    assert re.search(rf"LeaderId:\s+{leader}\b", described)


async def test_a_dead_broker_is_seen_and_every_page_still_answers(kafka: ApacheKafka) -> None:
    async with pages_of(settings(kafka.bootstrap_servers)) as pages:
        assert "Healthy" in text_of(await until(pages, "/health", lambda page: "Healthy" in page))
        kafka.kill(3)
        page = await until(pages, "/health", lambda page: "Critical" in page and "Under-replicated" in page)
        rows = rows_of(page, "Offline and under-replicated partitions")
        assert ["single", "0", "Offline", "none", "3"] in [row[:5] for row in rows]
        assert {row[2] for row in rows if row[0] == "copied"} == {"Under-replicated"}
        assert "Broker 3 has replicas, but is not running" in text_of(page)
        assert [row[0] for row in rows_of(await pages.get("/brokers"), "Brokers")] == ["1", "2"]
        single = await pages.get("/topic", name="single")
        assert rows_of(single, "Partitions")[0][1] == "none"
        for path in ("/", "/groups", "/acls", "/users", "/quotas", "/transactions", "/broker?id=1", "/group?id=dead"):
            assert "500" not in str((await pages.browser.get(path)).status_code), path
    described = await told(kafka, f"{TOOLS}.TopicCommand", "--describe", "--unavailable-partitions")
    assert "Topic: single" in described
