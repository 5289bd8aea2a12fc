"""AWS_MSK_IAM: the signature equals that of the AWS package, and the exchange is that of AWS's brokers."""

import base64
import datetime
import json
import sys
import urllib.parse

import botocore.auth
import pytest
from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
from botocore import exceptions as aws
from botocore.credentials import CredentialProvider, Credentials

from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.net import open_connection
from kafka.net.sasl import msk_iam
from kafka.net.sasl.msk_iam import MskIam, signed
from kafka.wire.api.sasl_authenticate import SaslAuthenticateResponse
from kafka.wire.api.sasl_handshake import SaslHandshakeResponse
from unit.net.scripted import ScriptedBroker

pytestmark = pytest.mark.once
KEYS = Credentials("AKIDEXAMPLE", "hunter2", "session/token+==")
NOW = datetime.datetime(2026, 11, 25, 1, 2, 3, tzinfo=datetime.UTC)
HOST = "b-1.test.abc.c2.kafka.eu-west-1.amazonaws.com"
AGREED = b'{"version":"2020_10_22","request-id":"r"}'


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """Provide only the test's credentials, and a fixed time."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("ACCESS_KEY_ID", KEYS.access_key), ("SECRET_ACCESS_KEY", KEYS.secret_key)):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda remove_tzinfo=True: NOW.replace(tzinfo=None))
    msk_iam._role_credentials.cache_clear()


def security(**options):
    return parse_admin({"security_protocol": "SASL_SSL", "sasl_mechanism": "AWS_MSK_IAM", **options}).security


def test_the_signature_equals_that_of_the_aws_package(monkeypatch):
    region = "us-east-1"

    class Provider(CredentialProvider):
        def load(self):
            return KEYS

    token, _ = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(region, Provider())
    url = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    theirs = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
    ours = signed(f"kafka.{region}.amazonaws.com", region, KEYS.get_frozen_credentials())
    theirs.pop("User-Agent")
    assert {name.lower(): value for name, value in theirs.items()} == {
        name: value for name, value in ours.items() if name not in ("version", "host", "user-agent")
    }
    assert ours["x-amz-date"] == "20261125T010203Z"
    assert len(ours["x-amz-signature"]) == 64


def test_the_message_is_what_brokers_expect():
    found = json.loads(MskIam(security(), HOST).first())
    assert set(found) == {
        "version",
        "host",
        "user-agent",
        "action",
        "x-amz-algorithm",
        "x-amz-credential",
        "x-amz-date",
        "x-amz-expires",
        "x-amz-signedheaders",
        "x-amz-signature",
    }
    assert (found["version"], found["host"], found["action"]) == ("2020_10_22", HOST, "kafka-cluster:Connect")
    assert found["x-amz-credential"] == "AKIDEXAMPLE/20261125/eu-west-1/kafka-cluster/aws4_request"
    assert "hunter2" not in json.dumps(found)


@pytest.mark.parametrize(
    ("host", "options", "region"),
    [
        (HOST, {}, "eu-west-1"),
        (HOST, {"sasl_msk_iam_region": "eu-south-2"}, "eu-south-2"),
        ("boot-abc.c1.kafka-serverless.us-gov-west-1.amazonaws.com", {}, "us-gov-west-1"),
        ("b-1.x.kafka.cn-north-1.amazonaws.com.cn", {}, "cn-north-1"),
        ("localhost", {"sasl_msk_iam_profile": "dev"}, "ap-south-1"),
    ],
)
def test_the_region_is_given_or_configured_or_part_of_the_brokers_name(tmp_path, host, options, region):
    (tmp_path / "config").write_text("[profile dev]\nregion=ap-south-1\naws_access_key_id=K\naws_secret_access_key=S\n")
    found = json.loads(MskIam(security(**options), host).first())
    assert found["x-amz-credential"].split("/")[2] == region


def test_a_role_is_assumed_once_for_all_connections(monkeypatch):
    asked = []

    class Sts:
        def assume_role(self, **arguments):
            asked.append(arguments)
            until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
            keys = {"AccessKeyId": "ROLE", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": until.isoformat()}
            return {"Credentials": keys, "AssumedRoleUser": {"Arn": "a", "AssumedRoleId": "i"}}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("botocore.session.Session.create_client", lambda self, name, **_: Sts())
    options = security(sasl_msk_iam_role_arn="arn:aws:iam::1:role/r", sasl_msk_iam_role_external_id="e")
    for _ in range(2):
        found = json.loads(MskIam(options, HOST).first())
        assert found["x-amz-credential"].startswith("ROLE/")
        assert found["x-amz-security-token"] == "t"
    assert asked == [
        {"RoleArn": "arn:aws:iam::1:role/r", "RoleSessionName": "kafka-columnar", "ExternalId": "e"},
    ]


def test_missing_settings_are_reported(monkeypatch):
    with pytest.raises(KafkaConfigurationError, match="'sasl_msk_iam_region'"):
        MskIam(security(), "localhost").first()
    with pytest.raises(KafkaConfigurationError, match="none"):
        MskIam(security(sasl_msk_iam_profile="none"), HOST).first()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(KafkaConfigurationError, match="no AWS credentials"):
        MskIam(security(), HOST).first()
    monkeypatch.setitem(sys.modules, "botocore.exceptions", None)
    with pytest.raises(KafkaConfigurationError, match=r"kafka-columnar\[aws\]"):
        MskIam(security(), HOST).first()


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (aws.EndpointConnectionError(endpoint_url="https://sts"), KafkaConnectionError),
        (aws.ConnectTimeoutError(endpoint_url="https://sts"), KafkaConnectionError),
        (aws.ReadTimeoutError(endpoint_url="https://sts"), KafkaConnectionError),
        (aws.MetadataRetrievalError(error_msg="away"), KafkaConnectionError),
        (aws.ClientError({"ResponseMetadata": {"HTTPStatusCode": 503}}, "AssumeRole"), KafkaConnectionError),
        (aws.ClientError({"Error": {"Code": "Throttling"}}, "AssumeRole"), KafkaConnectionError),
        (aws.ClientError({"Error": {"Code": "AccessDenied"}}, "AssumeRole"), SaslAuthenticationFailedError),
        (aws.PartialCredentialsError(provider="env", cred_var="x"), KafkaConfigurationError),
    ],
)
def test_temporary_failures_are_retriable(monkeypatch, raised, expected):
    def fail(_):
        raise raised

    monkeypatch.setattr("botocore.session.Session.get_credentials", fail)
    with pytest.raises(expected, match="AWS"):
        MskIam(security(), HOST).first()


@pytest.mark.parametrize("answer", [b"", b"{", b"[]", b'{"version":"2019"}', b"\xff"])
def test_an_invalid_answer_is_rejected(answer):
    with pytest.raises(SaslAuthenticationFailedError, match="2020_10_22"):
        MskIam(security(), HOST).answer(answer)


def is_signed_by_us(message):
    """Check what AWS's brokers check: the owner of the secret key has signed exactly this message, for this host."""
    found = json.loads(message)
    again = signed(found["host"], found["x-amz-credential"].split("/")[2], KEYS_OF_ENV.get_frozen_credentials())
    return again["x-amz-signature"] == found["x-amz-signature"]


KEYS_OF_ENV = Credentials(KEYS.access_key, KEYS.secret_key)


@pytest.mark.parametrize("right", [True, False])
async def test_the_exchange_with_a_broker(monkeypatch, right):
    if not right:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")

    def authenticate(_, request):
        if is_signed_by_us(request.auth_bytes):
            return SaslAuthenticateResponse(auth_bytes=AGREED)
        return SaslAuthenticateResponse(error_code=58, error_message="Access denied")

    async with ScriptedBroker(served=("ApiVersions", "SaslHandshake", "SaslAuthenticate")) as broker:
        broker.on("SaslHandshake", lambda *_: SaslHandshakeResponse(mechanisms=["AWS_MSK_IAM"]))
        broker.on("SaslAuthenticate", authenticate)
        options = {"sasl_msk_iam_region": "eu-west-1", "sasl_mechanism": "AWS_MSK_IAM"}
        parsed = parse_admin({"security_protocol": "SASL_PLAINTEXT", **options})
        opening = open_connection(broker.host, broker.port, parsed.connection, parsed.security)
        if right:
            await (await opening).close()
            return
        with pytest.raises(SaslAuthenticationFailedError, match="refused the AWS_MSK_IAM credentials: Access denied"):
            await opening
