"""Login at an OpenID Connect provider: the whole way, with a small provider, and what must not work."""

import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from kafka.broker import EmbeddedBroker
from kafka.ui.access.oidc_rules import OidcSettings, Rule, name_of, parse_rule
from kafka.ui.access.settings import AccessSettings
from kafka.ui.access.user import Role
from unit.ui.oidc_provider import CLIENT, SECRET, Provider, provider
from unit.ui.ui_support import Pages, pages_of, settings

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.fixture
def there() -> Iterator[Provider]:
    """A provider."""
    with provider() as made:
        yield made


def oidc(url: str, **own: Any) -> OidcSettings:
    """Return settings for a provider."""
    rules = {"viewers": (parse_rule("groups=staff"),), "operators": (parse_rule("groups=admins"),)}
    return OidcSettings(url, CLIENT, SECRET, **{**rules, **own})


@pytest.fixture
async def pages(broker: EmbeddedBroker, there: Provider) -> AsyncIterator[Pages]:
    """A UI whose users log in at the provider."""
    access = AccessSettings(oidc=oidc(there.url))
    async with pages_of(settings(broker.bootstrap_servers, access=access, allow_writes=True)) as made:
        yield made


async def return_of(pages: Pages, path: str = "/login-oidc?next=%2Fgroups%3Fa%3Db") -> str:
    """Log in at the provider; return the URL with which it sends the browser back."""
    to_provider = await pages.browser.get(path)
    assert to_provider.status_code == 302, to_provider.text
    async with httpx.AsyncClient() as browser:
        back = (await browser.get(to_provider.headers["location"])).headers["location"]
    assert isinstance(back, str)
    assert back.startswith("http://127.0.0.1:8085/login-callback?")
    return back


async def test_a_user_logs_in_at_the_provider_and_comes_back_to_the_page(pages: Pages) -> None:
    assert "login-oidc?next=%2Fgroups" in await pages.get("/login", next="/groups")
    back = await return_of(pages)
    begun = await pages.browser.get(back)
    assert (begun.status_code, begun.headers["location"]) == (303, "./groups?a=b")
    assert "ada, viewer" in await pages.get("/groups")
    assert (await pages.browser.get(back)).status_code == 401, "the same response of the provider must not work twice"


@pytest.mark.parametrize(
    ("claims", "shown"),
    [
        ({"groups": ["admins"]}, "operator"),
        ({"groups": "staff"}, "viewer"),
        ({"groups": ["adminsx", "staffx"]}, ""),
        ({"groups": []}, ""),
        ({"groups": None}, ""),
        ({"role": "admins"}, ""),
    ],
)
async def test_claims_decide_the_role(pages: Pages, there: Provider, claims: dict[str, Any], shown: str) -> None:
    there.claims = {"sub": "1", "preferred_username": "ada", **claims}
    answer = await pages.browser.get(await return_of(pages))
    if shown:
        assert f"ada, {shown}" in await pages.get("/groups")
    else:
        assert answer.status_code == 401
        assert "&#x27;ada&#x27; may not use this UI" in answer.text
        await pages.get("/groups", 401)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"key": RSAKey.generate_key(2048, {"kid": "first"})}, "ID token is not valid"),
        ({"issuer": "https://attacker.example"}, "iss"),
        ({"nonce": "of another login"}, "nonce"),
        ({"audience": "another application"}, "aud"),
        ({"lifetime_s": -1000}, "expired"),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
)
async def test_a_wrong_id_token_is_refused(pages: Pages, there: Provider, wrong: dict[str, Any], told: str) -> None:
    for name, value in wrong.items():
        setattr(there, name, value)
    answer = await pages.browser.get(await return_of(pages))
    assert answer.status_code == 401
    assert told in answer.text
    await pages.get("/groups", 401)


async def test_a_response_that_another_browser_asked_for_is_refused(pages: Pages) -> None:
    back = await return_of(pages)
    pages.browser.cookies.clear()
    assert (await pages.browser.get(back)).status_code == 401
    for query in ("", "?code=a&state=b", "?error=access_denied&error_description=<b>no</b>"):
        answer = await pages.browser.get(f"/login-callback{query}")
        assert answer.status_code == 401
        assert "<b>" not in answer.text
        assert ("this browser has not begun this login, or too long ago" in answer.text) == ("error" not in query)


async def test_a_provider_that_does_not_answer_is_reported(broker: EmbeddedBroker) -> None:
    with provider() as gone:
        url = gone.url
    access = AccessSettings(oidc=oidc(url))
    async with pages_of(settings(broker.bootstrap_servers, access=access)) as pages:
        assert "the provider does not answer" in await pages.get("/login-oidc", 502)


async def test_the_public_url_is_where_the_provider_sends_users_back(broker: EmbeddedBroker, there: Provider) -> None:
    access = AccessSettings(oidc=oidc(there.url), public_url="https://kafka.example")
    async with pages_of(settings(broker.bootstrap_servers, access=access, names=("kafka.example",))) as pages:
        answer = await pages.browser.get("/login-oidc")
        assert "redirect_uri=https%3A%2F%2Fkafka.example%2Flogin-callback" in answer.headers["location"]
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-kafka_ui_login_")
        assert "; Secure" in cookie


def test_rules_compare_whole_values_and_only_verified_addresses() -> None:
    assert parse_rule("*").fits({})
    assert parse_rule("groups=a=b") == Rule("groups", "a=b")
    assert parse_rule("email=a@example").fits({"email": "a@example", "email_verified": True})
    assert not parse_rule("email=a@example").fits({"email": "a@example"})
    assert not parse_rule("email=a@example").fits({"email": "a@example", "email_verified": "true"})
    assert not parse_rule("groups=a").fits({"groups": "aa"})
    for text in ("groups", "=a", "groups=", ""):
        with pytest.raises(ValueError, match="expected CLAIM=VALUE"):
            parse_rule(text)


def test_settings_of_a_provider() -> None:
    assert oidc("https://id.example/").discovery_url == "https://id.example/.well-known/openid-configuration"
    whole = "https://id.example/x/.well-known/openid-configuration"
    assert oidc(whole).discovery_url == whole
    for url in ("http://id.example", "ftp://id.example", "id.example", "http://127.0.0.1.id.example"):
        with pytest.raises(ValueError, match="expected an https URL"):
            assert oidc(url).discovery_url
    assert SECRET not in repr(oidc("https://id.example"))
    both = {"groups": ["staff", "admins"]}
    assert oidc("https://id.example").role_of(both) is Role.OPERATOR
    assert dataclasses.replace(oidc("https://id.example"), operators=()).role_of(both) is Role.VIEWER
    assert [name_of(each) for each in ({"sub": "1"}, {"sub": "1", "email": "a@b"}, {})] == ["1", "a@b", "unknown"]
