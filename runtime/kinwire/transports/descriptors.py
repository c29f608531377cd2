"""What transports share that read and write file descriptors."""

from __future__ import annotations

__all__ = ("DescriptorTransport",)

from kinwire.transports.reading import FrameSink
from kinwire.transports.writing import FrameWriter


class DescriptorTransport:
    """Passes on what a session asks for; `run` of a subclass sets the sink and the writer."""

    _sink: FrameSink | None = None
    _writer: FrameWriter | None = None

    def wake(self) -> None:
        """See `Transport.wake`."""
        if self._writer is not None:
            self._writer.wake()

    def resume(self) -> None:
        """See `Transport.resume`."""
        if self._sink is not None:
            self._sink.resume()
