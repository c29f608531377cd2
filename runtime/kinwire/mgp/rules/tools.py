"""A tool as the kernel knows it: what its server says, corrected by what the kernel knows itself.

MGP 0.2.0 section 4.
"""

from __future__ import annotations

__all__ = ("RISKS", "KnownTool", "highest_risk")

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import CodeSafety, RiskLevel, ToolSecurity

RISKS: Final[tuple[RiskLevel, ...]] = ("safe", "moderate", "dangerous")
"""From the least risk to the most."""


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
    """What the kernel applies to each call, in this order; none for `none`."""
    permissions: tuple[str, ...]
    """What a call needs, as the server writes it: a bare family is not expanded."""
    confirm: bool
    """Whether a call is confirmed even where its risk does not demand it."""
    code_safety: CodeSafety | None
    """The server's own rules for code among the arguments."""
    digest: str
    """Of the whole definition: another digest is another tool."""
    flags: tuple[str, ...] = ()
    """What is suspicious in the definition, in plain words."""

    @property
    def validator(self) -> str:
        """The first validator, `none` without one: what audit events show."""
        return self.validators[0] if self.validators else "none"


def highest_risk(risks: Iterable[RiskLevel]) -> RiskLevel:
    """Return the highest of several risks; `safe` for an empty iterable."""
    return RISKS[max((RISKS.index(risk) for risk in risks), default=0)]
