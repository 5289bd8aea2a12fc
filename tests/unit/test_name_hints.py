"""Imports of names that do not exist say what to write."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

import kafka
from kafka._name_hints import _OF_OTHERS, advice, public_names


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("from kafka.testing import EmbeddedBroker", "write: from kafka.broker import EmbeddedBroker"),
        ("from kafka import EmbeddedBroker", "write: from kafka.broker import EmbeddedBroker"),
        ("from kafka import AIOKafkaConsumer", "write: from kafka.aio import AIOKafkaConsumer"),
        ("from kafka import NewTopic", "write: from kafka.admin import NewTopic"),
        ("from kafka import NoBrokersAvailable", "write: from kafka.errors import NoBrokersAvailable"),
        ("from kafka.aio import KafkaProducer", "write: from kafka import KafkaProducer"),
        ("from kafka import Producer", "confluent-kafka's Producer is KafkaProducer here"),
        ("from kafka import Consumer", "confluent-kafka's Consumer is KafkaConsumer here"),
        ("from kafka import KafkaProduser", "did you mean 'KafkaProducer'? Write: from kafka import KafkaProducer"),
        ("from kafka import KafkaConsumer, TopicPartion", "did you mean 'TopicPartition'?"),
        ("from kafka.admin import KafkaAdmin", "did you mean 'KafkaAdminClient'?"),
    ],
)
def test_an_import_says_what_to_write(statement: str, told: str) -> None:
    with pytest.raises(ImportError, match="cannot import name") as raised:
        exec(statement, {})
    assert told in str(raised.value)


def test_names_without_a_similar_one_fail_as_usual() -> None:
    with pytest.raises(ImportError, match="cannot import name 'zzz' from 'kafka'"):
        exec("from kafka import zzz", {})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'kafka\.zzz'"):
        importlib.import_module("kafka.zzz")
    assert importlib.util.find_spec("kafka.zzz") is None
    assert advice("kafka", "_Producer") == advice("kafka.cli", "Producer") == ""


def test_an_import_of_a_module_says_what_to_write_and_names_the_module() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'kafka\.Producer': confluent-kafka's") as raised:
        exec("import kafka.Producer", {})
    assert raised.value.name == "kafka.Producer"  # programs compare it with the module that they try to import


@pytest.mark.parametrize("name", ["kafka.Producer", "kafka.errs", "kafka.KafkaConsumer", "kafka.admin.NewTopics"])
def test_programs_that_look_for_a_module_find_none(name: str) -> None:
    assert importlib.util.find_spec(name) is None


def test_attributes_are_missing_as_usual() -> None:
    assert not hasattr(kafka, "Producer")
    assert not hasattr(kafka.consumer, "KafkaConsumr")
    assert getattr(kafka, "KafkaProduser", None) is None


def test_names_are_read_without_importing_their_module() -> None:
    assert set(kafka.__all__) == set(public_names("kafka"))
    assert "UnknownTopicOrPartitionError" in public_names("kafka.errors")
    assert public_names("kafka.no_such_module") == []


def test_names_of_other_libraries_do_not_exist_here() -> None:
    assert not [name for name in _OF_OTHERS if hasattr(kafka, name)]
