"""A tool as the kernel knows it: what its server says, corrected by what the kernel knows itself.

MGP 0.2.0 section 4.
"""

from __future__ import annotations

__all__ = ("EFFECT_RISKS", "KnownTool", "highest_risk", "kept_after_change", "known_tool")

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from pydantic import ValidationError

from kinwire.mgp.rules.permissions import expanded, risk_of
from kinwire.mgp.rules.server_policy import RISKS, ServerPolicy, ToolPolicy
from kinwire.mgp.rules.signs import Signs, signs_of
from kinwire.mgp.rules.trust import DEFAULTS
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.augments import TOOL_SECURITY
from kinwire_protocols.mgp.models import CodeSafety, RiskLevel, ToolSecurity, TrustLevel

_NO_POLICY: Final = ToolPolicy()

EFFECT_RISKS: Final[dict[str, RiskLevel]] = {
    "notification": "safe",
    "filesystem": "moderate",
    "network": "moderate",
    "database": "moderate",
    "process": "dangerous",
}
"""The risk that follows from each kind of side effect (MGP 4.3)."""
_BY_NAME: Final[dict[str, RiskLevel]] = {risk: risk for risk in RISKS}
_LASTING: Final = frozenset({"filesystem", "database", "process"})


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool of one server; made once for each definition, and used for every call of it."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    annotations: JsonObject
    """Hints of later versions of MCP, such as `destructiveHint`; `{}` without any."""
    security: ToolSecurity | None
    """What the server says; None without `security`, or if it is not readable."""
    risk: RiskLevel
    """The effective risk: never lower than what the kernel knows itself."""
    validators: tuple[str, ...]
    """What the kernel applies to each call, in this order; empty for `none`."""
    permissions: tuple[str, ...]
    """What a call needs, as the server writes it: a bare family is not expanded."""
    confirm: bool
    """Whether each call is confirmed."""
    code_safety: tuple[CodeSafety, ...]
    """The server's own rules for code among the arguments; all of them narrow the kernel's."""
    policy: ToolPolicy
    """What the configuration says about it."""
    definition: JsonObject
    """The whole entry of the server's list."""
    digest: str
    """Of the whole definition: another digest is another tool."""
    flags: tuple[str, ...] = ()
    """What is suspicious in the definition, in plain words."""
    demands_confirmation: bool = False
    """Whether the server says that each call needs a confirmation."""
    changed: bool = False
    """Whether the server listed another definition of it before, perhaps in another connection."""

    @property
    def validator(self) -> str:
        """The first validator, `none` without one: what audit events show."""
        return self.validators[0] if self.validators else "none"


def highest_risk(risks: Iterable[RiskLevel]) -> RiskLevel:
    """Return the highest of several risks; `safe` for an empty iterable."""
    return RISKS[max((RISKS.index(risk) for risk in risks), default=0)]


def known_tool(
    definition: JsonObject, policy: ServerPolicy, trust: TrustLevel, flags: tuple[str, ...] = ()
) -> KnownTool | None:
    """Return what is known of a tool, from an entry of `tools/list`; None if it is not a tool.

    `flags` is what is suspicious in the definition: with any the tool is dangerous.
    """
    name, schema = definition.get("name"), definition.get("inputSchema")
    if not isinstance(name, str) or not is_object(schema):
        return None
    own = policy.tools.get(name, _NO_POLICY)
    annotations = _object(definition, "annotations") or {}
    security, unreadable = _security(definition)
    signs = signs_of(name, schema, annotations)
    if unreadable:
        flags = (*flags, "its `security` is not readable")
    safety = None if security is None else security.code_safety
    permissions = _permissions(security, own)
    risk = highest_risk(_risks(security, permissions, signs, own, flagged=bool(flags)))
    return KnownTool(
        name=name,
        description=_text(definition, "description"),
        input_schema=schema,
        output_schema=_object(definition, "outputSchema"),
        annotations=annotations,
        security=security,
        risk=risk,
        validators=_validators(security, signs, own, policy, trust),
        permissions=permissions,
        confirm=_confirmed(security, risk, own, policy, trust),
        code_safety=() if safety is None else (safety,),
        policy=own,
        definition=definition,
        digest=short_digest(definition),
        flags=flags,
        demands_confirmation=_is_demanded(security),
    )


