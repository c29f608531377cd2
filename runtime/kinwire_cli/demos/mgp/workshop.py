"""A server with a tool of each risk level, and one that takes code (MGP 4, 7).

Nothing here does what it says: the tools answer what they would do, so that you can try a kernel on
them without harm.
"""

from __future__ import annotations

__all__ = ("CHANNELS", "PERMISSIONS", "Workshop", "guarded", "server")

from collections.abc import AsyncIterator

from kinwire import Context, Server, ToolError
from kinwire.mgp import MgpContext, MgpServer, refusal
from kinwire_protocols.mgp import CodeSafety, ToolSecurity, errors

PERMISSIONS = ("memory.write", "network.outbound", "shell.execute", "code_execution")
CHANNELS = ("system.facts",)
SAFE = ToolSecurity(risk_level="safe", permissions_required=["memory.read"], validator="none")
REMEMBER = ToolSecurity(
    risk_level="moderate", permissions_required=["memory.write"], reversible=True
)
FIRE = ToolSecurity(risk_level="moderate", validator="none", reversible=True)
FETCH = ToolSecurity(
    risk_level="moderate",
    permissions_required=["network.outbound"],
    side_effects=["network"],
    validator="network_restricted",
)
COMMAND = ToolSecurity(
    risk_level="dangerous",
    permissions_required=["shell.execute"],
    side_effects=["filesystem", "process"],
    validator="sandbox",
    reversible=False,
    confirmation_required=True,
)
CODE = ToolSecurity(
    risk_level="dangerous",
    permissions_required=["code_execution"],
    validator="code_safety",
    code_safety=CodeSafety(
        level="standard", language="python", blocked_imports=["subprocess", "socket"]
    ),
)
CLEAR = ToolSecurity(risk_level="safe", validator="none")


class Workshop:
    """The tools."""

    def __init__(self, server: Server, guarded: MgpServer) -> None:
        self._guarded = guarded
        self._facts: list[str] = ["The kiln is hot until six."]
        for function, security in (
            (self.recall, SAFE),
            (self.remember, REMEMBER),
            (self.fetch_page, FETCH),
            (self.execute_command, COMMAND),
            (self.run_python, CODE),
            (self.fire_kiln, FIRE),
            (self.clear_shelf, CLEAR),
        ):
            server.tool(guarded.tool(security=security)(function))

    async def recall(self, about: str) -> str:
        """Recall what is known about something."""
        found = [fact for fact in self._facts if about.lower() in fact.lower()]
        return "\n".join(found) or "Nothing is known about that."

    async def remember(self, fact: str, context: Context) -> str:
        """Keep a fact."""
        self._facts.append(fact)
        kernel = self._guarded.of(context)
        if kernel is not None:  # the server's own event, next to that of the kernel
            await kernel.report("com.example.remembered", context=context, tool="remember")
        await self._guarded.emit("system.facts", {"known": len(self._facts)})
        return f"{len(self._facts)} facts are known."

    async def fetch_page(self, url: str) -> str:
        """Fetch a page of the web."""
        if "busy" in url:
            raise refusal(errors.UpstreamUnavailableError, "The site does not answer.")
        return f"It would fetch {url}."

    async def execute_command(self, command: str) -> str:
        """Execute a command of the shell."""
        return f"It would execute: {command}"

    async def run_python(self, code: str) -> str:
        """Run a program in Python."""
        if not code.strip():
            raise ToolError("There is no code.")
        return f"It would run {len(code)} characters of Python."

    async def fire_kiln(self, degrees: int) -> AsyncIterator[str]:
        """Heat the kiln, and say how hot it is while it heats."""
        for step in range(1, 4):
            yield f"{degrees * step // 3} degrees. "
        yield "It would stay so until six."

    async def clear_shelf(self, context: MgpContext) -> str:
        """Clear a shelf, which the person chooses."""
        shelf = await context.select("Which shelf?", ["glazes", "brushes"])
        if not await context.confirm(f"Clear the shelf of {shelf}?"):
            return "It would leave all as it is."
        await context.notify("The boxes stand in the yard.")
        return f"It would clear the shelf of {shelf}."


guarded = MgpServer(
    extensions=["security", "code_safety", "audit"],
    permissions_required=PERMISSIONS,
    trust_level="standard",
    channels=CHANNELS,
)
server = Server("workshop", "1.0", extensions=[guarded])
Workshop(server, guarded)

if __name__ == "__main__":
    server.run()
