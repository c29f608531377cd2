"""A policy file: TOML, read into a `Policy`, with the place of whatever is wrong."""

from __future__ import annotations

__all__ = (
    "SERVER_KEYS",
    "PolicySection",
    "must_be_name",
    "others_allowed",
    "permission_from",
    "policy_from",
    "section_from",
)

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from kinwire.mgp.rules.access import NAME_SIZE, is_name
from kinwire.mgp.rules.config_nodes import ConfigNode
from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem, Place
from kinwire.mgp.rules.file_formats import toml_node
from kinwire.mgp.rules.permissions import MOST_PERMISSIONS, name_problem
from kinwire.mgp.rules.policy import (
    ArgumentRule,
    Policy,
    ServerRules,
    ToolNames,
    ToolRules,
)
from kinwire.mgp.rules.policy_conditions import (
    Condition,
    equal_to,
    in_range,
    matching,
    one_of_values,
    within,
)
from kinwire.mgp.rules.server_policy import RISKS, CallLimit, ServerPolicy, ToolPolicy
from kinwire.mgp.rules.trust import LEVELS
from kinwire_protocols.mgp.tables import (
    APPROVAL_POLICIES,
    DEFAULT_POLICIES,
    SAFETY_LEVELS,
    STANDARD_PERMISSIONS,
    VALIDATORS,
)
from kinwire_protocols.nearest import nearest

_Read = Callable[[ConfigNode], Any]

_CUSTOM_LABELS: Final = 3
_TOP: Final = ("other_servers", "servers")


def policy_from(text: str, file: str) -> Policy:
    """Return the policy that the text of a file says; `file` is named in errors.

    Raises:
        ConfigError: the text is not TOML, or a key, a value or the name of a permission is wrong.
    """
    top = toml_node(text, file).table(_TOP)
    if "servers" not in top:
        problem = ConfigProblem(Place(file, 1, 1), "expected a table [servers.NAME] for a server")
        raise ConfigError(problem)
    if isinstance(top["servers"].value, list):
        raise top["servers"].refused("a table for each server, as [servers.files]")
    servers = top["servers"].table()
    for name, node in servers.items():
        must_be_name(name, node)
    sections = {name: section_from(node) for name, node in servers.items()}
    return Policy(
        file,
        {name: section.policy for name, section in sections.items()},
        {name: section.rules for name, section in sections.items()},
        others_allowed(top),
    )


def others_allowed(top: Mapping[str, ConfigNode]) -> bool:
    """Return whether a file allows tools of servers that it does not name.

    Raises:
        ConfigError: `other_servers` is neither "allow" nor "deny".
    """
    node = top.get("other_servers")
    return node is not None and node.choice(("allow", "deny")) == "allow"


class PolicySection(NamedTuple):
    """What a file says about one server."""

    policy: ServerPolicy
    rules: ServerRules


def section_from(node: ConfigNode, elsewhere: Mapping[str, Any] | None = None) -> PolicySection:
    """Return what a table says about a server.

    `elsewhere` has fields of `ServerPolicy` that another table of the file has: their keys may not
    be in this one.

    Raises:
        ConfigError: a key, a value or the name of a permission is wrong.
    """
    given = elsewhere or {}
    keys = [key for key in SERVER_KEYS if _SERVER_FIELDS.get(key, ("",))[0] not in given]
    fields = node.table(keys)
    found = {
        field: read(fields[key]) for key, (field, read) in _SERVER_FIELDS.items() if key in fields
    }
    tools = {name: _tool_policy(one) for name, one in node.table_below("tools").items()}
    said = {name: one for name, one in tools.items() if one != ToolPolicy()}  # not only arguments
    return PolicySection(ServerPolicy(**found, **given, tools=said), _server_rules(node))


def _tool_policy(node: ConfigNode) -> ToolPolicy:
    fields = node.table(_TOOL_KEYS)
    return ToolPolicy(
        **{field: read(fields[key]) for key, (field, read) in _TOOL_FIELDS.items() if key in fields}
    )


def _server_rules(node: ConfigNode) -> ServerRules:
    fields = node.table()
    allowed = fields.get("allowed_tools")
    denied = fields.get("denied_tools")
    tools = node.table_below("tools")
    for name, one in tools.items():
        must_be_name(name, one)
    return ServerRules(
        node.key_place,
        ToolNames({} if denied is None else _tool_names(denied)),
        None if allowed is None else ToolNames(_tool_names(allowed)),
        {name: _tool_rules(one) for name, one in tools.items()},
        None if allowed is None else allowed.key_place,
    )


def _tool_names(node: ConfigNode) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for one in node.items():
        must_be_name(one.text(), one)
        found.setdefault(one.text(), one.place)
    return found


def _tool_rules(node: ConfigNode) -> ToolRules:
    arguments = node.table_below("arguments")
    rules = tuple(_argument_rule(name, one) for name, one in arguments.items())
    return ToolRules(node.key_place, rules)


