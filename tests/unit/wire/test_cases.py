"""Every message and version, compared with bytes from Apache Kafka's own codec."""

from __future__ import annotations

from collections.abc import Callable

from kafka.wire import message_names

from .messages import Case, cases


def failures(check: Callable[[Case], bool]) -> list[str]:
    """Return the cases for which a check fails or raises."""
    found = []
    for case in cases():
        try:
            if not check(case):
                found.append(str(case))
        except Exception as error:
            found.append(f"{case}: {error!r}")
    return found


def test_bytes_decode_to_kafkas_json() -> None:
    assert failures(lambda case: case.message.decode(case.data, case.version).to_dict(case.version) == case.json) == []


def test_json_encodes_to_the_bytes_kafka_writes() -> None:
    assert (
        failures(lambda case: case.message.from_dict(case.json, case.version).encode(case.version) == case.data) == []
    )


def test_a_decoded_message_encodes_to_its_bytes_again() -> None:
    assert failures(lambda case: case.message.decode(case.data, case.version).encode(case.version) == case.data) == []


def test_a_message_from_json_equals_the_decoded_one() -> None:
    def same(case: Case) -> bool:
        return case.message.from_dict(case.json, case.version) == case.message.decode(case.data, case.version)

    assert failures(same) == []


def test_the_parts_of_a_message_add_up_to_its_bytes() -> None:
    def same(case: Case) -> bool:
        return b"".join(case.message.decode(case.data, case.version).encode_parts(case.version)) == case.data

    assert failures(same) == []


def test_every_version_of_every_message_has_cases() -> None:
    covered = {(case.name, case.version) for case in cases()}
    assert len(cases()) == 3905
    assert {name for name, _ in covered} == set(message_names())
    messages = {case.name: case.message for case in cases() if case.release == "4.3.0"}
    messages.update({case.name: case.message for case in cases() if case.name not in messages})
    expected = {
        (name, version)
        for name, message in messages.items()
        for version in range(message.MIN_VERSION, message.MAX_VERSION + 1)
    }
    assert covered == expected
