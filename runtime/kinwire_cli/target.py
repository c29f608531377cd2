"""The server that a subcommand talks to: a file for `kinwire serve`, a command, or a URL."""

from __future__ import annotations

__all__ = (
    "Target",
    "add_target",
    "file_and_name",
    "handshake_error",
    "is_file",
    "is_server",
    "is_url",
    "reach",
    "says_lite",
    "started_by",
    "target_from",
)

import json
import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinwire import __version__
from kinwire_cli.failure import DOCTOR, USAGE, UnreachableError, UsageError, did_you_mean
from kinwire_cli.layout import one_line, printable
from kinwire_cli.quantities import bytes_from, seconds_from

if TYPE_CHECKING:
    from kinwire.mcp.connection import Connection
    from kinwire.mcp.extension import Extension
    from kinwire.mcp.host import Host
    from kinwire.rpc.limits import Limits
    from kinwire.rpc.transport import Transport
    from kinwire.transports.child import ChildProcess
    from kinwire.transports.url_options import UrlOptions
    from kinwire_protocols import mcp

_TIMEOUT = 60.0  # seconds
_FRAME_SIZE = 4 * 1024 * 1024  # bytes, as `Limits.frame_size`
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCHEMES = ("http", "https", "ws", "wss")
_SAYS_LITE = re.compile(r"grpcs?://.*|https?://.*/mcp-lite/v1/?(?:\?.*)?", re.IGNORECASE)
_LITE_HINT = "kinwire list and kinwire call take it, and kinwire serve lite URL serves it over MCP."
_NAMED = 5  # files that a hint names


class Target(NamedTuple):
    """A server as a command line names it."""

    transport: Transport
    child: ChildProcess | None
    """The same, if this command starts it; None if it is reached by its URL."""
    file: str | None = None
    """What `kinwire serve` was given to start it; None if it is a command or a URL."""
    timeout: float = _TIMEOUT
    frame_size: int = _FRAME_SIZE
    """The longest message that is read, in bytes."""

    @property
    def limits(self) -> Limits:
        """Return the limits of a session with it."""
        from kinwire.rpc.limits import Limits

        return Limits(request_timeout=self.timeout, frame_size=self.frame_size)


def add_target(
    parser: ArgumentParser, timeout: float = _TIMEOUT, *, frame_size: int = _FRAME_SIZE
) -> None:
    """Add the arguments of a subcommand that talks to a server."""
    text = f"how long to wait for each answer or progress report (default: {timeout:g})"
    parser.add_argument(
        "--timeout", type=seconds_from, default=timeout, metavar="SECONDS", help=text
    )
    text = f"the longest message that is read (default: {frame_size}); K, M and G are multiples"
    parser.add_argument(
        "--frame-size", type=bytes_from, default=frame_size, metavar="BYTES", help=text
    )
    text = "sent to a URL: 'Name: value', 'Name: ${VARIABLE}', or @FILE with a line for each"
    parser.add_argument("--header", action="append", default=[], metavar="HEADER", help=text)
    text = "the URL of a proxy (default: as HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say)"
    parser.add_argument("--proxy", metavar="URL", help=text)
    text = "let plain text go to the URL of another machine"
    parser.add_argument("--insecure", action="store_true", help=text)
    parser.set_defaults(command=None)


def is_file(word: str) -> bool:
    """Return whether `word` names a Python file, or an object in one as FILE.py:NAME."""
    return file_and_name(word)[0].endswith(".py")


def is_url(word: str) -> bool:
    """Return whether `word` is a URL; one of a scheme that no server has is refused later."""
    return _URL.match(word) is not None


def says_lite(url: str) -> bool:
    """Return whether a URL alone says that it is of MCP-lite."""
    return _SAYS_LITE.fullmatch(url) is not None


def is_server(word: str) -> bool:
    """Return whether `word` names a server by itself: by its file or its URL."""
    return is_url(word) or is_file(word)


def file_and_name(word: str) -> tuple[str, str]:
    """Return FILE.py and NAME of FILE.py:NAME; no name is an empty one."""
    file, colon, name = word.rpartition(".py:")
    return (f"{file}.py", name) if colon else (word, "")


