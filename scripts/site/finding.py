"""Searches a built site as its search page does: with its scripts and its index, run in Node.

`WANTED` says what readers look for, and which pages or names of the reference have to be among the first results.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.site.keywords import KEYWORDS

WANTED: dict[str, tuple[str, ...]] = {
    "web ui": ("UI",),
    "dlq": ("recipes/dead-letters", "PIPELINES/dead-letters"),
    "dead letters": ("recipes/dead-letters", "PIPELINES/dead-letters"),
    "dead letter": ("recipes/dead-letters",),
    "schema registry": ("SCHEMA_REGISTRY",),
    "exactly once": ("recipes/exactly-once", "TRANSACTIONS"),
    "exactly once spark": ("SPARK/exactly-once",),
    "install": ("START",),
    "lag": ("recipes/lag-alarm",),
    "consumer lag": ("recipes/lag-alarm",),
    "acks": ("OPTIONS/producer",),
    "jupyter": ("recipes/notebook",),
    "fastapi": ("recipes/fastapi",),
    "flask": ("recipes/fastapi",),
    "litestar": ("recipes/litestar",),
    "django": ("recipes/django",),
    "celery": ("recipes/celery",),
    "airflow": ("recipes/airflow",),
    "dagster": ("recipes/dagster",),
    "limitations": ("LIMITS",),
    "windows support": ("LIMITS",),
    "poison message": ("recipes/dead-letters",),
    "time travel": ("recipes/read-from-a-point-in-time",),
    "timestamp": ("recipes/read-from-a-point-in-time",),
    "seek to time": ("recipes/read-from-a-point-in-time",),
    "dataframe": ("ARROW", "recipes/read-from-a-point-in-time"),
    "pandas": ("ARROW",),
    "polars": ("ARROW",),
    "parquet": ("ARROW",),
    "quickstart": ("START",),
    "hello world": ("START",),
    "getting started": ("START",),
    "embedded broker": ("START", "TESTING"),
    "eof": ("recipes/end-of-partition",),
    "read until end": ("recipes/end-of-partition",),
    "mirrormaker": ("recipes/copy-a-topic-with-its-groups",),
    "another cluster": ("recipes/copy-a-topic-with-its-groups",),
    "migrate consumer group": ("recipes/move-a-group", "recipes/copy-a-topic-with-its-groups"),
    "reset offsets": ("recipes/move-a-group",),
    "replay messages": ("recipes/move-a-group",),
    "checkpoint": ("SPARK",),
    "pyspark": ("SPARK",),
    "structured streaming": ("SPARK",),
    "spark pipeline yaml": ("PIPELINES/a-pipeline-in-yaml-and-in-python",),
    "find message": ("UI",),
    "kafdrop": ("UI",),
    "migrate": ("MIGRATION",),
    "upgrade": ("MIGRATION",),
    "kafka-python": ("MIGRATION",),
    "confluent": ("MIGRATION", "SIDE_BY_SIDE"),
    "confluent-kafka": ("MIGRATION/from-confluent-kafka", "SIDE_BY_SIDE"),
    "librdkafka": ("SIDE_BY_SIDE/settings-of-confluent-kafka",),
    "aiokafka": ("MIGRATION/from-aiokafka", "SIDE_BY_SIDE"),
    "async": ("ASYNCIO",),
    "avro": ("SCHEMA_REGISTRY", "FORMATS"),
    "avro evolve schema": ("recipes/schema-evolution",),
    "schema compatibility": ("recipes/schema-evolution",),
    "protobuf": ("FORMATS", "SCHEMA_REGISTRY/protobuf-keys-and-values"),
    "json": ("FORMATS",),
    "retry": ("DELIVERY",),
    "at least once": ("DELIVERY",),
    "ssl": ("SECURITY_GUIDE", "OPTIONS/tls"),
    "sasl kerberos": ("SECURITY_GUIDE",),
    "oauth": ("SECURITY_GUIDE",),
    "msk iam": ("SECURITY_GUIDE",),
    "docker": ("DEPLOYMENT",),
    "kubernetes probe": ("KUBERNETES/probes",),
    "prometheus": ("MONITORING",),
    "health check": ("KUBERNETES/probes",),
    "batch size": ("OPTIONS/producer", "TUNING"),
    "compression": ("OPTIONS/producer",),
    "auto offset reset": ("OPTIONS/consumer-fetching",),
    "max poll interval": ("OPTIONS/consumer-the-group",),
    "rebalance": ("GROUPS",),
    "commit offsets manually": ("GROUPS",),
    "compact topic": ("ADMIN",),
    "delete records": ("ADMIN",),
    "create topic": ("ADMIN",),
    "kcat": ("COMMAND_LINE",),
    "pytest fixture": ("TESTING",),
    "mock broker": ("TESTING", "recipes/test-with-a-failing-broker"),
    "benchmark": ("PERFORMANCE",),
    "NoBrokersAvailable": ("ERRORS/what-clients-raise",),
    "queue": ("SHARE_GROUPS",),
    "structlog": ("LOGGING",),
    "iceberg": ("PIPELINES/targets",),
    "increase partitions": ("ADMIN", "COMMAND_LINE/kafka-partitions"),
    "delete topic": ("ADMIN",),
    "list topics": ("ADMIN", "COMMAND_LINE/kafka-topics"),
    "message too large": ("ERRORS/reading-and-writing", "OPTIONS/producer"),
    "bootstrap.servers": ("OPTIONS/connections",),
    "KafkaConsumer": ("names/kafka.KafkaConsumer",),
    "KafkaProducer.send": ("names/kafka.KafkaProducer-sending-records",),
    "consumer example": ("START",),
    "multiple consumers": ("GROUPS",),
    "python 3.10": ("LIMITS",),
    "kafka streams": ("LIMITS",),
    "zstd": ("OPTIONS/producer",),
    "readStream": ("SPARK/coming-from-sparks-own-connector",),
    "grafana": ("MONITORING",),
    "pandas to kafka": ("ARROW",),
    "kafka-console-consumer": ("COMMAND_LINE/from-other-tools",),
    "read last message": ("recipes/end-of-partition",),
    "static membership": ("GROUPS",),
    "helm": ("KUBERNETES",),
    "sbom": ("SUPPLY_CHAIN",),
    "poll": ("kafka.KafkaConsumer.poll",),
    "poll()": ("kafka.KafkaConsumer.poll",),
    "seek": ("kafka.KafkaConsumer.seek",),
    "send": ("kafka.KafkaProducer.send",),
    "commit": ("kafka.KafkaConsumer.commit",),
    "committed": ("kafka.KafkaConsumer.committed",),
    "subscribe": ("kafka.KafkaConsumer.subscribe",),
    "assign": ("kafka.KafkaConsumer.assign",),
    "pause": ("kafka.KafkaConsumer.pause",),
    "position": ("kafka.KafkaConsumer.position",),
    "flush": ("kafka.KafkaProducer.flush",),
    "close": ("kafka.KafkaConsumer.close", "kafka.KafkaProducer.close"),
    "acknowledge": ("kafka.KafkaShareConsumer.acknowledge",),
    "create_topics": ("kafka.KafkaAdminClient.create_topics",),
    "no messages received": ("GROUPS",),
    "consumer reads nothing": ("GROUPS",),
    "consumer prints nothing": ("GROUPS",),
    "address already in use": ("COMMAND_LINE/kafka-broker",),
    "stop when no more messages": ("recipes/end-of-partition",),
    "consume until end": ("recipes/end-of-partition",),
    "start at offset": ("recipes/read-from-a-point-in-time",),
    "replay messages from yesterday": ("recipes/read-from-a-point-in-time", "recipes/move-a-group"),
    "bootstrap servers environment variable": ("COMMAND_LINE/which-cluster",),
    "start a broker": ("START", "COMMAND_LINE/kafka-broker"),
    "registry port": ("COMMAND_LINE/kafka-broker", "SCHEMA_REGISTRY/the-embedded-registry"),
    "run twice": ("START",),
    "Ctrl-C": ("COMMAND_LINE/output",),
    "burrow": ("recipes/lag-alarm",),
    "duplicate topic": ("recipes/copy-a-topic-with-its-groups",),
}
"""By query: the pages, or full names of the reference, that have to be among the first results."""
FIRST = 3
"""How many results count as the first."""
_SCRIPT = """
const fs = require("fs"), vm = require("vm"), path = require("path");
const [site, queries, keywords] = [process.argv[1], ...process.argv.slice(2).map((each) => JSON.parse(each))];
const nothing = () => {};
const root = { dataset: { content_root: "./" } };
const progress = { lastChild: null, children: [] };
const page = {
  addEventListener: nothing, documentElement: root, querySelector: () => null, getElementById: () => progress,
};
const context = vm.createContext({
  document: page, location: {}, addEventListener: nothing, URLSearchParams, console, Set, Map,
  DOCUMENTATION_OPTIONS: { FILE_SUFFIX: ".html", LINK_SUFFIX: ".html", BUILDER: "html" },
  localStorage: { setItem: nothing, getItem: nothing, removeItem: nothing }, _: (text) => text, _ready: nothing,
  Documentation: { ngettext: (one) => one }, SPHINX_HIGHLIGHT_ENABLED: false,
});
vm.runInContext("globalThis.window = globalThis", context);
const load = (name) => vm.runInContext(fs.readFileSync(path.join(site, name), "utf-8"), context);
context.KEYWORDS = keywords;
["_static/language_data.js", "_static/searchtools.js", "_static/search_order.js"].forEach(load);
vm.runInContext("globalThis.Search = Search", context);
load("searchindex.js");
const answers = queries.map((query) => {
  const results = context.Search._performSearch(...context.Search._parseQuery(query));
  results.reverse(); // the page takes the best from the end
  return results.map((each) => [each[0], each[1]]);
});
console.log(JSON.stringify(answers));
"""


def results(site: Path, queries: list[str]) -> list[list[tuple[str, str]]]:
    """What the site finds for each query, best first: the names of pages, and the titles of the results.

    Raises `FileNotFoundError` if there is no Node, and `RuntimeError` with Node's message if it fails.
    """
    node = shutil.which("node")
    if node is None:
        raise FileNotFoundError("node is not in PATH: install Node.js")
    command = [node, "-e", _SCRIPT, str(site), json.dumps(queries), json.dumps(KEYWORDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [[(page, title) for page, title in each] for each in json.loads(done.stdout)]


def complaints(site: Path, wanted: dict[str, tuple[str, ...]] = WANTED) -> Iterator[str]:
    """What the search of a site does not find, a sentence each."""
    for (query, targets), found in zip(wanted.items(), results(site, list(wanted)), strict=True):
        first = found[:FIRST]
        for target in targets:
            if not any(target in each for each in first):
                yield f"the search for {query!r} does not find {target} among the first {FIRST}, but {first}"
