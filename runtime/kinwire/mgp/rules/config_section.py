"""The table `mgp` of a server in a configuration file (MGP 0.2.0 sections 11.5 and 15.2)."""

from __future__ import annotations

__all__ = ("SECTION_KEYS", "ServerSection", "section_of")

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from kinwire.mgp.rules.config_nodes import ConfigNode
from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem
from kinwire.mgp.rules.policy import ServerRules, ToolNames
from kinwire.mgp.rules.policy_file import PolicySection, permission_from, section_from
from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.trust import LEVELS, known_trust
from kinwire.support.validation import LONGEST
from kinwire_protocols.mgp.models import ServerProfile, TrustLevel
from kinwire_protocols.mgp.tables import DEFAULT_POLICIES, RESTART_POLICIES

Warn = Callable[[ConfigProblem], object]
_Read = Callable[[ConfigNode], Any]


class ServerSection(NamedTuple):
    """What the table says."""

    profile: ServerProfile
    options: dict[str, Any]
    """Fields of `ServerSpec`."""
    policy: ServerPolicy
    rules: ServerRules
    pinned_tools: tuple[str, ...]


def section_of(server: ConfigNode, node: ConfigNode | None, warn: Warn) -> ServerSection:
    """Return what the table `mgp` of a server says; without it, what holds for plain MCP.

    Raises:
        ConfigError: a value is wrong, or a key of the policy.
    """
    fields: Mapping[str, ConfigNode] = {}
    if node is not None:
        fields = node.open_table(SECTION_KEYS, warn)
    trust = _trust(fields.get("trust_level"), warn)
    policy = _policy(server, fields, trust)
    pinned = _texts(fields.get("pinned_tools")) or ()
    profile = _profile(fields, trust, warn)
    return ServerSection(profile, _options(fields), policy.policy, policy.rules, tuple(pinned))


def _trust(node: ConfigNode | None, warn: Warn) -> TrustLevel:
    """Return the level; absent it is standard, and a word that is not known counts as sandboxed."""
    if node is None:
        return "standard"
    found = known_trust(node.text())
    if node.value not in LEVELS:
        try:
            node.choice(LEVELS)
        except ConfigError as error:
            text = error.text if error.text.endswith("?") else f"{error.text}."
            warn(ConfigProblem(error.place, f"{text} It counts as {found}"))
    return found


def _policy(
    server: ConfigNode, fields: Mapping[str, ConfigNode], trust: TrustLevel
) -> PolicySection:
    elsewhere: dict[str, Any] = {"trust": trust, "access": None}
    if "default_policy" in fields:
        elsewhere["access"] = fields["default_policy"].choice(tuple(DEFAULT_POLICIES))
    node = fields.get("policy")
    if node is None:
        rules = ServerRules(server.key_place, ToolNames({}))
        return PolicySection(ServerPolicy(**elsewhere), rules)
    for key, name in (("trust", "trust_level"), ("default_policy", "default_policy")):
        if key in (given := node.table()):
            text = f"{key} stands in the table mgp of the server, as {name}"
            raise ConfigError(ConfigProblem(given[key].key_place, text))
    return section_from(node, elsewhere)


def _profile(fields: Mapping[str, ConfigNode], trust: TrustLevel, warn: Warn) -> ServerProfile:
    return ServerProfile(
        extensions=_texts(fields.get("extensions")),
        permissions_required=_required(fields.get("permissions_required"), warn),
        trust_level=trust,
    )


def _texts(node: ConfigNode | None) -> list[str] | None:
    return None if node is None else [*node.each(ConfigNode.text)]


def _required(node: ConfigNode | None, warn: Warn) -> list[str] | None:
    """Return the permissions; names that are not known are reported: the server requires them."""
    for one in () if node is None else node.items():
        try:
            permission_from(one)
        except ConfigError as error:
            warn(ConfigProblem(error.place, error.text))
    return _texts(node)


def _options(fields: Mapping[str, ConfigNode]) -> dict[str, Any]:
    """Return the fields of `ServerSpec`."""
    restart = {name: read(fields[key]) for key, (name, read) in _RESTART.items() if key in fields}
    rest = {name: read(fields[key]) for key, (name, read) in _WATCH.items() if key in fields}
    return {**rest, "restart": RestartRules(**restart)}


def _from_zero(node: ConfigNode, unit: float = 1) -> float:
    """Return a time in seconds, of a number of `unit` seconds from 0."""
    found = node.number() * unit
    if not 0 <= found <= LONGEST:
        raise node.refused(f"a number from 0 to {LONGEST / unit:.0f}")
    return found


def _or_off(node: ConfigNode) -> float | None:
    """Return seconds; None for 0."""
    return _from_zero(node) or None


_RESTART: Final[dict[str, tuple[str, _Read]]] = {
    "restart_policy": ("policy", lambda node: node.choice(tuple(RESTART_POLICIES))),
    "max_restarts": ("max_restarts", ConfigNode.count),
    "restart_window_secs": ("window", _from_zero),
    "backoff_base_ms": ("backoff_base", partial(_from_zero, unit=0.001)),
    "backoff_max_ms": ("backoff_max", partial(_from_zero, unit=0.001)),
}
_WATCH: Final[dict[str, tuple[str, _Read]]] = {
    "start_timeout_secs": ("start_timeout", ConfigNode.seconds),
    "ping_interval_secs": ("ping_interval", _or_off),
    "ping_timeout_secs": ("ping_timeout", ConfigNode.seconds),
    "ping_misses": ("ping_misses", partial(ConfigNode.count, least=1)),
    "idle_timeout_secs": ("idle_timeout", _or_off),
    "max_memory_bytes": ("max_memory_bytes", partial(ConfigNode.count, least=1)),
    "drain_timeout_secs": ("drain_timeout", _from_zero),
    "when_restarting": ("when_restarting", lambda node: node.choice(("wait", "refuse"))),
    "wait_timeout_secs": ("wait_timeout", ConfigNode.seconds),
    "leased": ("leased", ConfigNode.flag),
}
_ADVERTISED: Final = ("extensions", "permissions_required", "trust_level", "default_policy")
SECTION_KEYS: Final = (*_ADVERTISED, *_RESTART, *_WATCH, "pinned_tools", "policy")
"""The keys of the table."""