def target_from(
    named: str | None,
    arguments: Namespace,
    stderr: Callable[[str], object] | None = None,
) -> Target:
    """Return the server that the command line names: by a word, or by its command.

    Lines that it writes to stderr go to `stderr`, without one to this command's own.

    Raises:
        UsageError: it names no server or two, a file that does not exist, or an invalid URL.
    """
    command: list[str] | None = arguments.command
    limits: tuple[float, int] = arguments.timeout, arguments.frame_size
    if named is not None and command is not None:
        raise UsageError(
            "Two servers are named.", "Leave out the file, the URL or the command after --."
        )
    if named is not None and is_url(named):
        return Target(_behind(named, arguments), None, None, *limits)
    if arguments.header or arguments.insecure or arguments.proxy is not None:
        raise UsageError("--header, --proxy and --insecure are for a URL.", "Leave them out.")
    if command is None:
        if named is None:
            raise UsageError(
                "No server is named.", "Name a FILE.py or a URL, or end with: -- command ..."
            )
        path = file_and_name(named)[0]
        if not is_file(path) or not Path(path).is_file():
            raise UsageError(f"There is no Python file {path!r}.", _near(path))
        # -P: do not import from the working folder, as with `python FILE.py`.
        command = [sys.executable, "-P", "-m", "kinwire", "serve", named]
    child = started_by(command, stderr)
    return Target(child, child, named, *limits)


def started_by(
    command: Sequence[str], stderr: Callable[[str], object] | None = None
) -> ChildProcess:
    """Return what carries frames to a command, with `stderr` as for `target_from`."""
    from kinwire.transports.child import stdio

    # Typed into a shell, so it runs with what the shell gives its programs.
    return stdio(*command, env=os.environ, stderr=stderr or _pass_on)


def _behind(url: str, arguments: Namespace) -> Transport:
    from kinwire.mcp.urls import transport_to
    from kinwire_cli.headers import headers_from

    scheme = url.partition(":")[0]
    said = getattr(arguments, "protocol", None)  # of the subcommands that take both
    if says_lite(url) and (said is None or scheme.lower() not in _SCHEMES):
        raise UsageError("This is the URL of a server of MCP-lite.", _LITE_HINT)
    if scheme.lower() not in _SCHEMES:
        hint = "A server's URL begins with http, https, ws or wss."
        raise UsageError(f"No server is reached by {scheme}.", did_you_mean(scheme, _SCHEMES, hint))
    options: UrlOptions = {
        "headers": headers_from(arguments.header),
        "proxy": arguments.proxy,
        "insecure": arguments.insecure,
    }
    try:
        return transport_to(url, options)
    except ValueError as error:
        raise UsageError(str(error)) from None


@asynccontextmanager
async def reach(target: Target, extensions: Sequence[Extension] = ()) -> AsyncGenerator[Connection]:
    """Yield a connection to `target`, of a host that also speaks `extensions`.

    Raises:
        UsageError: the file holds nothing that can be served.
        KinwireError, RpcError: as for `Host.connect`.
    """
    from kinwire.mcp.host import Host

    async with Host(
        "kinwire-cli", __version__, limits=target.limits, extensions=extensions
    ) as host:
        yield await _connected(host, target)


async def _connected(host: Host, target: Target) -> Connection:
    from kinwire.rpc.errors import ConnectionClosedError, RequestTimeoutError
    from kinwire_cli.running import patience_with

    try:
        async with patience_with("initialize"):
            return await host.connect(
                target.transport, on_log=_show_log, handshake_timeout=target.timeout
            )
    except (ConnectionClosedError, RequestTimeoutError) as error:
        failure = handshake_error(target, error)
    raise failure


def _show_log(message: mcp.LoggingMessageNotificationParams) -> None:
    data: object = message.data
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    source = f" {message.logger}" if message.logger else ""
    print(one_line(f"{message.level}{source}: {text}"), file=sys.stderr)


def handshake_error(target: Target, error: Exception) -> Exception:
    """Return what to raise for `error`, which ended the handshake.

    That is the slip of the user that it stems from; where no answer came, the same with a question
    about this kind of server; else `error`.
    """
    from kinwire.rpc.errors import ConnectionClosedError, RequestTimeoutError

    if isinstance(error, RequestTimeoutError):
        text = f"{error.method}: no answer within {error.timeout:g} s."
        hint = f"{_why_silent(target)} --timeout SECONDS waits longer. {DOCTOR}"
        return UnreachableError(text, hint)
    code = error.exit_code if isinstance(error, ConnectionClosedError) else None
    if target.file is not None and code == USAGE:
        # `kinwire serve` has said on stderr, which is this command's, what is wrong.
        return UsageError(f"{target.file} cannot be served, for the reason above.")
    return error


def _why_silent(target: Target) -> str:
    if target.child is None:
        return "Is a server of MCP at that URL? Most listen at /mcp or /sse."
    if target.file is not None:
        return "Does the file wait for something, or load much, while it is imported?"
    return "Does the command speak MCP over its stdin and stdout?"


def _near(path: str) -> str:
    """Return which Python file next to `path` may be meant, or which there are."""
    known = sorted(str(file) for file in Path(path).parent.glob("*.py"))
    there = f"There are: {', '.join(known[:_NAMED])}{', ...' if len(known) > _NAMED else '.'}"
    otherwise = there if known else "Look at the path: no Python file is there."
    return did_you_mean(path, known, otherwise)


def _pass_on(line: str) -> None:
    print(printable(line), file=sys.stderr)
