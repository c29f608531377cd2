"""The arguments of a call against the schema that the server gave: error 4000 (MGP 14.3).

The schema is the peer's: `PeerSchema` bounds what it can cost, and nothing outside it is read. The
validation runs in the event loop and ends by itself, so there is no thread that could hang.
"""

from __future__ import annotations

__all__ = ("ArgumentGuard",)

import logging
from time import monotonic

from kinwire.mcp.rules.json_schema_peers import PeerSchema
from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.tools import KnownTool
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mgp import errors
from kinwire_protocols.problems import Problem

logger = logging.getLogger("kinwire.mgp")

_SHOWN = 5  # problems in the details of an error


class ArgumentGuard:
    """Checks the arguments of one tool by its `inputSchema`."""

    def __init__(self, server: GuardedServer, tool: KnownTool) -> None:
        self._schema: PeerSchema | None = None
        self._why_not = ""
        try:
            self._schema = PeerSchema(tool.input_schema)
        except ValueError as error:
            self._why_not = str(error)
        unchecked = () if self._schema is None else self._schema.unchecked[:_SHOWN]
        for one in unchecked or ([self._why_not] if self._why_not else ()):
            shown = sanitize_for_log(f"{tool.name}: inputSchema{one}")
            logger.warning("%s: %s", server.id, shown)

    def check(self, call: GuardedCall) -> None:
        """Check a call of the tool.

        Raises:
            InvalidToolArgsError: the arguments do not fit the schema, or it cannot be used.
        """
        if self._schema is None:
            raise refusal(
                errors.InvalidToolArgsError,
                f"{call.tool.name}: the arguments cannot be checked by the schema of the server: "
                f"{self._why_not}",
            )
        found = self._schema.problems(call.arguments, "/arguments", clock=monotonic)
        if found:
            raise refusal(
                errors.InvalidToolArgsError,
                f"{call.tool.name}: {_summary(found)}",
                details={"problems": [problem.to_json() for problem in found[:_SHOWN]]},
            )


def _summary(found: list[Problem]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0]}{more}"
