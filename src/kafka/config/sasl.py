"""SASL options: the mechanism, and the credentials for each mechanism."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from kafka.config.option import Parser, anything, boolean, choice, integer, invalid, number, option, path, text
from kafka.config.sasl_mechanisms import BUILT_IN_NAMES, find_mechanism

_TOKEN_CLAIMS = "Claims of unsigned tokens, for test brokers; if 'exp' is missing, tokens are valid for an hour."


def _mechanism(name: str, value: Any) -> str | None:
    """Return the registered spelling of a mechanism's name, ignoring case.

    An unknown name is kept: it is an error only if SASL is used.
    """
    found: str | None = text(none=True)(name, value)
    row = find_mechanism(found)
    return found if row is None else row.name


def _parse_pairs(name: str, value: Any) -> tuple[tuple[str, Any], ...]:
    """Parse a mapping, pairs, or 'name=value,name=value'; values are text, numbers or tuples of text."""
    if isinstance(value, str):
        value = [each.partition("=")[::2] for each in value.split(",") if each.strip()]
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple):
        raise invalid(name, "a dictionary or 'name=value,name=value'", value)
    found = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str) or not pair[0].strip():
            raise invalid(name, "a dictionary or 'name=value,name=value'", value)
        found.append((pair[0].strip(), tuple(pair[1]) if isinstance(pair[1], list) else pair[1]))
    return tuple(found)


_PAIRS = Parser(_parse_pairs, "Mapping[str, Any] | Sequence[tuple[str, Any]] | str")


@dataclasses.dataclass(frozen=True, repr=False)
class SaslOptions:
    """General SASL options, and the credentials for passwords, Kerberos and Amazon's IAM."""

    sasl_mechanism: str | None = option(
        None,
        Parser(_mechanism, "str | None"),
        ", ".join(map(repr, BUILT_IN_NAMES[:-1])) + f" or {BUILT_IN_NAMES[-1]!r}.",
        "sasl.mechanism",
    )
    sasl_plain_username: str | None = option(None, text(none=True), "User name for PLAIN and SCRAM.")
    sasl_plain_password: str | None = option(None, text(none=True), "Password for PLAIN and SCRAM.")
    sasl_scram_tokenauth: bool = option(
        False, boolean, "Whether user name and password are the id and HMAC of a delegation token (KIP-48)."
    )
    sasl_kerberos_service_name: str = option(
        "kafka", text(empty=False), "Service name in the brokers' Kerberos principal.", "sasl.kerberos.service.name"
    )
    sasl_kerberos_domain_name: str | None = option(
        None, text(none=True), "Host name in the brokers' Kerberos principal; None: the host of the connection."
    )
    sasl_kerberos_name: Any = option(
        None, anything, "The brokers' full Kerberos name, as text or a gssapi.Name; replaces the two options above."
    )
    sasl_kerberos_principal: str | None = option(
        None, text(none=True), "Kerberos principal of the client; None: from the ticket cache or keytab."
    )
    sasl_kerberos_keytab: str | None = option(
        None, path, "Kerberos keytab of the client; None: KRB5_CLIENT_KTNAME, or a ticket cache."
    )
    sasl_kerberos_ccache: str | None = option(
        None,
        text(none=True),
        "Kerberos ticket cache, such as 'FILE:/tmp/krb5cc_0'; None: KRB5CCNAME, or the default cache.",
    )
    sasl_msk_iam_region: str | None = option(
        None, text(none=True), "AWS region of the brokers; None: from their host names or the AWS configuration."
    )
    sasl_msk_iam_profile: str | None = option(None, text(none=True), "Profile of the AWS configuration.")
    sasl_msk_iam_role_arn: str | None = option(None, text(none=True), "ARN of an AWS role to assume.")
    sasl_msk_iam_role_session_name: str = option(
        "kafka-columnar", text(empty=False), "Session name for the assumed role."
    )
    sasl_msk_iam_role_external_id: str | None = option(None, text(none=True), "External id for assuming the role.")
    sasl_msk_iam_sts_region: str | None = option(
        None, text(none=True), "AWS region of the STS endpoint; None: the region of the brokers."
    )
    sasl_login_connect_timeout_ms: int = option(
        10_000, integer(1), "Maximum time to connect to the token endpoint.", "sasl.login.connect.timeout.ms"
    )
    sasl_login_read_timeout_ms: int = option(
        10_000, integer(1), "Maximum time to wait for the token endpoint's response.", "sasl.login.read.timeout.ms"
    )
    sasl_login_refresh_window_factor: float = option(
        0.8,
        number(0.0),
        "Fraction of a token's lifetime after which it is refreshed.",
        "sasl.login.refresh.window.factor",
    )


