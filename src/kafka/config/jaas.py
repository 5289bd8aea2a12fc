"""Parses the property sasl.jaas.config of Kafka's Java clients, and converts it to options."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from kafka.config.sasl_mechanisms import mechanisms_of_login_module
from kafka.errors import KafkaConfigurationError

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<sign>[=;])
    | (?P<word>[^\s"'=;]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}
_FLAGS = ("required", "requisite", "sufficient", "optional")
_WORKS = 'MODULE required name="value" ...;'


@dataclasses.dataclass(frozen=True)
class JaasEntry:
    """One login module.

    Arguments:
        module: name of the class, without its package.
    """

    module: str
    options: Mapping[str, str] = dataclasses.field(repr=False)


def parse_jaas(text: str) -> JaasEntry:
    """Parse the single entry of a ``sasl.jaas.config``.

    Raises `KafkaConfigurationError`, whose message never contains a value, because values may be passwords.
    """
    tokens = _tokens(text)
    if not tokens:
        raise _wrong("it is empty")
    if len(tokens) < 2 or tokens[0][0] != "word" or tokens[1][1].lower() not in _FLAGS:
        raise _wrong("expected the name of a login module and 'required' first")
    options: dict[str, str] = {}
    place = 2
    while place < len(tokens) and tokens[place] != ("sign", ";"):
        name = tokens[place]
        if name[0] == "sign":
            raise _wrong(f"expected the name of an option, got {name[1]!r}")
        value = tokens[place + 2 : place + 3]
        if tokens[place + 1 : place + 2] != [("sign", "=")] or not value or value[0][0] == "sign":
            raise _wrong(f"option {_harmless(name)} has no value")
        options[name[1]] = value[0][1]
        place += 3
    if place >= len(tokens):
        raise _wrong("it does not end with a semicolon")
    if place + 1 < len(tokens):
        raise _wrong("expected one login module, but there is more than one entry, or text after the semicolon")
    return JaasEntry(tokens[0][1].rpartition(".")[2], options)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise _wrong(f"the quotation mark at character {place + 1} is not closed on its line")
        place, kind, value = match.end(), str(match.lastgroup), match[0]
        if kind == "quoted":
            value = _ESCAPE.sub(_unescaped, value[1:-1])
        if kind != "space":
            found.append((kind, value))
    return found


def _unescaped(match: re.Match[str]) -> str:
    what = match[1]
    return chr(int(what, 8)) if what.isdigit() and what[0] < "8" else _NAMED.get(what, what)


def _harmless(name: tuple[str, str]) -> str:
    """Return a name for an error message, but hide quoted text or text unlike a name: it may be a misplaced secret."""
    return repr(name[1]) if name[0] == "word" and re.fullmatch(r"[A-Za-z][\w.]{0,40}", name[1]) else "(not shown)"


def _wrong(why: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(f"cannot parse 'sasl.jaas.config': {why}. Expected: {_WORKS}")


# Options of the login modules

_Take = Callable[[dict[str, str]], dict[str, Any]]


def _credentials(options: dict[str, str]) -> dict[str, Any]:
    user, password = options.pop("username", None), options.pop("password", None)
    if user is None or password is None:
        raise KafkaConfigurationError("'sasl.jaas.config' must contain 'username' and 'password'")
    found: dict[str, Any] = {"sasl_plain_username": user, "sasl_plain_password": password}
    if options.pop("tokenauth", "").lower() == "true":
        found["sasl_scram_tokenauth"] = True
    return found


_OAUTH = {
    "clientId": "sasl_oauthbearer_client_credentials_client_id",
    "clientSecret": "sasl_oauthbearer_client_credentials_client_secret",
    "scope": "sasl_oauthbearer_scope",
    "ssl.truststore.location": "sasl_oauthbearer_ssl_cafile",
}
_CLAIM = re.compile(r"unsecuredLogin(String|Number|List)Claim_(.+)")


def _oauth(options: dict[str, str]) -> dict[str, Any]:
    found = _named(options, _OAUTH)
    if options.get("ssl.truststore.type", "PEM").upper() == "PEM":
        options.pop("ssl.truststore.type", None)
    extensions = [(name, options.pop(name)) for name in list(options) if name.startswith("extension_")]
    if extensions:
        pairs = [(name.removeprefix("extension_"), value) for name, value in extensions]
        found["sasl_oauthbearer_extensions"] = tuple(pairs)
    claims = [(match, options.pop(match[0])) for match in map(_CLAIM.fullmatch, list(options)) if match]
    if claims:
        found["sasl_oauthbearer_unsecured_claims"] = tuple((m[2], _claim(m[1], m[2], text)) for m, text in claims)
    return found


def _claim(kind: str, name: str, text: str) -> Any:
    if kind == "List":  # the first character is the separator
        return tuple(text[1:].split(text[0])) if text else ()
    if kind == "String":
        return text
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise KafkaConfigurationError(f"'sasl.jaas.config' contains a claim {name!r} that is not a number") from None


def _kerberos(options: dict[str, str]) -> dict[str, Any]:
    uses_keytab = options.pop("useKeyTab", options.pop("useKeytab", "false")).lower() == "true"
    keytab, cache = options.pop("keyTab", None), options.pop("ticketCache", None)
    found = _named(options, {"principal": "sasl_kerberos_principal", "serviceName": "sasl_kerberos_service_name"})
    if uses_keytab and keytab is not None:
        found["sasl_kerberos_keytab"] = keytab.removeprefix("FILE:")
    if cache is not None and options.get("useTicketCache", "").lower() == "true":
        found["sasl_kerberos_ccache"] = cache
    for name in ("useTicketCache", "storeKey", "doNotPrompt", "refreshKrb5Config", "isInitiator", "renewTGT", "debug"):
        options.pop(name, None)
    return found


_IAM = {
    "awsProfileName": "sasl_msk_iam_profile",
    "awsRoleArn": "sasl_msk_iam_role_arn",
    "awsRoleSessionName": "sasl_msk_iam_role_session_name",
    "awsRoleExternalId": "sasl_msk_iam_role_external_id",
    "awsStsRegion": "sasl_msk_iam_sts_region",
}


def _named(options: dict[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    return {ours: options.pop(name) for name, ours in names.items() if name in options}


_MODULES: dict[str, _Take] = {
    "PlainLoginModule": _credentials,
    "ScramLoginModule": _credentials,
    "OAuthBearerLoginModule": _oauth,
    "Krb5LoginModule": _kerberos,
    "IAMLoginModule": lambda options: _named(options, _IAM),
}
"""Maps each login module to a function that removes its options from a dict and returns keyword arguments."""


def options_of_jaas(text: str, mechanism: str) -> tuple[dict[str, Any], list[str]]:
    """Convert ``sasl.jaas.config`` to keyword arguments; also return the names in it that have no meaning here.

    Arguments:
        mechanism: the property ``sasl.mechanism``.

    Raises `KafkaConfigurationError` for a syntax error, an unknown login module, and a login module for another
    mechanism.
    """
    entry = parse_jaas(text)
    if entry.module not in _MODULES:
        raise KafkaConfigurationError(
            f"'sasl.jaas.config' names the login module {entry.module!r}; supported are {', '.join(_MODULES)}"
        )
    mechanisms = mechanisms_of_login_module(entry.module)
    if mechanism not in mechanisms:
        raise KafkaConfigurationError(
            f"'sasl.jaas.config' contains {entry.module}, which is for {', '.join(mechanisms)}, but 'sasl.mechanism' "
            f"is {mechanism!r} (Java's default is 'GSSAPI')"
        )
    rest = dict(entry.options)
    return _MODULES[entry.module](rest), [f"{name} of sasl.jaas.config" for name in rest]
