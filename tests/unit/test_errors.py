"""The error tree carries its meaning as data."""

import pickle

import pytest

from kafka import errors

pytestmark = pytest.mark.once


@pytest.mark.parametrize("code", sorted(errors.kafka_errors))
def test_every_code_has_one_class_with_name_and_description(code: int) -> None:
    cls = errors.for_code(code)
    assert cls.errno == code
    assert cls.message.isupper()
    assert cls.description.endswith(".")
    assert str(code) in str(cls())


def test_codes_are_complete() -> None:
    assert sorted(errors.kafka_errors) == list(range(-1, len(errors.kafka_errors) - 1))


def test_an_unknown_code_becomes_an_unknown_error_with_its_number() -> None:
    error = errors.for_code(4711)()
    assert isinstance(error, errors.UnknownError)
    assert error.errno == 4711
    assert "4711" in str(error)


def test_retriable_and_invalid_metadata_flags() -> None:
    assert errors.NotLeaderForPartitionError.retriable
    assert errors.NotLeaderForPartitionError.invalid_metadata
    assert errors.RequestTimedOutError.retriable
    assert not errors.RequestTimedOutError.invalid_metadata
    assert not errors.TopicAuthorizationFailedError.retriable
    assert issubclass(errors.NoBrokersAvailable, errors.KafkaTimeoutError)
    assert issubclass(errors.KafkaError, RuntimeError)


def test_check_error_raises_with_context() -> None:
    errors.check_error(0)
    with pytest.raises(errors.TopicAlreadyExistsError, match="topic t"):
        errors.check_error(36, "topic t")


def test_errors_survive_pickling() -> None:
    for cls in (errors.KafkaTimeoutError, errors.UnknownTopicOrPartitionError, errors.CommitFailedError):
        error = cls("why")
        assert pickle.loads(pickle.dumps(error)) == error
