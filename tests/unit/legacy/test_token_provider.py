"""`AbstractTokenProvider` at each of its import paths."""

from __future__ import annotations

import importlib

import pytest

from kafka.net.sasl.oauth import AbstractTokenProvider, OAuthBearer

pytestmark = pytest.mark.once


@pytest.mark.parametrize("path", ["kafka.oauth", "kafka.oauth.abstract", "kafka.sasl.oauth"])
def test_all_paths_have_the_same_class(path: str) -> None:
    assert importlib.import_module(path).AbstractTokenProvider is AbstractTokenProvider


def test_a_provider_requires_a_token_and_may_have_extensions() -> None:
    class Provider(AbstractTokenProvider):
        def token(self) -> str:
            return "secret"

    assert OAuthBearer(Provider(any_setting=1)).first() == b"n,,\x01auth=Bearer secret\x01\x01"
    with pytest.raises(TypeError, match="abstract"):
        AbstractTokenProvider()  # type: ignore[abstract]
