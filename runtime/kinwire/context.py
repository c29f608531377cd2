"""What a tool or handler knows of the request that it serves."""

from __future__ import annotations

__all__ = ("Context",)

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinwire.jsonrpc import Id
    from kinwire.request import Request
    from kinwire.session import Session


class Context:
    """The request under way. A parameter annotated with this class gets it and is no argument."""

    __slots__ = ("_request",)

    def __init__(self, request: Request) -> None:
        self._request = request

    @property
    def meta(self) -> Any:
        """What came as `_meta`, None if nothing did."""
        return getattr(self._request.params, "meta", None)

    @property
    def session(self) -> Session:
        """The connection that the request came in on; calls on it go to the peer."""
        return self._request.session

    @property
    def request_id(self) -> Id | None:
        """The id of the request, None in a handler of a notification."""
        return self._request.id

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the peer how far the request has come, if it asked to be told.

        `progress` must rise from report to report; `total` is in the same unit, None if unknown.
        """
        await self._request.progress(progress, total, message)
