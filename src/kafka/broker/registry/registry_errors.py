"""What the registry refuses, with Confluent's error codes and texts."""

from __future__ import annotations


class Refused(Exception):
    """A request is refused.

    Arguments:
        code: the registry's error code; its first three digits are HTTP's status.
        message: for whoever asked.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """HTTP's status."""
        return int(str(self.code)[:3])


def subject_not_found(subject: str) -> Refused:
    """There is no such subject."""
    return Refused(40401, f"Subject '{subject}' not found.")


def version_not_found(version: int) -> Refused:
    """There is no such version."""
    return Refused(40402, f"Version {version} not found.")


def schema_not_found(schema_id: object = None) -> Refused:
    """There is no such schema."""
    return Refused(40403, "Schema not found" if schema_id is None else f"Schema {schema_id} not found")


def subject_soft_deleted(subject: str) -> Refused:
    """A subject was deleted before, though not for good."""
    return Refused(40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently")


def subject_not_soft_deleted(subject: str) -> Refused:
    """A subject is to be deleted for good that was not deleted before."""
    return Refused(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_soft_deleted(subject: str, version: int) -> Refused:
    """A version was deleted before, though not for good."""
    return Refused(
        40406, f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently"
    )


def version_not_soft_deleted(subject: str, version: int) -> Refused:
    """A version is to be deleted for good that was not deleted before."""
    return Refused(
        40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    )


def no_compatibility(subject: str) -> Refused:
    """A subject has no settings of its own."""
    return Refused(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_mode(subject: str) -> Refused:
    """A subject has no mode of its own."""
    return Refused(40409, f"Subject '{subject}' does not have subject-level mode configured")


def incompatible(subject: str, reasons: list[str]) -> Refused:
    """A schema breaks the compatibility that its subject asks for."""
    details = ", ".join(reasons)
    return Refused(
        409,
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{details}]',
    )


def invalid_schema(why: str) -> Refused:
    """A text is no schema."""
    return Refused(42201, f"Invalid schema: {why}")


def invalid_version(given: str) -> Refused:
    """A version is no number and not the newest."""
    return Refused(
        42202,
        f"The specified version '{given}' is not a valid version id. Allowed values are between [1, 2^31-1] and the "
        'string "latest"',
    )


def invalid_compatibility() -> Refused:
    """There is no such compatibility level."""
    return Refused(
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive",
    )


def invalid_mode() -> Refused:
    """There is no such mode."""
    return Refused(42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, IMPORT and FORWARD")


def not_permitted(why: str) -> Refused:
    """The mode forbids it."""
    return Refused(42205, why)


def reference_exists(subject: str, version: int) -> Refused:
    """Other schemas refer to what is to be deleted."""
    return Refused(
        42206,
        f"One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},version={version}}}.",
    )


def invalid_subject(subject: str) -> Refused:
    """A text is no name of a subject."""
    return Refused(42208, f"The specified subject '{subject}' is not a valid.")
