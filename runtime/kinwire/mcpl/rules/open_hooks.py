"""Which hooks a server has not answered, and which inference would wait for itself (MCPL 10.7).

A hook must not trigger inference that its own answer waits for. A host sees only what the request
names: one that names the conversation of an open hook is refused. A request for another
conversation, or for none, is work of the server in the background.
"""

from __future__ import annotations

__all__ = ("OpenHooks", "nested_inference")

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from kinwire_protocols.jsonrpc.errors import InvalidRequestError


def nested_inference(problem: str) -> InvalidRequestError:
    """Return the error for inference that a hook waits for; the request may be sent later."""
    return InvalidRequestError(f"inference/request: {problem}", data={"retryable": True})


class OpenHooks:
    """The hooks that one server has not answered, by conversation."""

    def __init__(self) -> None:
        self._open = Counter[str]()

    @contextmanager
    def waiting(self, conversation_id: str) -> Generator[None]:
        """Count a hook of a conversation as open while the block runs."""
        self._open[conversation_id] += 1
        try:
            yield
        finally:
            self._open[conversation_id] -= 1
            self._open += Counter()  # removes what is zero

    def refusal(self, conversation_id: str | None) -> InvalidRequestError | None:
        """Return why inference for a conversation is refused; None if it may run.

        `conversation_id` is None for a request that names no conversation.
        """
        if conversation_id is None or not self._open[conversation_id]:
            return None
        return nested_inference(
            "expected another conversation than that of a hook that is not answered. Answer the "
            "hook first, and send the request again."
        )
