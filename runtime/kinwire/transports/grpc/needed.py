"""Whether the libraries of the extra `grpc` are there, and an event loop on which they work."""

from __future__ import annotations

__all__ = ("need_asyncio", "need_grpc")

from importlib import import_module

from kinwire.support.background import running_loop
from kinwire.support.errors import KinwireError


def need_grpc() -> None:
    """Return if calls over gRPC can be made.

    Raises:
        ImportError: the extra `grpc` is not installed.
    """
    try:
        import_module("grpc.aio")
        import_module("google.protobuf.message")
        import_module("google.rpc.status_pb2")
    except ImportError as error:
        raise ModuleNotFoundError(
            "gRPC needs the libraries `grpcio` and `protobuf`. Install kinwire[grpc].",
            name=error.name,
        ) from None


def need_asyncio() -> None:
    """Return if asyncio runs.

    Raises:
        KinwireError: another event loop runs, such as trio's.
    """
    if running_loop() is None:
        raise KinwireError(
            "gRPC works on asyncio only, as its library `grpcio` does. HTTP works on trio too."
        )
