"""Carry stdin and stdout to a port, `piped.py PORT`: a child process that is not a server."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from threading import Thread


def carry(connection: socket.socket) -> None:
    """Carry what comes on stdin."""
    with suppress(OSError):  # that end may go first
        while chunk := os.read(0, 65536):
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)


def main() -> None:
    """Carry both ways until the other end of the port is closed, or stdin is."""
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    incoming = Thread(target=carry, args=(connection,), daemon=True)
    incoming.start()
    while chunk := connection.recv(65536):
        view = memoryview(chunk)
        while view:
            view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
