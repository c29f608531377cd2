"""What the configuration of a kernel says about one server and its tools."""

from __future__ import annotations

__all__ = ("RISKS", "CallLimit", "ServerPolicy", "ToolPolicy")

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Final, cast

from kinwire.mgp.rules.permissions import checked_permissions
from kinwire.mgp.rules.trust import LEVELS
from kinwire.support.arguments import (
    COUNT,
    FLAG,
    SECONDS,
    TEXTS,
    TIME,
    ArgumentCheck,
    ValueKind,
    count_from,
    instance_of,
    list_of,
    one_of,
    table_of,
)
from kinwire_protocols.mgp.models import (
    DefaultPolicy,
    PermissionPolicy,
    RiskLevel,
    SafetyLevel,
    TrustLevel,
    Validator,
)
from kinwire_protocols.mgp.tables import (
    APPROVAL_POLICIES,
    DEFAULT_POLICIES,
    RISK_LEVELS,
    SAFETY_LEVELS,
    VALIDATORS,
)

RISKS: Final = cast("tuple[RiskLevel, ...]", tuple(RISK_LEVELS))
"""From the least risk to the most."""


@dataclass(frozen=True, slots=True)
class CallLimit:
    """At most `calls` in any `seconds`: `CallLimit(10, 60)`."""

    calls: int
    seconds: float

    def __post_init__(self) -> None:
        _CALL_LIMIT.check(calls=self.calls, seconds=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """What the configuration says about one tool: `ServerPolicy(tools={"run": ToolPolicy(...)})`.

    `risk` can only raise what the kernel finds, and `permissions` are added to those that the
    server declares. `validator` takes the place of every other one, also of the kernel's own
    choice: write `"none"` only for a tool that needs no check. `confirm` asks about each call.
    A tool that is not `enabled` is refused (4002) and not listed. `rate` is a limit for each agent
    (3000), `quota` the number of calls of each agent until `MgpKernel.reset_quota` (3002).
    `code_arguments` names the arguments that are code, where the kernel cannot find them itself.
    `allowed_commands` may run under `sandbox` though its rules refuse them: each is a command line,
    in which `*` stands for any one word that is not an option. `without_shell` says that the server
    runs arrays of words as they are, so that they may have shell syntax in them.
    """

    risk: RiskLevel | None = None
    permissions: Collection[str] = ()
    validator: Validator | None = None
    confirm: bool | None = None
    code_safety: SafetyLevel | None = None
    code_arguments: Collection[str] = ()
    allowed_commands: Collection[str] = ()
    without_shell: bool = False
    enabled: bool = True
    rate: CallLimit | None = None
    quota: int | None = None

    def __post_init__(self) -> None:
        _TOOL_POLICY.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        checked_permissions("ToolPolicy.permissions", self.permissions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPolicy:
    """What a kernel decides about one server: `MgpKernel(servers={"files": ServerPolicy(...)})`.

    The effective trust is the lower of `trust` and what the server declares. It decides what is
    None here: `access`, the default for agents without an entry; `code_safety`, the level for code
    among arguments; `confirm`, the risks whose calls are confirmed. `approval` is how permissions
    are decided, None for the policy of the kernel; `permissions` are those that are approved
    beforehand; with `needs_all` a server that lacks one that it requires is not connected.
    `validator` is for tools that declare none and that the kernel cannot judge by name.
    `allowed_hosts` may be named in arguments under `network_restricted` though they are private.
    With `needs_agent` calls outside of `MgpKernel.acting_for` are refused (1002).
    `rate` and `quota` are for all tools together, for each agent. `credentials_expire` is the time,
    in seconds since 1970, from which calls are refused because credentials have expired (1003).
    """

    trust: TrustLevel = "standard"
    access: DefaultPolicy | None = None
    code_safety: SafetyLevel | None = None
    confirm: Collection[RiskLevel] | None = None
    approval: PermissionPolicy | None = None
    permissions: Collection[str] = ()
    needs_all: bool = False
    needs_agent: bool = False
    validator: Validator | None = None
    allowed_hosts: Collection[str] = ()
    rate: CallLimit | None = None
    quota: int | None = None
    credentials_expire: float | None = None
    tools: Mapping[str, ToolPolicy] = field(default_factory=dict[str, ToolPolicy])

    def __post_init__(self) -> None:
        _SERVER_POLICY.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        checked_permissions("ServerPolicy.permissions", self.permissions)


_RISK = one_of(*RISKS)
_LEVEL = one_of(*SAFETY_LEVELS)
_VALIDATOR = one_of(*VALIDATORS)
_LIMIT = instance_of(CallLimit, "CallLimit", "CallLimit(10, 60)")

_CALL_LIMIT = ArgumentCheck(
    "CallLimit", "CallLimit(10, 60)", {"calls": count_from(1), "seconds": SECONDS}
)
_OF_BOTH: dict[str, ValueKind] = {
    "permissions": TEXTS,
    "validator": _VALIDATOR.or_none,
    "code_safety": _LEVEL.or_none,
    "rate": _LIMIT.or_none,
    "quota": COUNT.or_none,
}
_TOOL_POLICY = ArgumentCheck(
    "ToolPolicy",
    "ToolPolicy()",
    {},
    risk=_RISK.or_none,
    confirm=FLAG.or_none,
    code_arguments=TEXTS,
    allowed_commands=TEXTS,
    without_shell=FLAG,
    enabled=FLAG,
    **_OF_BOTH,
)
_SERVER_POLICY = ArgumentCheck(
    "ServerPolicy",
    "ServerPolicy()",
    {},
    trust=one_of(*LEVELS),
    access=one_of(*DEFAULT_POLICIES).or_none,
    confirm=list_of(_RISK, "several risks").or_none,
    approval=one_of(*APPROVAL_POLICIES).or_none,
    needs_all=FLAG,
    needs_agent=FLAG,
    allowed_hosts=TEXTS,
    credentials_expire=TIME.or_none,
    tools=table_of(
        instance_of(ToolPolicy, "ToolPolicy", "ToolPolicy(...)"),
        "a dictionary from tools to ToolPolicy",
        '"run"',
    ),
    **_OF_BOTH,
)
