"""A network of the tests: names as a test says, and one server of this machine behind all of it."""

from __future__ import annotations

__all__ = ("PUBLIC", "TestNetwork", "page")

from collections.abc import Mapping, Sequence

import anyio
from anyio.abc import ByteStream

from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line

PUBLIC = "93.184.215.14"


class TestNetwork:
    """Answers each question for a name by the next of its answers, the last one again and again."""

    __test__ = False

    def __init__(self, port: int, names: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._port = port
        self._names = {name: list(answers) for name, answers in names.items()}
        self.resolved: list[str] = []
        self.connected: list[tuple[str, int, str | None]] = []
        self.dead: set[str] = set()
        self.silent: set[str] = set()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """See `Network.resolve`."""
        self.resolved.append(host)
        answers = self._names.get(host)
        if answers is None:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: str, port: int, tls_name: str | None) -> ByteStream:
        """See `Network.connect`."""
        self.connected.append((address, port, tls_name))
        if address in self.dead:
            raise OSError("nobody is there")
        if address in self.silent:
            await anyio.sleep_forever()
        return await anyio.connect_tcp("127.0.0.1", self._port)


def page(body: bytes = b"png", content_type: str = "image/png", status: int = 200) -> Handler:
    """Return a server that has one thing to give."""

    async def handle(asked: Asked, line: Line) -> None:
        await line.status(status, body, content_type=content_type)

    return handle
