"""Code safety before a call leaves the kernel: error 1011 (MGP 0.2.0 sections 7 and 14.3)."""

from __future__ import annotations

__all__ = ("CodeGuard",)

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.code_safety.levels import effective_rules
from kinwire.mgp.rules.code_safety.rejection import rejected, violations_of_call
from kinwire.mgp.rules.tools import KnownTool
from kinwire_protocols.base import to_wire
from kinwire_protocols.mgp import errors


class CodeGuard:
    """Checks the code among the arguments of one tool.

    The level is that of the tool in the configuration, else that of the server there, else that of
    the server's trust. What the tool declares narrows it.
    """

    def __init__(self, server: GuardedServer, tool: KnownTool) -> None:
        level = tool.policy.code_safety or server.policy.code_safety or server.defaults.code_safety
        self.rules = effective_rules(level, *tool.code_safety)

    def check(self, call: GuardedCall) -> None:
        """Check a call of the tool.

        Raises:
            CodeSafetyViolationError: the code has violations; they are in `data._mgp.details`.
        """
        tool = call.tool
        found = violations_of_call(
            call.arguments, tool.input_schema, self.rules, tool.policy.code_arguments
        )
        if found:
            raise refusal(
                errors.CodeSafetyViolationError,
                f"{tool.name}: the code is not allowed at the level {self.rules.level!r}: "
                f"{found[0]}. Write it without, or set ToolPolicy.code_safety.",
                details=to_wire(rejected(found, self.rules)),
            )
