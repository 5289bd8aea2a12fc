"""The registry's errors, with Confluent's error codes and messages."""

from __future__ import annotations


class Refused(Exception):
    """Raised if a request is rejected.

    Arguments:
        code: the registry's error code; its first three digits are the HTTP status.
        message: the message for the client.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(str(self.code)[:3])


def subject_not_found(subject: str) -> Refused:
    """The subject does not exist."""
    return Refused(40401, f"Subject '{subject}' not found.")


def version_not_found(version: int) -> Refused:
    """The version does not exist."""
    return Refused(40402, f"Version {version} not found.")


def schema_not_found(schema_id: object = None) -> Refused:
    """The schema does not exist."""
    return Refused(40403, "Schema not found" if schema_id is None else f"Schema {schema_id} not found")


def subject_soft_deleted(subject: str) -> Refused:
    """The subject is already soft deleted."""
    return Refused(40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently")


def subject_not_soft_deleted(subject: str) -> Refused:
    """A subject must be soft deleted before it can be permanently deleted."""
    return Refused(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_soft_deleted(subject: str, version: int) -> Refused:
    """The version is already soft deleted."""
    return Refused(
        40406, f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently"
    )


def version_not_soft_deleted(subject: str, version: int) -> Refused:
    """A version must be soft deleted before it can be permanently deleted."""
    return Refused(
        40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    )


def no_compatibility(subject: str) -> Refused:
    """The subject has no compatibility level of its own."""
    return Refused(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_mode(subject: str) -> Refused:
    """The subject has no mode of its own."""
    return Refused(40409, f"Subject '{subject}' does not have subject-level mode configured")


def incompatible(subject: str, reasons: list[str]) -> Refused:
    """A schema violates its subject's compatibility level."""
    details = ", ".join(reasons)
    return Refused(
        409,
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{details}]',
    )


def invalid_schema(why: str) -> Refused:
    """The text is not a valid schema."""
    return Refused(42201, f"Invalid schema: {why}")


def invalid_version(given: str) -> Refused:
    """The version is neither a valid number nor "latest"."""
    return Refused(
        42202,
        f"The specified version '{given}' is not a valid version id. Allowed values are between [1, 2^31-1] and the "
        'string "latest"',
    )


def invalid_compatibility() -> Refused:
    """The compatibility level does not exist."""
    return Refused(
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive",
    )


def invalid_mode() -> Refused:
    """The mode does not exist."""
    return Refused(42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, IMPORT and FORWARD")


def not_permitted(why: str) -> Refused:
    """The mode does not permit the request."""
    return Refused(42205, why)


def reference_exists(subject: str, version: int) -> Refused:
    """Other schemas refer to the version that would be deleted."""
    return Refused(
        42206,
        f"One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},version={version}}}.",
    )


def invalid_subject(subject: str) -> Refused:
    """The text is not a valid subject name."""
    return Refused(42208, f"The specified subject '{subject}' is not a valid.")
