"""The pages for access: ACLs, users with SCRAM credentials, and quotas. They only read.

Each page reads from the cluster when it is opened. A cluster without the feature, or without the permission, is
reported on the page.
"""

from collections.abc import Mapping
from typing import Any

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.display.page_elements import Html, html
from kafka.errors import NoError, SecurityDisabledError
from kafka.ui.asked import asked_page
from kafka.ui.page_frame import trouble
from kafka.ui.shared_state import Ui
from kafka.ui.states import state
from kafka.ui.tables import Column, Columns, Table

_UNITS = (
    ("byte_rate", " B/s"),
    ("request_percentage", " %"),
    ("connection_creation_rate", " connections/s"),
    ("controller_mutation_rate", " mutations/s"),
)
"""The units of quotas, by the end of their name."""
_ANY = ACLFilter(
    None,
    None,
    ACLOperation.ANY,
    ACLPermissionType.ANY,
    ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
)


async def acls_page(ui: Ui) -> Html:
    """Return the page that lists the ACLs."""
    return await asked_page(ui, "ACLs", "/acls", lambda: _acls(ui))


async def _acls(ui: Ui) -> Html:
    try:
        found, error = await ui.admin.describe_acls(_ANY)
    except SecurityDisabledError:
        return html('<p class="quiet">The cluster has no authorizer, so it has no ACLs.</p>')
    failed = trouble(f"The cluster did not list all ACLs: {error.__name__}") if error is not NoError else Html("")
    return html("{}{}", failed, _acl_table().html(found))


def _acl_table() -> Table[ACL]:
    columns: Columns[ACL] = (
        Column("principal", lambda each: each.principal, lambda each: each.principal),
        Column("permission", _permission, lambda each: each.permission_type.name),
        Column("operation", lambda each: _word(each.operation.name), lambda each: each.operation.name),
        Column("resource type", lambda each: _word(_type(each)), _type),
        Column("resource", _resource, lambda each: each.resource_pattern.resource_name),
        Column("pattern", lambda each: _word(_pattern(each)), _pattern),
        Column("host", lambda each: each.host, lambda each: each.host),
    )
    return Table("ACLs", columns, _acl_text, sort="principal", empty="There are no ACLs.")


def _type(acl: ACL) -> str:
    return acl.resource_pattern.resource_type.name


def _pattern(acl: ACL) -> str:
    return acl.resource_pattern.pattern_type.name


def _resource(acl: ACL) -> str:
    return acl.resource_pattern.resource_name or ""


def _permission(acl: ACL) -> Html:
    is_denied = acl.permission_type == ACLPermissionType.DENY
    return state("bad" if is_denied else "good", _word(acl.permission_type.name))


def _word(name: str) -> str:
    return name.replace("_", " ").lower()


def _acl_text(acl: ACL) -> str:
    names = (acl.permission_type.name, acl.operation.name, _type(acl), acl.resource_pattern.pattern_type.name)
    return " ".join(map(str, (acl.principal, acl.resource_pattern.resource_name, acl.host, *map(_word, names))))


async def users_page(ui: Ui) -> Html:
    """Return the page that lists users with SCRAM credentials. The cluster never sends the credentials themselves."""
    return await asked_page(ui, "Users", "/users", lambda: _users(ui))


async def _users(ui: Ui) -> Html:
    found = await ui.admin.describe_user_scram_credentials()
    rows = [
        (name, str(getattr(each["mechanism"], "name", each["mechanism"])).replace("_", "-"), each["iterations"])
        for name, user in found.items()
        for each in user["credential_infos"]
    ]
    columns: Columns[tuple[str, str, int]] = (
        Column("user", lambda each: each[0], lambda each: each[0]),
        Column("mechanism", lambda each: each[1], lambda each: each[1]),
        Column("iterations", lambda each: f"{each[2]:,}", lambda each: each[2], is_number=True),
    )
    table = Table(
        "Users", columns, lambda each: f"{each[0]} {each[1]}", sort="user", empty="No user has SCRAM credentials."
    )
    return table.html(rows)


def _limit(quota: tuple[str, str, float]) -> str:
    """Return the limit of a quota with its unit."""
    unit = next((unit for end, unit in _UNITS if quota[1].endswith(end)), "")
    return f"{quota[2]:,.12g}{unit}"


async def quotas_page(ui: Ui) -> Html:
    """Return the page that lists the quotas."""
    return await asked_page(ui, "Quotas", "/quotas", lambda: _quotas(ui))


async def _quotas(ui: Ui) -> Html:
    found = await ui.admin.describe_client_quotas()
    rows = [(_entity(each["entity"]), name, value) for each in found for name, value in each["values"].items()]
    columns: Columns[tuple[str, str, float]] = (
        Column("applies to", lambda each: each[0], lambda each: each[0]),
        Column("quota", lambda each: each[1], lambda each: each[1]),
        Column("limit", _limit, lambda each: each[2], is_number=True),
    )
    table = Table(
        "Quotas", columns, lambda each: f"{each[0]} {each[1]}", sort="applies-to", empty="There are no quotas."
    )
    return table.html(rows)


def _entity(entity: Mapping[str, Any]) -> str:
    return ", ".join(f"{kind} {'(default)' if name is None else name}" for kind, name in sorted(entity.items()))
