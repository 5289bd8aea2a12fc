"""``kafka acls``: access control lists."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import note, printable
from kafka.cli.common_options import Choice, confirm, connected, yes_option
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

if TYPE_CHECKING:
    from kafka.admin import ACL, ACLFilter
    from kafka.admin.acls import MatchedACL

_TYPES = ("any", "topic", "group", "cluster", "transactional-id", "delegation-token", "user")
_OPERATIONS = (
    "any",
    "all",
    "read",
    "write",
    "create",
    "delete",
    "alter",
    "describe",
    "cluster-action",
    "describe-configs",
    "alter-configs",
    "idempotent-write",
    "create-tokens",
    "describe-tokens",
    "two-phase-commit",
)
_PATTERNS = ("any", "match", "literal", "prefixed")
_COLUMNS = ("principal", "host", "permission", "operation", "resource_type", "resource_name", "pattern")


class _Name(Choice):
    """A case-insensitive choice of Kafka's names, written with - or _."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See `click.Choice`."""
        return super().convert(value.lower().replace("_", "-") if isinstance(value, str) else value, param, ctx)


def _what(filters: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that describe a new ACL, or an ACL filter."""
    any_one = "any" if filters else None
    options = [
        click.option(
            "--principal", required=not filters, metavar="TYPE:NAME", help="The principal, such as User:alice."
        ),
        click.option(
            "--host", metavar="HOST", default=None if filters else "*", help="Host that the principal connects from."
        ),
        click.option(
            "--operation",
            type=_Name(_OPERATIONS),
            default=any_one,
            required=not filters,
            help="Operation that the ACLs are about." if filters else "Operation to allow or deny.",
        ),
        click.option(
            "--permission-type",
            "--permission",
            "permission",
            type=_Name(("any", "allow", "deny") if filters else ("allow", "deny")),
            default="any" if filters else "allow",
            show_default=True,
            help="Whether the ACLs allow or deny." if filters else "Whether to allow or deny the operation.",
        ),
        click.option(
            "--resource-type", type=_Name(_TYPES), default=any_one, required=not filters, help="Type of the resource."
        ),
        click.option(
            "--resource-name",
            metavar="NAME",
            required=not filters,
            help="Name of the resource, such as a topic; * for all.",
        ),
        click.option(
            "--pattern-type",
            "--pattern",
            "pattern",
            type=_Name(_PATTERNS if filters else ("literal", "prefixed")),
            default="any" if filters else "literal",
            show_default=True,
            help="How the ACLs match resource names; match finds all that apply to the given name."
            if filters
            else "Match the exact resource name, or all names that start with it.",
        ),
    ]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.group(name="acls", cls=CommandGroup, aliases={"describe": "list"})
def command() -> None:
    """List, create and delete access control lists."""


@command.command(name="list")
@_what(filters=True)
@connected
def list_acls(session: Session, **what: Any) -> None:
    """List all ACLs, or those that match."""
    with session.admin() as admin:
        found, error = admin.describe_acls(_filter(what))
    if error.errno:
        raise error("cannot list ACLs")
    session.output.table(sorted(map(_row, found), key=str), _COLUMNS)


@command.command()
@_what(filters=False)
@connected
def create(session: Session, **what: Any) -> None:
    """Create an ACL that allows or denies an operation."""
    from kafka.admin import ACL, ResourcePattern

    acl: ACL = _made(ACL, ResourcePattern, what)
    with session.admin() as admin:
        result = admin.create_acls([acl])
    for _, error in result["failed"]:
        raise error
    session.output.done(f"created: {_line(acl)}", _row(acl))


@command.command()
@_what(filters=True)
@yes_option
@click.option("--dry-run", is_flag=True, help="List the ACLs that would be deleted.")
@connected
def delete(session: Session, yes: bool, dry_run: bool, **what: Any) -> None:
    """Delete matching ACLs."""
    acl_filter = _filter(what)
    kept: list[MatchedACL] = []
    with session.admin() as admin:
        if dry_run:
            found, _ = admin.describe_acls(acl_filter)
        else:
            confirm("Delete all matching ACLs?", yes)
            found = []
            for _, matched, error in admin.delete_acls([acl_filter]):
                if error.errno:
                    raise error("cannot delete ACLs")
                found += [each for each in matched if not each.error.errno]
                kept += [each for each in matched if each.error.errno]
    session.output.table(sorted(map(_row, found), key=str), _COLUMNS)
    for each in kept:
        note(printable(f"not deleted ({each.error.__name__}): {_line(each)}"))
    if kept:
        raise click.exceptions.Exit(1)


def _made(cls: Any, pattern_class: Any, what: dict[str, Any]) -> Any:
    """Create an ACL or a filter from the options."""
    from kafka.admin import ACLOperation, ACLPermissionType, ACLResourcePatternType, ResourceType

    def member(enum: Any, name: str) -> Any:
        return enum[name.upper().replace("-", "_")]

    pattern = pattern_class(
        member(ResourceType, what["resource_type"]),
        what["resource_name"],
        member(ACLResourcePatternType, what["pattern"]),
    )
    return cls(
        principal=what["principal"],
        host=what["host"],
        operation=member(ACLOperation, what["operation"]),
        permission_type=member(ACLPermissionType, what["permission"]),
        resource_pattern=pattern,
    )


def _filter(what: dict[str, Any]) -> "ACLFilter":
    from kafka.admin import ACLFilter, ResourcePatternFilter

    made: ACLFilter = _made(ACLFilter, ResourcePatternFilter, what)
    return made


def _line(acl: "ACL") -> str:
    row = _row(acl)
    return " ".join(str(row[column]) for column in _COLUMNS)


def _row(acl: "ACL | ACLFilter") -> dict[str, Any]:
    pattern = acl.resource_pattern
    return {
        "principal": acl.principal,
        "host": acl.host,
        "permission": acl.permission_type.name.lower(),
        "operation": acl.operation.name.lower(),
        "resource_type": pattern.resource_type.name.lower(),
        "resource_name": pattern.resource_name,
        "pattern": pattern.pattern_type.name.lower(),
    }
