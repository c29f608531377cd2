"""What all clients of a gRPC listener together may use."""

from __future__ import annotations

__all__ = ("GrpcLimits",)

from dataclasses import dataclass, fields

from kinwire.support.arguments import COUNT, SECONDS, SECONDS_OR_ZERO, ArgumentCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcLimits:
    """Bounds of one listener. Sizes are in bytes, times in seconds."""

    message_size: int = 4 * 1024 * 1024
    """The largest message, either way; a larger one ends the call with RESOURCE_EXHAUSTED."""

    in_flight: int = 1000
    """Calls at the same time; a further one ends with RESOURCE_EXHAUSTED."""

    keepalive: float = 60.0
    """After so long without data a client is pinged; without an answer its connection ends, and its
    calls with it. The library takes at least one second."""

    drain: float = 5.0
    """What calls under way get to finish once the server was asked to stop."""

    def __post_init__(self) -> None:
        """Check the types.

        Raises:
            TypeError, ValueError: a value is not of its type.
        """
        _LIMITS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_LIMITS = ArgumentCheck(
    "GrpcLimits",
    "GrpcLimits()",
    {},
    message_size=COUNT,
    in_flight=COUNT,
    keepalive=SECONDS,
    drain=SECONDS_OR_ZERO,
)
