"""`kinwire serve`: a server from a file, or the demo's, over stdin and stdout or a network."""

from __future__ import annotations

__all__ = ("ServeCommand",)

import sys
from argparse import ArgumentParser, Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, cast

from kinwire_cli.completion import (
    complete_demo,
    complete_demo_server,
    complete_served,
    completed_by,
)
from kinwire_cli.demos import SERVERS, server_of
from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.layout import one_line
from kinwire_cli.lite.place import GRPC_PORT
from kinwire_cli.network import add_address, address_in, asgi_options, listen
from kinwire_cli.target import file_and_name, is_url

if TYPE_CHECKING:
    from kinwire.mcp.server import Server

_USAGE = """\
kinwire serve demo PROTOCOL [SERVER] | FILE.py[:SERVER] | lite URL
                     [--header HEADER] [--transport stdio|http|sse|ws|grpc] [--host HOST]
                     [--port N] [--grpc-port N] [--path PATH] [--allow-host NAME] [--insecure]"""
_LITE = "mcp-lite"
_HINT = "usage: kinwire serve demo PROTOCOL [SERVER] | FILE.py[:SERVER]"
_EPILOG = """\
lite URL serves a service of MCP-lite as an MCP server, over stdio or http.

The demo of mcp is one server. That of mcpl is four, of which one may be named: memory, redaction,
notes or chat; without a name one server is all of them. That of mgp is two: workshop has tools of
each risk, archive keeps the audit trail. That of mcpe is two: project has events that come
immediately, bookings a clock that a tool moves. That of mcp-lite is one, over http, over grpc, or
over both if --transport is given twice.

http is Streamable HTTP, sse the transport of 2024-11-05, ws is WebSocket. Only this machine can
reach it, unless --host says otherwise; that takes --insecure, for a network of your own or behind
a proxy that speaks TLS. --port 0 takes a free port. The address to connect to goes to stderr.
Clients need no token. To require one, call SERVER.asgi(authenticate=...).run() in your file.
"""


class ServeCommand:
    """`kinwire serve demo PROTOCOL [SERVER]`, `kinwire serve FILE.py[:SERVER]`."""

    name: ClassVar[str] = "serve"
    summary: ClassVar[str] = "serve a file, or the demo, over stdin and stdout or a network"
    group: ClassVar[str] = "serve"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "the input ended; over a network also Ctrl-C",
        130: "interrupted (Ctrl-C) over stdin and stdout",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire serve notes.py",
        "kinwire serve notes.py --transport http --port 8000",
        "kinwire serve demo mcpl memory",
        "kinwire serve demo mcp-lite --transport http --transport grpc",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "the demo server, or a file"
        what = parser.add_argument("what", metavar="demo | FILE.py", help=text)
        completed_by(what, complete_served)
        text = f"the demo's: {' or '.join(SERVERS)}"
        protocol = parser.add_argument("protocol", nargs="?", metavar="PROTOCOL", help=text)
        completed_by(protocol, complete_demo)
        text = "one of the demo's servers, where it has several"
        server = parser.add_argument("server", nargs="?", metavar="SERVER", help=text)
        completed_by(server, complete_demo_server)
        text = "how clients reach it (default: stdio, for mcp-lite http); mcp-lite takes two"
        choices = ("stdio", "http", "sse", "ws", "grpc")
        parser.add_argument(
            "--transport", action="append", choices=choices, dest="transports", help=text
        )
        text = f"the port for gRPC of mcp-lite (default: {GRPC_PORT})"
        parser.add_argument("--grpc-port", type=int, metavar="N", help=text)
        text = "sent to the URL of lite: 'Name: value', 'Name: ${VARIABLE}', or @FILE"
        parser.add_argument("--header", action="append", default=[], metavar="HEADER", help=text)
        add_address(parser)

    def run(self, arguments: Namespace) -> int:
        """Serve until the input ends or a signal comes."""
        what: str = arguments.what
        protocol: str | None = arguments.protocol
        if what == "demo" and protocol == _LITE:
            return _serve_lite(arguments)
        arguments.transport = _only_transport(arguments)
        if what == "lite":
            return _serve_service(protocol, arguments)
        if what == "demo":
            server = _demo(protocol, arguments.server)
        elif protocol is not None:
            raise UsageError(f"{protocol!r} is one word too many.", _HINT)
        else:
            server = _from_file(what)
            if arguments.transport != "stdio":
                _warn_unused(Path(file_and_name(what)[0]))
        _serve(server, arguments)
        return 0


def _serve_service(url: str | None, arguments: Namespace) -> int:
    """Serve a service of MCP-lite as an MCP server."""
    from kinwire_cli.lite.running import run_lite_service
    from kinwire_cli.running import run

    if url is None or not is_url(url) or arguments.server is not None:
        hint = "Write kinwire serve lite http://127.0.0.1:8000/mcp-lite/v1/ or grpc://..."
        raise UsageError("serve lite: expected the URL of a service of MCP-lite.", hint)
    if arguments.transport not in ("stdio", "http"):
        raise UsageError("serve lite: expected --transport stdio or http.", _HINT)
    return run(run_lite_service, url, arguments)


