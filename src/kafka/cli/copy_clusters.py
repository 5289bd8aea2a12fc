"""The two clusters of ``kafka copy``: the session of the target, and the partitions on both sides.

`copy.py` has the options and the copy.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.session import Session

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient


def target_session(session: Session, where: Mapping[str, Any]) -> Session:
    """Return a session for the target, with the source's settings unless another cluster is given."""
    names = ("to_bootstrap_servers", "to_profile", "to_config", "to_extra_config")
    if not any(where[name] for name in names):
        return session
    return Session(
        {
            "bootstrap_servers": where["to_bootstrap_servers"],
            "profile": where["to_profile"],
            "config_file": where["to_config"],
            "extra_config": where["to_extra_config"],
            "security_protocol": None,
            "sasl_mechanism": None,
            "sasl_user": None,
            "sasl_password": None,
            "as_json": session.output.as_json,
            "titles": None,
            "color": None,
            "log_level": None,
        },
        prefix="--to-",
    )


def partitions_to_copy(
    admin: "KafkaAdminClient", other: "KafkaAdminClient", source: str, target: str, create: bool
) -> list[int]:
    """Return the source's partition numbers, all of which the target has as well. Raises `click.ClickException`."""
    from kafka.cli.topic_ranges import partitions_of
    from kafka.errors import UnknownTopicOrPartitionError, UnsupportedVersionError, for_code

    found = [tp.partition for tp in partitions_of(admin, [source])]
    (there,) = other.describe_topics([target])
    if there["error_code"] == UnknownTopicOrPartitionError.errno:
        if create:
            try:
                other.create_topics({target: {"num_partitions": len(found)}}, wait_for_metadata=True)
            except UnsupportedVersionError as error:
                raise click.ClickException(
                    "brokers before Kafka 2.4 have no default replication factor: create the target first, with "
                    f"'kafka topics create {target} -p {len(found)} -r COUNT'"
                ) from error
    elif there["error_code"]:
        raise for_code(there["error_code"])(f"cannot describe the target {target!r}")
    elif len(there["partitions"]) < len(found):
        raise click.ClickException(
            f"{target} has {len(there['partitions'])} partitions, {source} has {len(found)}: add some with 'kafka "
            f"topics alter {target} -p {len(found)}'"
        )
    return found
