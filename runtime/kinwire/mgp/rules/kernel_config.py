"""What a configuration file says: the servers of a kernel, and what holds for them."""

from __future__ import annotations

__all__ = ("ConfiguredServer", "KernelConfig")

from collections.abc import Mapping
from dataclasses import dataclass, field

from kinwire.mgp.rules.config_problem import ConfigProblem, Place
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire_protocols.mgp.models import ServerProfile, ToolContextBudget


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """A server that a configuration file names."""

    id: str
    place: Place
    """Where the file names it."""
    spec: ServerSpec | None
    """How it is started; None if it cannot be."""
    problem: ConfigProblem | None = None
    """Why it cannot be started, as a variable that is not set."""
    profile: ServerProfile = field(default_factory=ServerProfile)
    """What the file says of its MGP, before it is connected (MGP 0.2.0 section 15.3)."""
    pinned_tools: tuple[str, ...] = ()
    """Tools that a search never leaves out (MGP 0.2.0 section 16)."""


@dataclass(frozen=True, slots=True)
class KernelConfig:
    """A configuration file; `load_config` reads one."""

    file: str
    servers: tuple[ConfiguredServer, ...] = ()
    """In the order of the file."""
    policy: Policy = field(default_factory=lambda: Policy(""))
    """What holds for them: pass it to `MgpKernel(policy=...)`."""
    tool_context_budget: ToolContextBudget | None = None
    """How many tokens definitions of tools may take (MGP 0.2.0 section 16.8)."""
    warnings: tuple[ConfigProblem, ...] = ()
    """Keys that are not known, and what probably was not meant."""

    @property
    def specs(self) -> list[ServerSpec]:
        """The servers that can be started."""
        return [one.spec for one in self.servers if one.spec is not None]

    @property
    def refused(self) -> Mapping[str, ConfigProblem]:
        """Why servers cannot be started, by id; the others are not affected."""
        return {one.id: one.problem for one in self.servers if one.problem is not None}
