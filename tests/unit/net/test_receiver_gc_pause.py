"""Pausing the cyclic garbage collector, and restoring its state after the last pause."""

import gc
import os
from types import SimpleNamespace

import pytest

from kafka.net import receiver
from kafka.net.receiver import no_collections


@pytest.fixture(autouse=True)
def _as_it_was():
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


def test_the_collector_is_off_until_the_last_pause_ends():
    gc.enable()
    with no_collections():
        assert not gc.isenabled()
        with no_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_the_pause():
    gc.enable()
    with pytest.raises(ValueError, match="inside"), no_collections():
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    with no_collections():
        pass
    assert not gc.isenabled()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_inherit_a_pause():
    gc.enable()
    with no_collections():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("moment", ["begins", "ends"])
def test_a_child_forked_at_the_edge_of_a_pause_collects(monkeypatch, moment):
    gc.enable()
    outcomes = []

    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        outcomes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    def disable():
        gc.disable()
        if moment == "begins":
            fork()

    def enable():
        if moment == "ends":
            monkeypatch.setattr(receiver, "gc", gc)
            fork()
        gc.enable()

    monkeypatch.setattr(receiver, "gc", SimpleNamespace(disable=disable, enable=enable, isenabled=gc.isenabled))
    with no_collections():
        pass
    assert outcomes[0] == 0