def kept_after_change(before: KnownTool, after: KnownTool) -> KnownTool:
    """Return a tool whose definition has changed, with the protection that it had before.

    A server cannot drop a check in the middle of a connection: risk, validators, permissions, rules
    for code and confirmation may become stricter only, unless the configuration decides them.
    """
    validators = after.validators
    if after.policy.validator is None:
        validators = tuple(dict.fromkeys((*before.validators, *after.validators)))
    added = [one for one in before.code_safety if one not in after.code_safety]
    confirm = after.confirm if after.policy.confirm is not None else before.confirm or after.confirm
    return replace(
        after,
        risk=highest_risk((before.risk, after.risk)),
        validators=validators,
        permissions=tuple(dict.fromkeys((*before.permissions, *after.permissions))),
        confirm=confirm,
        code_safety=(*after.code_safety, *added),
        demands_confirmation=before.demands_confirmation or after.demands_confirmation,
        changed=True,
    )


def _security(definition: JsonObject) -> tuple[ToolSecurity | None, bool]:
    """Return what the server says, and whether it says something that cannot be read."""
    try:
        return TOOL_SECURITY.read(definition), False
    except ValidationError:
        return None, True


def _permissions(security: ToolSecurity | None, own: ToolPolicy) -> tuple[str, ...]:
    declared = [] if security is None else security.permissions_required or []
    return tuple(dict.fromkeys((*declared, *own.permissions)))


def _risks(
    security: ToolSecurity | None,
    permissions: Iterable[str],
    signs: Signs,
    own: ToolPolicy,
    *,
    flagged: bool,
) -> Iterator[RiskLevel]:
    """Yield every risk that is known; the highest counts."""
    if flagged:
        yield "dangerous"
    if own.risk is not None:
        yield own.risk
    yield from map(risk_of, expanded(permissions))
    if security is None:
        yield signs.risk
        return
    yield _known_risk(security.risk_level)
    if signs.risk == "dangerous":  # a lower one is only a guess, and the server says more
        yield signs.risk
    effects = security.side_effects or []
    for effect in effects:
        yield EFFECT_RISKS.get(effect, "moderate")
    if security.reversible is False and _LASTING.intersection(effects):
        yield "dangerous"


def _known_risk(level: str) -> RiskLevel:
    return _BY_NAME.get(level, "dangerous")


def _validators(
    security: ToolSecurity | None,
    signs: Signs,
    own: ToolPolicy,
    policy: ServerPolicy,
    trust: TrustLevel,
) -> tuple[str, ...]:
    """Return the validators: the configured one, else the declared one, else the kernel's choice.

    `none` that a server declares is obeyed unless the server is sandboxed.
    """
    if own.validator is not None:
        return () if own.validator == "none" else (own.validator,)
    declared = None if security is None else security.validator
    if declared == "none" and trust != "sandboxed":
        return ()
    chosen = _chosen(signs) or (() if policy.validator is None else (policy.validator,))
    found = chosen if declared is None else (declared, *chosen)
    return tuple(one for one in dict.fromkeys(found) if one != "none")


def _chosen(signs: Signs) -> tuple[str, ...]:
    chosen = (
        ("code_safety", signs.takes_code),
        ("sandbox", signs.runs_commands),
        ("network_restricted", signs.reaches_network),
    )
    return tuple(name for name, wanted in chosen if wanted)


def _confirmed(
    security: ToolSecurity | None,
    risk: RiskLevel,
    own: ToolPolicy,
    policy: ServerPolicy,
    trust: TrustLevel,
) -> bool:
    if own.confirm is not None:
        return own.confirm
    if _is_demanded(security):
        return True
    return risk in (DEFAULTS[trust].confirm if policy.confirm is None else policy.confirm)


def _is_demanded(security: ToolSecurity | None) -> bool:
    return security is not None and security.confirmation_required is True


def _text(definition: JsonObject, member: str) -> str:
    value = definition.get(member)
    return value if isinstance(value, str) else ""


def _object(definition: JsonObject, member: str) -> JsonObject | None:
    value: object = definition.get(member)
    return value if is_object(value) else None
