"""Options of TLS and SASL; and a broker that is not there."""

import asyncio
import ssl

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError, KafkaError
from aiokafka.helpers import create_ssl_context


class Tokens(AbstractTokenProvider):
    async def token(self):
        return "a.b.c"


async def main():
    context = create_ssl_context()
    print(type(context) is ssl.SSLContext, context.verify_mode == ssl.CERT_REQUIRED, context.check_hostname)
    for options in (
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
    ):
        for client in (
            AIOKafkaProducer(bootstrap_servers="127.0.0.1:1", **options),
            AIOKafkaConsumer(bootstrap_servers=["127.0.0.1:1"], **options),
        ):
            try:
                await client.start()
            except KafkaConnectionError as error:
                print(type(client).__name__, "is refused:", isinstance(error, KafkaError))
            finally:
                await client.stop()
    for wrong in ({"security_protocol": "SLS"}, {"acks": 7}):
        try:
            AIOKafkaProducer(**wrong)
        except ValueError:
            print("wrong", sorted(wrong))


asyncio.run(main())
