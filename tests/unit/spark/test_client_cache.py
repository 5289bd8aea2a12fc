"""Clients that are kept between tasks."""

import os

import pytest

from kafka.spark.client_cache import ClientCache

A = (("bootstrap_servers", "a:1"),)
B = (("bootstrap_servers", "b:1"),)


class Client:
    def __init__(self, configs) -> None:
        self.configs = configs
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def cache():
    return ClientCache(Client, Client.close)


def test_a_client_is_reused_for_the_same_options(cache):
    with cache.borrow(A) as first:
        assert first.configs == {"bootstrap_servers": "a:1"}
    with cache.borrow(B) as other, cache.borrow(A) as again:
        assert again is first
        assert other is not first


def test_a_lent_client_is_not_lent_again(cache):
    with cache.borrow(A) as one, cache.borrow(A) as two:
        assert one is not two


def test_a_client_is_dropped_after_an_error(cache):
    with pytest.raises(ZeroDivisionError), cache.borrow(A) as broken:
        raise ZeroDivisionError
    assert broken.closed
    with cache.borrow(A) as fresh:
        assert fresh is not broken


def test_a_reader_that_stops_early_returns_its_client(cache):
    def rows():
        with cache.borrow(A) as client:
            yield client
            yield client

    reading = rows()
    client = next(reading)
    reading.close()
    assert not client.closed
    with cache.borrow(A) as again:
        assert again is client


def test_only_a_few_idle_clients_are_kept(cache):
    lent = []
    for number in range(6):
        with cache.borrow((("bootstrap_servers", f"h:{number}"),)) as client:
            lent.append(client)
    assert [client.closed for client in lent] == [True, True, False, False, False, False]


def test_a_forked_process_does_not_use_its_parents_clients(cache, monkeypatch):
    with cache.borrow(A) as parents:
        pass
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with cache.borrow(A) as own:
        assert own is not parents
    assert not parents.closed