@dataclasses.dataclass(frozen=True, repr=False)
class OAuthBearerOptions:
    """Options for OAUTHBEARER: a token provider, or tokens from an OAuth or OIDC server.

    See KIP-768, KIP-1139 and KIP-1258.
    """

    sasl_oauth_token_provider: Any = option(
        None,
        anything,
        "Object whose token() returns an OAuth bearer token; replaces the sasl_oauthbearer_ options.",
    )
    sasl_oauthbearer_token_endpoint_url: str | None = option(
        None,
        text(none=True),
        "URL of the token endpoint; a file: URL names a file that contains the token.",
        "sasl.oauthbearer.token.endpoint.url",
    )
    sasl_oauthbearer_client_credentials_client_id: str | None = option(
        None, text(none=True), "Client id for the token endpoint.", "sasl.oauthbearer.client.credentials.client.id"
    )
    sasl_oauthbearer_client_credentials_client_secret: str | None = option(
        None,
        text(none=True),
        "Client secret for the token endpoint.",
        "sasl.oauthbearer.client.credentials.client.secret",
    )
    sasl_oauthbearer_scope: str | None = option(None, text(none=True), "Scope to request.", "sasl.oauthbearer.scope")
    sasl_oauthbearer_header_urlencode: bool = option(
        False,
        boolean,
        "Whether to URL-encode the client id and secret, as RFC 6749 requires.",
        "sasl.oauthbearer.header.urlencode",
    )
    sasl_oauthbearer_extensions: tuple[tuple[str, str], ...] = option(
        (), _PAIRS, "SASL extensions to send with the token."
    )
    sasl_oauthbearer_ssl_cafile: str | None = option(
        None,
        path,
        "PEM file of trusted certificate authorities for the token endpoint; None: those of the HTTP library.",
    )
    sasl_oauthbearer_assertion_algorithm: str = option(
        "RS256",
        choice({"rs256": "RS256", "es256": "ES256"}),
        "Signature algorithm of the assertion, 'RS256' or 'ES256'.",
        "sasl.oauthbearer.assertion.algorithm",
    )
    sasl_oauthbearer_assertion_private_key_file: str | None = option(
        None,
        path,
        "PEM file of the private key that signs assertions; enables the JWT bearer grant (RFC 7523).",
        "sasl.oauthbearer.assertion.private.key.file",
    )
    sasl_oauthbearer_assertion_private_key_passphrase: str | None = option(
        None, text(none=True), "Passphrase of the private key.", "sasl.oauthbearer.assertion.private.key.passphrase"
    )
    sasl_oauthbearer_assertion_file: str | None = option(
        None,
        path,
        "File with a ready-made assertion, used instead of a key; read for each token.",
        "sasl.oauthbearer.assertion.file",
    )
    sasl_oauthbearer_assertion_template_file: str | None = option(
        None,
        path,
        'JSON file with additional content of the assertion:  {"header": {...}, "payload": {...}}.',
        "sasl.oauthbearer.assertion.template.file",
    )
    sasl_oauthbearer_assertion_claim_aud: str | None = option(
        None, text(none=True), "'aud' claim of the assertion.", "sasl.oauthbearer.assertion.claim.aud"
    )
    sasl_oauthbearer_assertion_claim_iss: str | None = option(
        None, text(none=True), "'iss' claim of the assertion.", "sasl.oauthbearer.assertion.claim.iss"
    )
    sasl_oauthbearer_assertion_claim_sub: str | None = option(
        None, text(none=True), "'sub' claim of the assertion.", "sasl.oauthbearer.assertion.claim.sub"
    )
    sasl_oauthbearer_assertion_claim_exp_seconds: int = option(
        300, integer(0, 86_400), "Lifetime of an assertion in seconds.", "sasl.oauthbearer.assertion.claim.exp.seconds"
    )
    sasl_oauthbearer_assertion_claim_nbf_seconds: int = option(
        60,
        integer(0, 3_600),
        "Seconds before its creation from which an assertion is valid.",
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
    )
    sasl_oauthbearer_assertion_claim_jti_include: bool = option(
        False,
        boolean,
        "Whether to include a unique 'jti' claim in an assertion.",
        "sasl.oauthbearer.assertion.claim.jti.include",
    )
    sasl_oauthbearer_unsecured_claims: tuple[tuple[str, Any], ...] = option((), _PAIRS, _TOKEN_CLAIMS)
