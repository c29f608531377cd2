"""How much of everything HTTP clients may use, in addition to the `Limits` of each session."""

from __future__ import annotations

__all__ = ("HttpLimits",)

from dataclasses import dataclass, fields

from kinwire.support.arguments import COUNT, TIME, ArgumentCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Bounds of one listener. Sizes are in bytes, times in seconds.

    A body may be as large as a frame, `Limits.frame_size`, and a session may have as many requests
    in flight as `Limits.in_flight` says.
    """

    header_size: int = 16 * 1024
    """All headers of a request together."""

    body_time: float = 30.0
    """How long a body may take to arrive."""

    sessions: int = 10_000
    """Sessions in parallel. For a further one that of the client gives way that was never used, or
    the one that the client with the most of them has not used for longest, or else the further
    client is asked to come back later. Open streams, calls and WebSockets give way to nobody."""

    sessions_per_client: int | None = None
    """Sessions in parallel of one principal, without principals of one address; None: any number.
    Behind a proxy all clients have its address, unless the ASGI server reads what it forwards."""

    idle: float = 1800.0
    """How long a session lives without a request and without an open stream."""

    patience: float = 1.0
    """How long an answer may take before its response begins as a stream, which shows that the
    server is alive and can be resumed after a break."""

    keep_alive: float = 15.0
    """How long a stream may be silent before a comment goes out on it."""

    events: int = 1000
    """Events of a session that are kept for resuming its streams."""

    event_bytes: int = 1024 * 1024
    """The same in bytes; the last event is kept however large it is."""

    all_event_bytes: int = 64 * 1024 * 1024
    """Those of all sessions together. Beyond, the sessions that were used longest ago keep none."""

    event_age: float = 300.0
    """How long an event is kept."""

    retry: float = 1.0
    """How long a client is asked to wait before it comes back to a stream that broke."""

    def __post_init__(self) -> None:
        _LIMITS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_LIMITS = ArgumentCheck(
    "HttpLimits",
    "HttpLimits()",
    {},
    header_size=COUNT,
    body_time=TIME,
    sessions=COUNT,
    sessions_per_client=COUNT.or_none,
    idle=TIME,
    patience=TIME,
    keep_alive=TIME,
    events=COUNT,
    event_bytes=COUNT,
    all_event_bytes=COUNT,
    event_age=TIME,
    retry=TIME,
)