def _argument_rule(name: str, node: ConfigNode) -> ArgumentRule:
    fields = node.table(_ARGUMENT_KEYS)
    if name in ("", "/") or len(name) > NAME_SIZE:
        raise ConfigError(ConfigProblem(node.key_place, f"expected 1 to {NAME_SIZE} characters"))
    conditions = [read(fields[key]) for key, read in _CONDITIONS.items() if key in fields]
    conditions += _range(fields)
    if not conditions:
        names = ", ".join(key for key in _ARGUMENT_KEYS if key != "optional")
        problem = ConfigProblem(node.key_place, f"{name}: expected one or more of {names}")
        raise ConfigError(problem)
    optional = "optional" in fields and fields["optional"].flag()
    return ArgumentRule(name, node.key_place, tuple(conditions), optional)


def _range(fields: Mapping[str, ConfigNode]) -> list[Condition]:
    least, most = fields.get("minimum"), fields.get("maximum")
    low = None if least is None else least.number()
    high = None if most is None else most.number()
    if least is not None and low is not None and high is not None and low > high:
        raise least.refused(f"a minimum that is not above the maximum {high}")
    return [] if low is None and high is None else [in_range(low, high)]


def _one_of(node: ConfigNode) -> Condition:
    values = [one.json() for one in node.items()]
    if not values:
        raise node.refused("an array with values")
    return one_of_values(values)


def _glob(node: ConfigNode) -> Condition:
    try:
        return matching(node.text())
    except ValueError as error:
        raise ConfigError(ConfigProblem(node.place, str(error))) from None


def _limit(node: ConfigNode) -> CallLimit:
    fields = node.table(("calls", "seconds"))
    if len(fields) != 2:
        raise node.refused("{ calls = 10, seconds = 60 }")
    return CallLimit(fields["calls"].count(1), fields["seconds"].seconds())


def _permissions(node: ConfigNode) -> tuple[str, ...]:
    found = node.each(permission_from)
    if len(found) > MOST_PERMISSIONS:
        raise node.refused(f"at most {MOST_PERMISSIONS} permissions")
    return found


def permission_from(node: ConfigNode) -> str:
    """Return the name of a permission or of a family of them.

    Raises:
        ConfigError: it is neither, and not a name of an implementation's own.
    """
    name = node.text()
    families = {one.partition(".")[0] for one in STANDARD_PERMISSIONS}
    known = [*STANDARD_PERMISSIONS, *sorted(families)]
    if name in known:
        return name
    labels = name.split(".")
    is_custom = len(labels) >= _CUSTOM_LABELS and labels[0] not in families
    problem = name_problem(name)
    if problem is None and is_custom:
        return name
    near = nearest(name, known)
    hint = f"Did you mean {near!r}?" if near else "A custom one is com.example.name."
    text = f"{name!r:.60} is not a permission. {hint}"
    raise ConfigError(ConfigProblem(node.place, text))


def must_be_name(name: str, node: ConfigNode) -> None:
    """Raise unless `name`, which is the key or value of a node, can be a name.

    Raises:
        ConfigError: it is empty, too long, or has signs that cannot be printed.
    """
    if not is_name(name):
        text = f"expected a name of 1 to {NAME_SIZE} printable characters, got {name!r:.60}"
        raise ConfigError(ConfigProblem(node.key_place, text))


def _choice(names: Any) -> _Read:
    return lambda node: node.choice(tuple(names))


def _named(**reads: _Read) -> dict[str, tuple[str, _Read]]:
    return {name: (name, read) for name, read in reads.items()}


_TEXTS: Final[_Read] = partial(ConfigNode.each, read=ConfigNode.text)
_OF_BOTH: Final = _named(
    permissions=_permissions,
    validator=_choice(VALIDATORS),
    code_safety=_choice(SAFETY_LEVELS),
    rate=_limit,
    quota=ConfigNode.count,
)
_SERVER_FIELDS: Final = {
    **_OF_BOTH,
    **_named(
        trust=_choice(LEVELS),
        confirm=partial(ConfigNode.each, read=_choice(RISKS)),
        approval=_choice(APPROVAL_POLICIES),
        needs_all=ConfigNode.flag,
        needs_agent=ConfigNode.flag,
        allowed_hosts=_TEXTS,
        credentials_expire=ConfigNode.moment,
    ),
    "default_policy": ("access", _choice(DEFAULT_POLICIES)),
}
_TOOL_FIELDS: Final = {
    **_OF_BOTH,
    **_named(
        risk=_choice(RISKS),
        confirm=ConfigNode.flag,
        code_arguments=_TEXTS,
        allowed_commands=_TEXTS,
        without_shell=ConfigNode.flag,
        enabled=ConfigNode.flag,
    ),
}
_CONDITIONS: Final[dict[str, Callable[[ConfigNode], Condition]]] = {
    "equals": lambda node: equal_to(node.json()),
    "one_of": _one_of,
    "prefix": lambda node: within(node.text()),
    "glob": _glob,
}
SERVER_KEYS: Final = (*_SERVER_FIELDS, "allowed_tools", "denied_tools", "tools")
"""The keys of a table that is about one server."""
_TOOL_KEYS: Final = (*_TOOL_FIELDS, "arguments")
_ARGUMENT_KEYS: Final = (*_CONDITIONS, "minimum", "maximum", "optional")