def _only_transport(arguments: Namespace) -> str:
    """Return how a server of another protocol than MCP-lite is reached."""
    transports: list[str] = arguments.transports or ["stdio"]
    if "grpc" in transports or arguments.grpc_port is not None:
        raise UsageError("Only MCP-lite is served over gRPC.", "Write kinwire serve demo mcp-lite.")
    if len(transports) > 1:
        raise UsageError("--transport: expected one; MCP-lite alone takes several.", _HINT)
    return transports[0]


def _serve_lite(arguments: Namespace) -> int:
    """Serve the demo of MCP-lite over one transport or both."""
    from kinwire_cli.lite.place import place_of_demo
    from kinwire_cli.lite.running import run_lite_server
    from kinwire_cli.running import run

    place = place_of_demo(arguments)
    return run(run_lite_server, _demo(_LITE, arguments.server), place)


def _serve(server: Server, arguments: Namespace) -> None:
    place = address_in(arguments)
    if place is None:
        server.run()
    else:
        listen(server, place)


def _warn_unused(path: Path) -> None:
    """Warn of `asgi` options in the file: this command makes the application itself."""
    for line, options in asgi_options(path.read_bytes()):
        what = f"asgi({options}) does not hold here, where the command makes its own"
        note = f"note: {path}:{line}: {what}. python {path} runs that one."
        print(one_line(note), file=sys.stderr)


def _demo(protocol: str | None, name: str | None) -> Server:
    if protocol is None or protocol not in SERVERS:
        got = "none" if protocol is None else repr(protocol)
        hint = did_you_mean(protocol or "", SERVERS, f"kinwire serve demo {'|'.join(SERVERS)}")
        raise UsageError(f"The demo needs a protocol it has, got {got}.", hint)
    names = SERVERS[protocol]
    if name is not None and name not in names:
        hint = f"There are: {', '.join(names)}." if names else f"kinwire serve demo {protocol}"
        what = f"The demo of {protocol} has no server {name!r}."
        raise UsageError(what, did_you_mean(name, names, hint))
    return server_of(protocol, name)


def _from_file(what: str) -> Server:
    from kinwire.mcp.server import Server

    file, wanted = file_and_name(what)
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"There is no Python file {file!r}.", _HINT)
    found: dict[Server, str] = {}
    for name, value in vars(_module(path)).items():
        if isinstance(value, Server):
            if name == wanted:
                return value
            found.setdefault(value, name)
    if len(found) == 1 and not wanted:
        return next(iter(found))
    which = f" called {wanted!r}" if wanted else ""
    got = ", ".join(found.values()) or "none"
    raise UsageError(
        f"{file}: expected one Server{which} at the top of the module, got {got}.",
        f"Name it: {file}:{next(iter(found.values()))}"
        if found
        else f"A server of another library is started by its own command: -- python {file}",
    )


def _module(path: Path) -> ModuleType:
    if path.stem in sys.stdlib_module_names:
        note = f"note: {path} stands in for Python's own module {path.stem!r}. Rename it."
        print(one_line(note), file=sys.stderr)
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported.", "Rename it: a module's name is text.")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))  # as `python FILE.py` does
    sys.modules[path.stem] = module  # dataclasses and the like look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if _is_interruption(error, path):
            raise
        raise _refusal(error, path) from error
    return module


def _is_interruption(error: BaseException, path: Path) -> bool:
    """Return whether the user interrupted this command, also in a `run()` that the file calls."""
    last = extract_tb(error.__traceback__)[-1]
    by_file = last.filename == str(path.absolute())
    if isinstance(error, KeyboardInterrupt):
        return not (by_file and (last.line or "").startswith("raise"))
    return isinstance(error, SystemExit) and error.code == 130 and not by_file


def _refusal(error: BaseException, path: Path) -> UsageError:
    error = _only_one(error)
    place = _place(error, path)
    if isinstance(error, SystemExit):
        code = "" if error.code is None else repr(error.code)
        return UsageError(
            f"{place}: ended the program by sys.exit({code}) while it was imported.",
            'Put what runs the program under: if __name__ == "__main__":',
        )
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    what = f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."
    return UsageError(f"{place}: {what}", f"python {path} shows the whole traceback.")


def _only_one(error: BaseException) -> BaseException:
    """Return the error in a group of one, as task groups raise it, else `error`."""
    while isinstance(error, BaseExceptionGroup):
        inner = list(cast("BaseExceptionGroup[BaseException]", error).exceptions)
        if len(inner) > 1:
            return cast("BaseException", error)
        error = inner[0]
    return error


def _place(error: BaseException, path: Path) -> str:
    """Return the line of the file that failed, whatever it called."""
    if isinstance(error, SyntaxError):
        file = error.filename or path  # None for source text with a NUL character
        return f"{file}:{error.lineno}" if error.lineno else str(file)
    file = str(path.absolute())
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{path}:{frames[-1].lineno}" if frames else str(path)
