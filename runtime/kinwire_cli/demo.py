"""`kinwire demo`: the whole line, from documents to a call. No network, no key.

With the name of another protocol, as `kinwire demo mcpl`, it plays a conversation of `demos/`.
"""

from __future__ import annotations

__all__ = ("DemoCommand",)

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_cli.completion import complete_demo, completed_by
from kinwire_cli.demos import SERVERS
from kinwire_cli.demos.narration import JsonNarration, Line, TextNarration
from kinwire_cli.extras import install_command, is_installed
from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.layout import columns

if TYPE_CHECKING:
    from kinwire.mcp.connection import Connection
    from kinwire.transports.child import ChildProcess
    from kinwire_protocols import mcp

    Narration = TextNarration | JsonNarration

_EPILOG = """\
mcpl plays a conversation between a host and four MCP Live servers, and prints each message. mgp
shows what a kernel of MGP lets through, blocks and writes down, mcpe how events come to a client
that has subscribed to them, mcp-lite which kinds of answer a call has.
"""

_KINWIRE = (sys.executable, "-m", "kinwire")
_SERVE = ("serve", "demo")

_MCP_HINT = "Next: kinwire list mcp, kinwire call add a=1 b=2 -- kinwire serve demo mcp"
_CONVERSATIONS = ("mcpl", "mgp", "mcpe")
_LITE = "mcp-lite"

_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add", {"a": 1, "b": 2}),
    ("echo", {"message": "hello"}),
    ("countdown", {"start": 3}),
    ("divide", {"a": 1, "b": 0}),
    ("add", {"a": "1", "b": 2}),
)


class DemoCommand:
    """`kinwire demo [PROTOCOL]`."""

    name: ClassVar[str] = "demo"
    summary: ClassVar[str] = "generate the bindings, start a server and call it"
    group: ClassVar[str] = "serve"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "the bindings could not be generated",
        **SERVER_CODES,
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire demo",
        "kinwire demo mcpl",
        "kinwire demo mgp",
        "kinwire demo mcpe",
        "kinwire demo mcp-lite",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.epilog = _EPILOG
        text = f"what is shown: {' or '.join(SERVERS)} (default: mcp)"
        protocol = parser.add_argument(
            "protocol", nargs="?", default="mcp", metavar="PROTOCOL", help=text
        )
        completed_by(protocol, complete_demo)
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def run(self, arguments: Namespace) -> int:
        """Show each step."""
        from kinwire_cli.running import run

        protocol: str = arguments.protocol
        if protocol not in SERVERS:
            hint = did_you_mean(protocol, SERVERS, f"There are: {', '.join(SERVERS)}.")
            raise UsageError(f"There is no demo of {protocol!r}.", hint)
        narration = TextNarration() if arguments.format == "text" else JsonNarration()
        code, hint = 0, ""
        try:
            if protocol in _CONVERSATIONS:
                run(_converse, protocol, narration)
                hint = f"Next: kinwire list -- kinwire serve demo {protocol}"
            elif protocol == _LITE:
                _play_lite(narration)
                hint = "Next: kinwire serve demo mcp-lite"
            elif (code := _generate(narration)) == 0:
                run(_talk, narration)
                hint = _MCP_HINT
        finally:  # steps before a failure are printed in any case
            narration.end(hint)
        return code


def _play_lite(narration: Narration) -> None:
    if not is_installed("http"):
        raise UsageError("The demo of MCP-lite needs HTTP.", f"Run: {install_command('http')}")
    from kinwire_cli.demos.lite_conversation import converse
    from kinwire_cli.running import run

    run(converse, narration)


def _generate(narration: Narration) -> int:
    narration.begin("Bindings from the protocol documents")
    if not is_installed("codegen"):
        brings = install_command("codegen")
        narration.tell(Line(f"skipped: the generator needs more, which this brings: {brings}"))
        return 0
    with TemporaryDirectory(prefix="kinwire-demo-") as folder:
        narration.tell(Line("$ kinwire generate --out a temporary folder"))
        command = (*_KINWIRE, "generate", "--out", folder)
        # It works in the new folder: the one that the user is in may hold documents, or be gone.
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, cwd=folder, text=True
        )
        if done.returncode != 0:
            print(done.stderr, end="", file=sys.stderr)
        narration.tell(Line(done.stdout.rstrip()))
        written = [path for path in Path(folder).rglob("*") if path.is_file()]
        lines = sum(path.read_bytes().count(b"\n") for path in written)
        narration.tell(Line(f"written: {len(written)} files, {lines} lines"))
    return done.returncode


async def _talk(narration: Narration) -> None:
    from kinwire_cli.target import Target, reach

    narration.begin("A server in a child process")
    child = _started(narration, "mcp")
    async with reach(Target(child, child)) as server:
        narration.begin("Negotiated")
        facts = [
            ("protocol", f"mcp {server.protocol_version}"),
            ("server", f"{server.server_info.name} {server.server_info.version}"),
            ("capabilities", ", ".join(server.capabilities.model_dump())),
            ("instructions", server.instructions or "none"),
        ]
        narration.tell(Line(columns(facts)))
        narration.begin("Called through the generated client")
        tools = (await server.mcp.tools_list()).tools
        narration.tell(Line("await server.mcp.tools_list()"))
        narration.tell(Line("  " + ", ".join(tool.name for tool in tools)))
        for name, arguments in _CALLS:
            await _call(narration, server, name, arguments)


async def _call(
    narration: Narration, server: Connection, name: str, arguments: dict[str, Any]
) -> None:
    from kinwire_protocols.base import RpcError

    def show(report: mcp.ProgressNotificationParams) -> None:
        narration.tell(Line(f"  progress {report.progress}/{report.total}  {report.message}"))

    narration.tell(Line(f"await server.mcp.tools_call(name={name!r}, arguments={arguments})"))
    try:
        result = await server.with_options(on_progress=show).mcp.tools_call(
            name=name, arguments=arguments
        )
    except RpcError as error:
        narration.tell(Line(f"  {type(error).__name__}: {error}"))
        return
    kind = "error of the tool" if result.is_error else "result"
    for block in result.content:
        narration.tell(Line(f"  {kind}: {getattr(block, 'text', block.type)}"))


async def _converse(protocol: str, narration: Narration) -> None:
    conversation = import_module(f"kinwire_cli.demos.{protocol}.conversation")
    children: dict[str, ChildProcess] = {}

    def reach(name: str) -> ChildProcess:
        words = (protocol, name) if name in SERVERS[protocol] else ("mcp",)
        children[name] = child = _started(narration, *words)
        return child

    await conversation.converse(reach, narration)
    codes = ", ".join(f"{name} {child.exit_code}" for name, child in children.items())
    narration.tell(Line(f"has ended its servers, which exited with: {codes}", "host"))


def _started(narration: Narration, *words: str) -> ChildProcess:
    from kinwire_cli.target import started_by

    command = (*_SERVE, *words)
    narration.tell(Line(f"$ kinwire {' '.join(command)}"))
    return started_by([*_KINWIRE, *command])
