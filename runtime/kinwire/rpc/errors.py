"""What can go wrong on a connection, as a tree.

RpcError                            the peer answered with an error (see `kinwire_protocols`)
KinwireError                        everything this runtime raises by itself
+-- ConnectionClosedError           the connection ended; nothing more will be answered
+-- RequestTimeoutError             no answer within the deadline; the peer was asked to stop
+-- RequestCancelledError           the peer took its request back; its answer would be dropped
+-- InvalidResponseError            the peer's answer is not a JSON-RPC response
|   +-- ShapeError                  the response is well-formed, its result does not fit the method
+-- UnsendableError                 JSON cannot hold the message; nothing was sent
+-- SessionStateError               the session is not open yet, or not any more
+-- CapabilityNotNegotiatedError    the peer did not agree to that method; nothing was sent
+-- ProtocolVersionError            the two sides share no version of the protocol
+-- DuplicateServerError            a connection to that server is open already
+-- InsecureAddressError            others could read what goes over that network; nothing was sent
+-- PaginationError                 the pages of a list would never end
+-- HandlerDefinitionError          a handler of this side is declared in a way that cannot work
+-- ToolDefinitionError             a tool of this side is declared in a way that cannot work
+-- StorageError                    a store did not do what it was asked (`kinwire.storage.errors`)
"""

from __future__ import annotations

__all__ = (
    "CapabilityNotNegotiatedError",
    "ConnectionClosedError",
    "DuplicateServerError",
    "HandlerDefinitionError",
    "InsecureAddressError",
    "InvalidResponseError",
    "KinwireError",
    "PaginationError",
    "ProtocolVersionError",
    "RequestCancelledError",
    "RequestTimeoutError",
    "RpcError",
    "SessionStateError",
    "ShapeError",
    "ToolDefinitionError",
    "UnsendableError",
)

from kinwire.support.errors import KinwireError
from kinwire_protocols.base import RpcError

_STDERR_SHOWN = 2000  # characters of the tail in a message; the attribute has all of it


class ConnectionClosedError(KinwireError):
    """The connection ended; no call on it will be answered any more.

    `reason` is one sentence. For a child process `exit_code` is its exit code (negative: the
    signal that ended it), None while unknown, and `stderr` the last 64 KiB that it wrote there.
    `status` is the HTTP status with which a server refused a WebSocket, such as 401; else None.
    """

    def __init__(
        self,
        reason: str,
        exit_code: int | None = None,
        stderr: str = "",
        *,
        status: int | None = None,
    ) -> None:
        super().__init__(reason, exit_code, stderr)
        self.reason = reason
        self.exit_code = exit_code
        self.stderr = stderr
        self.status = status

    def __str__(self) -> str:
        if not self.stderr.strip():
            return self.reason
        return f"{self.reason} Its last words on stderr:\n{self.stderr[-_STDERR_SHOWN:].rstrip()}"

    def again(self) -> ConnectionClosedError:
        """Return an equal error: each caller raises one of its own, with its own traceback."""
        return ConnectionClosedError(self.reason, self.exit_code, self.stderr, status=self.status)


class RequestTimeoutError(KinwireError, TimeoutError):
    """No answer came within the deadline. The peer was asked to stop; a late answer is dropped.

    `timeout` is in seconds, counted from the request or from its last progress report.
    """

    def __init__(self, method: str, timeout: float, hint: str | None = None) -> None:
        super().__init__(method, timeout, hint)
        self.method = method
        self.timeout = timeout
        self._hint = hint or "Pass a longer timeout, or on_progress if the peer reports progress."

    def __str__(self) -> str:
        return f"{self.method}: no answer within {self.timeout:g} s. {self._hint}"


class RequestCancelledError(KinwireError):
    """The peer took back the request that is being handled; nobody waits for its answer."""


class InvalidResponseError(KinwireError):
    """The peer's answer is not a JSON-RPC response: the call failed, the connection goes on.

    `status` is the HTTP status where that was the answer, such as 401; else None. `retry_after` is
    the number of seconds after which the peer may be asked again, if it says so; else None.
    """

    status: int | None = None
    retry_after: float | None = None


class ShapeError(InvalidResponseError):
    """A result does not fit the method's type.

    `where` is the method, `pointer` a JSON pointer into the result.
    """

    def __init__(self, where: str, pointer: str, expected: str, got: str) -> None:
        super().__init__(where, pointer, expected, got)
        self.where = where
        self.pointer = pointer
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.where}#{self.pointer}: expected {self.expected}, got {self.got}. "
            "The peer's result breaks the protocol; raw() returns it as it came."
        )


class UnsendableError(KinwireError, ValueError):
    """JSON cannot hold the message, so nothing was sent."""


class SessionStateError(KinwireError):
    """The session is used before it was opened, or opened a second time."""


class CapabilityNotNegotiatedError(KinwireError):
    """The handshake did not allow that method; nothing was sent.

    `gate` is the capability that the method needs, as side:path; None if the method's protocol
    itself is missing. `reason` is a clause that says who left it out.
    """

    def __init__(self, method: str, gate: str | None, reason: str) -> None:
        super().__init__(method, gate, reason)
        self.method = method
        self.gate = gate
        self.reason = reason

    @property
    def is_of_client(self) -> bool:
        """Whether it is the client that left it out."""
        gate = self.gate or ""
        return gate.startswith("client:") or self.reason.startswith("the client did not offer ")

    def __str__(self) -> str:
        needed = f"needs {self.gate}, but " if self.gate else ""
        return (
            f"{self.method}: {needed}{self.reason}. "
            "Look at the capabilities of both sides first; raw() sends it unchecked."
        )


class ProtocolVersionError(KinwireError):
    """The two sides share no version of the protocol."""


class DuplicateServerError(KinwireError):
    """A connection to that server is open already; it goes on, and this one is closed.

    An extension keeps state, approvals and limits by the identity of a server, so that two
    connections at a time would mix theirs. `server` is what the host calls the server.
    """

    def __init__(self, server: str, protocol: str) -> None:
        super().__init__(server, protocol)
        self.server = server
        self.protocol = protocol

    def __str__(self) -> str:
        return (
            f"{self.server}: a connection to this server is open already, and {self.protocol} "
            "keeps its data by server: by server_id, else by the command line or URL. Close the "
            'other connection first, or give each an id: `host.connect(..., server_id="...")`.'
        )


class InsecureAddressError(KinwireError):
    """Plain text over a network: refused, as others could read and change it.

    `doing` is what was tried, as "listen on" or "connect to", and `host` where.
    """

    def __init__(self, doing: str, host: str) -> None:
        super().__init__(doing, host)
        self.doing = doing
        self.host = host

    def __str__(self) -> str:
        return (
            f"Refused to {self.doing} {self.host!r} without TLS: only this machine may be reached "
            "that way. Use TLS, or pass insecure=True if a proxy has it or the network is yours."
        )


class PaginationError(KinwireError):
    """The pages of a list would never end: the server repeats a cursor, or makes too many."""


class HandlerDefinitionError(KinwireError):
    """A handler of this side is declared in a way that cannot work."""


class ToolDefinitionError(KinwireError):
    """A tool of this side is declared in a way that cannot work."""
