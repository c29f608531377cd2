"""Bytes that are wrong in every way: a server lives, and answers others."""

from __future__ import annotations

__all__ = ("bytes_over_http", "bytes_over_stdio")

import json
import logging
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Self

from kinwire import Server
from tests.runtime.programs import everywhere
from tests.runtime.transports.fake_clients import INITIALIZE, RawHttp, message
from tests.runtime.transports.fixtures_bounded import bounded, post

_PIECES = (
    *(b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b",", b"{", b"}", b"[", b'"', b"\\ud800", b"\xff"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"Content-Length: 99999999\r\n"),
    *(b"Connection: Upgrade\r\n", b"Upgrade: websocket\r\n", b"Upgrade: h2c\r\n"),
    *(b"Expect: 100-continue\r\n", b"Host: evil.example\r\n", b"Mcp-Session-Id: x\r\n"),
    *(b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"GET / HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n\r\n"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"1e999", b"NaN", b'"id":1,"id":2', b"[" * 300),
)
_PATIENCE = 20.0  # seconds for an answer
_LIVES = 50  # rounds between two looks at whether the server answers others


def bytes_over_http(
    chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    """Requests with pieces that are changed, doubled, left out or cut off."""
    server, errors = Server("s", "1"), Errors()
    with bounded(server) as port, errors:
        while goes_on():
            with RawHttp(port) as other:
                for _ in range(_LIVES):
                    _one_connection(chance, port, other.session, counted)
                (answer,) = other.send(message("ping", "other"))
                assert answer == {"jsonrpc": "2.0", "id": "other", "result": {}}, answer
                _must_end(server)
            assert not errors.seen, errors.seen[0]
    counted["ended well"] += 1


def _must_end(server: Server) -> None:
    """Wait until nothing is under way: nothing here takes long."""
    until = time.monotonic() + _PATIENCE
    while left := [one.label for session in [*server._sessions] for one in session.requests]:
        assert time.monotonic() < until, left
        time.sleep(0.001)


class Errors(logging.Handler):
    """Collects what is logged as an error: nothing that a peer sends is one of this side."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(self.format(record))

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        for name in ("uvicorn.error", "asyncio"):
            logging.getLogger(name).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for name in ("", "uvicorn.error", "asyncio"):
            logging.getLogger(name).removeHandler(self)


def _one_connection(chance: random.Random, port: int, session: str, counted: Counter[str]) -> None:
    frame = chance.choice([INITIALIZE, message("ping", 1), message("tools/list", "x")])
    named = f"Mcp-Session-Id: {session}"
    request = chance.choice(
        [
            post(frame, named),
            post(frame),
            post(b"%x\r\n%b\r\n0\r\n\r\n" % (len(frame), frame), "Transfer-Encoding: chunked"),
            post(frame, named, "Connection: Upgrade", "Upgrade: h2c"),
            b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            + chance.randbytes(chance.randrange(60)),
        ]
    )
    data = _changed(chance, request * chance.randrange(1, 4))
    with socket.create_connection(("127.0.0.1", port), 10) as connection, suppress(OSError):
        connection.settimeout(0.02)
        at = 0
        while at < len(data):
            size = chance.choice([1, 7, 100, len(data)])
            connection.sendall(data[at : at + size])
            at += size
        if chance.random() < 0.5:
            connection.shutdown(socket.SHUT_WR)
        while received := connection.recv(65_536):
            counted[f"HTTP {received[9:12].decode('latin-1')}"] += received.startswith(b"HTTP/1.1 ")
    counted["connections"] += 1


def _changed(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(5):
            case 0:
                changed[at:at] = chance.choice(_PIECES)
            case 1:
                del changed[at : at + chance.randrange(1, 20)]
            case 2:
                changed[at : at + 1] = chance.randbytes(1)
            case 3:
                changed[at:at] = changed[at : at + chance.randrange(1, 200)]
            case _:
                del changed[at:]
    return bytes(changed)


def bytes_over_stdio(
    chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    """Lines with pieces that are changed; a ping behind each is answered, once."""
    while goes_on():
        command = (sys.executable, str(Path(everywhere.__file__)))
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            try:
                _one_process(chance, process, goes_on, counted)
            finally:
                process.kill()


def _one_process(
    chance: random.Random,
    process: subprocess.Popen[bytes],
    goes_on: Callable[[], bool],
    counted: Counter[str],
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(500):
        if not goes_on():
            return
        frame = chance.choice(
            [INITIALIZE, message("ping", 1), message("tools/list", "x"), message("nothing", 1.0)]
        )
        changed = _changed(chance, frame).replace(b"\n", b" ")
        process.stdin.write(changed + b"\n" + message("ping", f"mark {number}") + b"\n")
        process.stdin.flush()
        while True:
            timer = Timer(_PATIENCE, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            assert line, (changed, "no answer")
            answer = json.loads(line)
            assert answer["jsonrpc"] == "2.0"
            if answer.get("id") == f"mark {number}":
                break
            counted["answers"] += 1
        counted["lines"] += 1
    process.stdin.close()
    assert process.wait(20) == 0
    counted["processes"] += 1
