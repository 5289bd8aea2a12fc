"""Options of TLS and SASL; and a broker that is not there."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError, KafkaError
from aiokafka.helpers import create_ssl_context

if TYPE_CHECKING:
    from kafka.config import CommonConfigs


class Tokens(AbstractTokenProvider):
    async def token(self) -> str:
        return "a.b.c"


async def main() -> None:
    context = create_ssl_context()
    print(type(context) is ssl.SSLContext, context.verify_mode == ssl.CERT_REQUIRED, context.check_hostname)
    secure: list[CommonConfigs] = [
        {"security_protocol": "SSL", "ssl_context": context},
        {
            "security_protocol": "SASL_SSL",
            "ssl_context": context,
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_plain_username": "ada",
            "sasl_plain_password": "secret",
        },
        {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": Tokens(),
        },
    ]
    for options in secure:
        options["bootstrap_servers"] = "127.0.0.1:1"
        for client in (AIOKafkaProducer(**options), AIOKafkaConsumer(**options)):
            try:
                await client.start()
            except KafkaConnectionError as error:
                print(type(client).__name__, "is refused:", isinstance(error, KafkaError))
            finally:
                await client.stop()
    mistaken: list[dict[str, Any]] = [{"security_protocol": "SLS"}, {"acks": 7}]
    for wrong in mistaken:
        try:
            AIOKafkaProducer(**wrong)
        except ValueError:
            print("wrong", sorted(wrong))


asyncio.run(main())
