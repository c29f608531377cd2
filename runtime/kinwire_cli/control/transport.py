"""Lines of JSON over a socket that is connected."""

from __future__ import annotations

__all__ = ("SocketTransport",)

import socket
from functools import partial

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.descriptors import DescriptorTransport
from kinwire.transports.reading import FrameSink, read_all
from kinwire.transports.writing import FrameWriter

_PATIENCE = 1.0  # seconds for the other side to read the last answers
_ENDED = "The kernel has ended."


class SocketTransport(DescriptorTransport):
    """One end of a connection between a command and a kernel. It closes the socket."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        number = self._connection.fileno()
        self._sink = sink = FrameSink(callbacks)
        broken = partial(_end, callbacks)
        self._writer = writer = FrameWriter(
            number, callbacks, watchable=True, broken=broken, patience=_PATIENCE
        )
        async with anyio.create_task_group() as tasks:
            if callbacks.loop is None:
                tasks.start_soon(writer.run)
            writer.wake()  # for what was called before
            await read_all(number, sink, loop=callbacks.loop, watchable=True)
            sink.end()
            _end(callbacks)
            await anyio.sleep_forever()

    async def aclose(self) -> None:
        """Write what waits and close the socket."""
        if self._writer is not None:
            await self._writer.flush()
        self._connection.close()


def _end(callbacks: SessionCallbacks, _: OSError | None = None) -> None:
    callbacks.end(ConnectionClosedError(_ENDED))
