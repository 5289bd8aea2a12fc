"""The option for interceptors."""

from __future__ import annotations

import pytest

from kafka.config import parse_admin, parse_consumer, parse_producer
from kafka.errors import KafkaConfigurationError
from kafka.interceptor import ConsumerInterceptor, ProducerInterceptor


def test_interceptors_are_classes_or_objects_one_or_several() -> None:
    one = ProducerInterceptor()
    assert parse_producer({"interceptor_classes": one}).producer.interceptor_classes == (one,)
    given = [ConsumerInterceptor, ConsumerInterceptor()]
    assert parse_consumer({"interceptor_classes": given}).consumer.interceptor_classes == tuple(given)


def test_objects_that_are_not_interceptors_are_rejected() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"classes or objects with some of on_send\(\), "):
        parse_producer({"interceptor_classes": [object()]})
    with pytest.raises(KafkaConfigurationError, match="is an option of the consumer and producer, not of the admin"):
        parse_admin({"interceptor_classes": [ProducerInterceptor]})
