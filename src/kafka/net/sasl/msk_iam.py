"""AWS_MSK_IAM: authenticates to Amazon's brokers with a request to AWS, signed by botocore with AWS credentials.

All calls block, because credentials may come from an AWS service. They run in the threads of
`kafka.net.helper_threads`.
"""

import functools
import json
import re
import urllib.parse
from typing import Any, Self

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.net.fork import after_fork
from kafka.version import DISTRIBUTION_VERSION

_VERSION = "2020_10_22"
_ACTION = "kafka-cluster:Connect"
_SERVICE = "kafka-cluster"
_LIFE_S = 900
_REGION = re.compile(r"\.([a-z]{2}(?:-[a-z]+)+-\d+)\.(?:vpce\.)?amazonaws\.com(?:\.cn)?\.?\Z")


class MskIam:
    """An AWS_MSK_IAM exchange.

    Arguments:
        host: the broker's host name. It is part of the signed request, which is therefore useless for other hosts.
    """

    def __init__(self, security: SecurityOptions, host: str) -> None:
        self._security, self._host = security, host
        self._asked = False

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange with the credentials in the given options."""
        return cls(security, host)

    def first(self) -> bytes:
        """Return the signed request, as JSON."""
        try:
            import botocore.exceptions as aws
        except ImportError as error:
            raise KafkaConfigurationError(
                f"sasl_mechanism 'AWS_MSK_IAM' requires botocore ({error}): pip install 'kafka-columnar[aws]'"
            ) from error
        try:
            credentials, region = self._credentials()
        except (
            aws.HTTPClientError,
            aws.ConnectionError,
            aws.MetadataRetrievalError,
            aws.CredentialRetrievalError,
        ) as error:
            raise KafkaConnectionError(f"cannot request credentials from AWS: {error}") from None
        except aws.ClientError as error:
            if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400) >= 500 or _is_throttling(error):
                raise KafkaConnectionError(f"AWS temporarily provides no credentials: {error}") from None
            raise SaslAuthenticationFailedError(f"AWS provides no credentials: {error}") from None
        except aws.BotoCoreError as error:
            raise KafkaConfigurationError(f"the AWS configuration cannot be used: {error}") from None
        return json.dumps(signed(self._host, region, credentials), separators=(",", ":")).encode()

    def answer(self, challenge: bytes) -> bytes | None:
        """Check the broker's confirmation."""
        try:
            found = json.loads(challenge)
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("version") != _VERSION:
            raise SaslAuthenticationFailedError(
                f"expected a broker's answer of version {_VERSION} to AWS_MSK_IAM, got {challenge[:80]!r}"
            )
        return None

    def _credentials(self) -> tuple[Any, str]:
        """Return the credentials to sign with, and the region of the brokers."""
        import botocore.session

        security = self._security
        session = botocore.session.Session(profile=security.sasl_msk_iam_profile)
        match = _REGION.search(self._host)
        region = security.sasl_msk_iam_region or (match and match[1]) or session.get_config_variable("region")
        if not region:
            raise KafkaConfigurationError(
                f"the AWS region of {self._host!r} is unknown: set 'sasl_msk_iam_region' or AWS_DEFAULT_REGION"
            )
        role = security.sasl_msk_iam_role_arn
        if role is None:
            found = session.get_credentials()
        else:
            found = _role_credentials(
                security.sasl_msk_iam_profile,
                role,
                security.sasl_msk_iam_role_session_name,
                security.sasl_msk_iam_role_external_id,
                security.sasl_msk_iam_sts_region or region,
            )
        if found is None:
            raise KafkaConfigurationError(
                "no AWS credentials found: set 'sasl_msk_iam_profile', or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or another source that botocore uses"
            )
        return found.get_frozen_credentials(), region


@functools.lru_cache(maxsize=32)
def _role_credentials(profile: str | None, role: str, name: str, external_id: str | None, region: str) -> Any:
    """Return a role's credentials, which botocore renews before they expire; all connections share one object."""
    import botocore.session
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials

    session = botocore.session.Session(profile=profile)
    source = session.get_credentials()
    if source is None:
        return None
    arguments = {"RoleSessionName": name}
    if external_id is not None:
        arguments["ExternalId"] = external_id
    create = functools.partial(session.create_client, region_name=region)
    fetcher = AssumeRoleCredentialFetcher(create, source, role, extra_args=arguments)
    return DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")


# A child cannot use an object whose lock a thread of its parent may hold.
after_fork(_role_credentials.cache_clear)


def _is_throttling(error: Any) -> bool:
    return "Throttl" in str(error.response.get("Error", {}).get("Code", ""))


def signed(host: str, region: str, credentials: Any) -> dict[str, str]:
    """Return the message to a broker: the parts of a URL, signed (SigV4) with botocore's frozen `credentials`."""
    from botocore.auth import SigV4QueryAuth
    from botocore.awsrequest import AWSRequest

    query = urllib.parse.urlencode({"Action": _ACTION})
    request = AWSRequest("GET", f"https://{host}/?{query}")
    SigV4QueryAuth(credentials, _SERVICE, region, expires=_LIFE_S).add_auth(request)
    parts = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.url).query))
    return {
        "version": _VERSION,
        "host": host,
        "user-agent": f"kafka-columnar/{DISTRIBUTION_VERSION}",
        **{name.lower(): value for name, value in parts.items()},
    }
