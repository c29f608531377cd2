"""A program that copies its standard input to a socket, and that socket to its standard output.

A host of ours starts it as a server: a real process, whose other end a raw server holds.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def main(port: int) -> None:
    connection = socket.create_connection(("127.0.0.1", port))

    def write() -> None:
        while chunk := connection.recv(65536):
            os.write(1, chunk)
        os._exit(0)  # the raw server has hung up

    threading.Thread(target=write, daemon=True).start()
    while chunk := os.read(0, 65536):
        connection.sendall(chunk)


if __name__ == "__main__":
    main(int(sys.argv[1]))
