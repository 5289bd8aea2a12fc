"""axe-core on every page of ``kafka ui`` in Chromium: light and dark, on a desktop and a phone, with writes allowed."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.chromium import evaluated
from harness.web_ui import web_ui
from kafka import KafkaAdminClient, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.pipelines.events import to_json
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.pipelines.sample_events import NAME, Sample

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PATHS = (
    "", "?sort=-size", "topic?name=orders", "messages", "messages?topic=orders", "messages?topic=orders&where=value.a",
    "message?topic=orders&partition=0&offset=0", "tail?topic=orders", "produce?topic=orders", "groups", "group?id=dead",
    "health", "brokers", "broker?id=1", "acls", "users", "quotas", "transactions", "schemas",
    "schema?subject=orders-value", "spark", "pipelines", f"pipeline?name={NAME}", "topic?name=missing", "nowhere",
)  # fmt: skip
RUN = """axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.map(each => ({
  id: each.id, impact: each.impact, help: each.help, nodes: each.nodes.map(node => node.html.slice(0, 200)) })))"""


def axe() -> str:
    """Return the source of axe-core, from the package that `make ui-trials` installs."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed: run make ui-trials, or pip install -r requirements/ui-trials.txt")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The UI of a cluster with something on each page."""
    folder = tmp_path_factory.mktemp("project")
    events = folder / "checkpoints" / "flights" / "events"
    events.mkdir(parents=True)
    sample = Sample().run(5)
    (events / "run-1.jsonl").write_text("".join(f"{to_json(each)}\n" for each in sample.events))
    with EmbeddedBroker(registry=True) as broker:
        servers = broker.bootstrap_servers
        with KafkaProducer(bootstrap_servers=servers) as producer:
            for number in range(80):
                producer.send("orders", json.dumps({"a": number}).encode(), key=b"%d" % number)
        with KafkaAdminClient(bootstrap_servers=servers) as admin:
            admin.alter_group_offsets("dead", {TopicPartition("orders", 0): OffsetAndMetadata(1, "", None)})
        with SchemaRegistryClient({"url": broker.registry_url}) as client:
            client.register_schema("orders-value", Schema('{"type": "string"}'))
        options = ["-b", servers, "--allow-writes", "--registry", broker.registry_url, "--pipelines", str(folder)]
        with web_ui(*options) as ui:
            yield ui.address


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_page_has_a_barrier(chromium: Path, address: str, width: int, dark: bool) -> None:
    addresses = [f"{address}{path}" for path in PATHS]
    found = {
        page.removeprefix(address): violations
        for page, violations in evaluated(chromium, addresses, axe(), RUN, dark=dark, width=width)
    }
    assert len(found) == len(PATHS)
    serious = {
        page: [each for each in violations if each["impact"] in ("serious", "critical")]
        for page, violations in found.items()
    }
    assert not any(serious.values()), json.dumps({page: each for page, each in serious.items() if each}, indent=1)
    assert sum(map(len, found.values())) == 0, json.dumps(
        {page: each for page, each in found.items() if each}, indent=1
    )
