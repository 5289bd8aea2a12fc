"""docs/ADMIN.md lists every method of the admin client with its counterpart in Java."""

import inspect
import re
from pathlib import Path

import pytest
from scripts.reference import admin_page

from kafka import KafkaAdminClient

pytestmark = pytest.mark.once

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "ADMIN.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \| (.*) \|$", TEXT, re.MULTILINE)
METHODS = {
    name: inspect.getdoc(method) or ""
    for name, method in inspect.getmembers(KafkaAdminClient, inspect.isfunction)
    if name[0] != "_" and name != "close"
}
WITHOUT_COUNTERPART = {
    *("api_versions", "get_broker_version_data", "send_request", "send_requests"),  # kafka-python
    *("find_hanging_transactions",),  # kafka-transactions.sh
    *("health", "plot_lag", "wait_for_topics"),
}


def test_the_page_lists_every_method_once():
    assert sorted(name for name, *_ in ROWS) == sorted(METHODS)


def test_the_page_is_current():
    assert admin_page.text() == TEXT


def test_every_other_method_names_its_counterpart():
    assert {name for name, docstring in METHODS.items() if not admin_page.java(docstring)} == WITHOUT_COUNTERPART


def test_a_row_comes_from_the_docstring():
    row = {name: tuple(cells) for name, *cells in ROWS}
    assert row["elect_leaders"][1:] == ("`electLeaders`", "2.2", "")
    assert row["alter_configs"][1:] == ("`alterConfigs`, `incrementalAlterConfigs`", "0.11", "✓")
    assert row["list_topics"] == ("List the names of all topics", "`listTopics`", "", "✓")


@pytest.mark.parametrize(
    ("docstring", "summary"),
    [
        ("Describe groups: a dict by id.\n\nMore.", "Describe groups"),
        ("Find it (Kafka 2.8).", "Find it (Kafka 2.8)"),
        ("Push ``a|b`` metrics\nto brokers. Then return.", "Push `a\\|b` metrics to brokers"),
    ],
)
def test_a_summary_is_the_first_sentence_up_to_a_colon(docstring, summary):
    assert admin_page.summary(docstring) == summary


def test_each_subject_has_its_heading():
    headings = re.findall(r"^### (.+)$", TEXT, re.MULTILINE)
    assert headings[:3] == ["The client", "Topics", "Configurations"]
    assert len(set(headings)) == len(headings)
