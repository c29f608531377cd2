"""Servers of this machine that a test reaches by a URL: started, waited for, and made to end."""

from __future__ import annotations

__all__ = ("OURS", "Listening", "everything", "free_port", "listening", "ours", "python_server")

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.interop import peers

HERE = Path(__file__).parent
OURS = HERE / "servers" / "kinwire_server.py"

_PATIENCE = 30.0  # seconds until a server listens
_URL = re.compile(r"http://(?:127\.0\.0\.1|localhost):(\d+)")
_ENDING = 5.0  # seconds that a server may take to end


class Listening(NamedTuple):
    """A server that listens."""

    pid: int
    port: int
    log: Path
    """What it wrote."""

    def url(self, path: str, scheme: str = "http") -> str:
        """Return the URL of a path."""
        return f"{scheme}://127.0.0.1:{self.port}{path}"


@contextmanager
def listening(
    command: tuple[str, ...],
    folder: Path,
    *,
    port: int | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Listening]:
    """Yield a server that `command` starts; without a `port` it says on which one it listens."""
    log = folder / f"server-{time.time_ns()}.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env
        )
    try:
        yield Listening(process.pid, _port(process, log, port), log)
    finally:
        process.terminate()
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def _port(process: subprocess.Popen[bytes], log: Path, port: int | None) -> int:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        found = port or _said(log)
        if found and _answers(found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"it does not listen:\n{log.read_text(encoding='utf-8')[-4000:]}")


def _said(log: Path) -> int | None:
    found = _URL.search(log.read_text(encoding="utf-8", errors="replace"))
    return int(found[1]) if found else None


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def free_port() -> int:
    """Return a port that nobody listens on, for a server that cannot choose one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def ours(transport: str, file: Path = OURS) -> tuple[str, ...]:
    """Return the command that serves a file of ours over a network transport."""
    serve = (sys.executable, "-m", "kinwire", "serve", str(file))
    return (*serve, "--transport", transport, "--port", "0")


def python_server(name: str) -> tuple[str, ...]:
    """Return the command of the interop server on PyPI's `mcp` 1.x or 2.x, over HTTP."""
    python = {"mcp1": peers.mcp1_python, "mcp2": peers.mcp2_python}[name]()
    return (str(python), str(HERE / "servers" / f"{name}_server.py"), "http")


@contextmanager
def everything(transport: str, folder: Path) -> Iterator[Listening]:
    """Yield npm's server-everything over "streamableHttp" or "sse"."""
    port = free_port()
    command = (*peers.npm_server("everything"), transport)
    with listening(command, folder, port=port, env={"PORT": str(port)}) as server:
        yield server
